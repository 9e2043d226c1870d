"""Spans in which sources were watched: from their first receipt on, and what imports brought."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kit import bulk
from ledger.domain import imports
from ledger.domain.names import column
from ledger.domain.statement import Statement
from ledger.registry import Write
from ledger.statements import Item

Source = tuple[str, str]
Row = tuple[object, ...]
_COLUMNS = ("project_id", "leaf_index", "system", "instance", "first_at", "last_at")
_KNOWN = (
    "SELECT system, instance FROM watched_span "
    "WHERE project_id = %s AND last_at IS NULL AND system IN ({values})"
)


class WatchedProjector:
    """Opens a span at the first receipt of a source, and adds those of imports."""

    name = "watched"
    rules_version = 1
    tables: tuple[str, ...] = ("watched_span",)

    def plan(self, project_id: int, items: Sequence[Item]) -> Write:
        """Find the sources that are new in the batch."""
        known = _known(project_id, {_source(item.statement) for item in items})
        rows = list(_rows(project_id, items, known))

        def write() -> None:
            bulk.insert_rows("watched_span", _COLUMNS, rows)

        return write


def _rows(project_id: int, items: Sequence[Item], known: set[Source]) -> Iterator[Row]:
    for item in items:
        one = item.statement
        source = _source(one)
        if source not in known and imports.is_heard_live(one):
            known.add(source)
            yield project_id, item.leaf, *source, one.received_at, None
        elif (span := imports.imported_span(one)) is not None:
            yield project_id, item.leaf, *source, *span


def _source(statement: Statement) -> Source:
    return column(statement.system), column(statement.instance)


def _known(project_id: int, sources: set[Source]) -> set[Source]:
    rows = bulk.select_in(_KNOWN, [project_id], sorted({system for system, _ in sources}))
    return {(system, instance) for system, instance in rows}
