"""The skips whose pointers lead to one receipt, as of a leaf."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from kit import bulk, ids
from ledger.domain import words
from ledger.domain.sides import moment
from ledger.domain.statement import Statement
from ledger.projectors.book import names_of
from ledger.queries.as_of import AsOf

Document = dict[str, Any]
WAITS = 1_000
"""Pointers of a name that are looked at for those that lead to a receipt; a hot key has more."""
SHOWN = 20
_SKIPS = "SELECT e.leaf_index, e.receipt, e.reason, e.happened_at FROM entry e "
_LED = (
    "WHERE e.project_id = %s AND e.kind = 'skip' AND ({p}.target = %s OR {p}.terminal = %s) "
    "AND e.leaf_index IN ({{values}})"
)
_THEN_LED = (
    "JOIN pointer_event p ON p.project_id = e.project_id AND p.leaf_index = e.leaf_index "
    "AND p.at_leaf = (SELECT max(at_leaf) FROM pointer_event past WHERE "
    "past.project_id = e.project_id AND past.leaf_index = e.leaf_index AND past.at_leaf <= %s) "
)
_NOW = _SKIPS + _LED.format(p="e")
_THEN = _SKIPS + _THEN_LED + _LED.format(p="p")


def dependents_of(project_id: int, one: Statement, as_of: AsOf) -> Document:
    """Find the skips that rest on a receipt, newest first; of a hot name the newest alone."""
    asked = _asked(project_id, one, as_of)
    rows = _leading(project_id, one, {leaf for _, leaf in asked}, as_of) if asked else []
    is_cut = WAITS in Counter(place for place, _ in asked).values()
    return {
        "count": {"value": len(rows), "method": "capped" if is_cut else "exact"},
        "items": [_item(row) for row in rows[:SHOWN]],
    }


def _asked(project_id: int, one: Statement, as_of: AsOf) -> list[tuple[Any, ...]]:
    """Give the newest pointers that were looked up by a name of a receipt, by name."""
    names = [each for each in sorted(names_of(one)) if each[0] != "masked"]
    parts = [
        f"SELECT * FROM (SELECT {place} AS place, leaf_index FROM pointer_wait "  # noqa: S608
        "WHERE project_id = %s AND name_kind = %s AND name = %s AND leaf_index <= %s "
        f"ORDER BY leaf_index DESC LIMIT {WAITS}) AS part{place}"
        for place in range(len(names))
    ]
    given = [value for name in names for value in (project_id, *name, as_of.leaf)]
    return bulk.select_rows(" UNION ALL ".join(parts), given) if parts else []


def _leading(
    project_id: int, one: Statement, leaves: set[int], as_of: AsOf
) -> list[tuple[Any, ...]]:
    """Keep the skips whose pointer had come to this receipt by then."""
    ends = [one.leaf, one.leaf]
    if as_of.is_now:
        rows = bulk.select_in(_NOW, [project_id, *ends], leaves)
    else:
        rows = bulk.select_in(_THEN, [as_of.leaf, project_id, *ends], leaves)
    return sorted(rows, reverse=True)


def _item(row: Sequence[Any]) -> Document:
    leaf, receipt, reason, at = row
    return {
        "ref": ids.ref_of(bulk.as_uuid(receipt)),
        "leaf_index": str(leaf),
        "reason": reason or None,
        "reason_words": words.reason_words(reason),
        "at": moment(bulk.as_time(at)),
    }
