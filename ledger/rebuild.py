"""Read tables built again from the log beside the live ones, compared, and swapped in.

The comparing needs no lock: one snapshot holds the live tables, the cursors and the log. Swapping
takes the write lock, hands the shadows what has come since, and replaces the live rows in one
transaction.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from django.db import connection

from access.models import Project
from kit import bulk
from kit.db import is_postgresql, read_snapshot, write_transaction
from ledger import derive, judged_again, statements
from ledger.dump import DumpedRow, iter_rows
from ledger.registry import Projector, registry
from ledger.shadow import live_name, shadow_name, shadows

SHOWN = 5


@dataclass(frozen=True, slots=True)
class Difference:
    """A row that the rebuild made otherwise; None where one side has no such row."""

    table: str
    live: str | None
    rebuilt: str | None


@dataclass(slots=True)
class Report:
    """What a rebuild found: rows compared, how many differ, and the first of those."""

    rows: int = 0
    differing: int = 0
    first: list[Difference] = field(default_factory=list)

    def note(self, difference: Difference) -> None:
        """Count a difference and keep it if it is among the first."""
        self.differing += 1
        if len(self.first) < SHOWN:
            self.first.append(difference)


def projectors_of(app: str | None) -> list[Projector]:
    """Give the projectors of an app, or all; raises LookupError for an app that has none."""
    found = [
        one for one in registry.projectors if app in (None, type(one).__module__.split(".")[0])
    ]
    if not found:
        raise LookupError(f"The app {app!r} has no projectors.")
    return found


def rebuild(
    projectors: Sequence[Projector], *, apply: bool = False, batch: int = derive.BATCH
) -> Report:
    """Build the projectors' tables again and compare; `apply` puts the rebuilt ones in place."""
    tables = [table for projector in projectors for table in projector.tables]
    with shadows(tables):
        with read_snapshot():
            places = _places(projectors)
            _advance(projectors, {}, places, batch)
            report = _compare(tables)
        if apply:
            _swap(projectors, tables, places, batch)
    return report


def rebuild_outdated(project_id: int) -> int:
    """Rebuild the projectors whose rows in this project are of other rules; gives how many.

    Their tables hold all projects, so all projects are rebuilt; what was judged otherwise is
    written into each log.
    """
    fresh = {one.name for one in derive.current(project_id)}
    outdated = [one for one in registry.projectors if one.name not in fresh]
    if outdated:
        _catch_up()
        rebuild(outdated, apply=True)
    return len(outdated)


def _catch_up() -> None:
    """Let the projectors of these rules come to the end first: the others may read their rows.

    A projector that a release brings begins at the first leaf.
    """
    for project_id in Project.objects.order_by("pk").values_list("pk", flat=True):
        while derive.derive(project_id):
            pass


Places = dict[tuple[str, int], int]


def _places(projectors: Sequence[Projector]) -> Places:
    """Give where each projector is in each project's log."""
    rows = bulk.select_rows("SELECT projector, project_id, next_leaf FROM projector_cursor", [])
    names = {projector.name for projector in projectors}
    return {(name, project): leaf for name, project, leaf in rows if name in names}


def _advance(projectors: Sequence[Projector], start: Places, end: Places, batch: int) -> None:
    """Hand the shadows the leaves from `start` to `end`."""
    for projector in projectors:
        for project_id in Project.objects.order_by("pk").values_list("pk", flat=True):
            name = (projector.name, project_id)
            first, last = start.get(name, 0), end.get(name, 0)
            while first < last:
                items = statements.load_range(project_id, first, min(first + batch, last))
                projector.plan(project_id, items)()
                first = items[-1].leaf + 1


def _compare(tables: Sequence[str]) -> Report:
    report = Report()
    for table in tables:
        for live, rebuilt in _pairs(table):
            report.rows += 1
            if live != rebuilt:
                report.note(Difference(table, _text(live), _text(rebuilt)))
    return report


def _pairs(table: str) -> Iterator[tuple[DumpedRow | None, DumpedRow | None]]:
    """Walk both dumps side by side by their keys: a row that one lacks parts no other pair."""
    lives, rebuilts = iter_rows(table, live_name(table)), iter_rows(table, shadow_name(table))
    live, rebuilt = next(lives, None), next(rebuilts, None)
    while live is not None or rebuilt is not None:
        if rebuilt is None or (live is not None and live.key < rebuilt.key):
            yield live, None
            live = next(lives, None)
        elif live is None or rebuilt.key < live.key:
            yield None, rebuilt
            rebuilt = next(rebuilts, None)
        else:
            yield live, rebuilt
            live, rebuilt = next(lives, None), next(rebuilts, None)


def _text(row: DumpedRow | None) -> str | None:
    return None if row is None else row.text


def _swap(
    projectors: Sequence[Projector], tables: Sequence[str], places: Places, batch: int
) -> None:
    with write_transaction(), connection.cursor() as cursor:
        if is_postgresql():
            cursor.execute("SELECT 1 FROM projector_cursor FOR UPDATE")
        _advance(projectors, places, _places(projectors), batch)
        changes = judged_again.find_changes() if "entry" in tables else {}
        for table in tables:
            cursor.execute(f"DELETE FROM {live_name(table)}")  # noqa: S608
            columns = _columns(table)
            cursor.execute(
                f"INSERT INTO {live_name(table)} ({columns}) "  # noqa: S608
                f"SELECT {columns} FROM {shadow_name(table)}"
            )
        before = _rules_before(projectors)
        for projector in projectors:
            cursor.execute(
                "UPDATE projector_cursor SET rules_version = %s WHERE projector = %s",
                [projector.rules_version, projector.name],
            )
        # In the same transaction: a crash after the swap would lose what was judged otherwise.
        for project_id, changed in changes.items():
            judged_again.record(project_id, changed, before[project_id], _rules(projectors))


def _rules(projectors: Sequence[Projector]) -> dict[str, str]:
    return {one.name: str(one.rules_version) for one in projectors}


def _rules_before(projectors: Sequence[Projector]) -> dict[int, dict[str, str]]:
    """Give for each project the versions of the rules that its rows were made by."""
    names = {projector.name for projector in projectors}
    rows = bulk.select_rows("SELECT project_id, projector, rules_version FROM projector_cursor", [])
    found: dict[int, dict[str, str]] = defaultdict(dict)
    for project_id, name, version in rows:
        if name in names:
            found[project_id][name] = str(version)
    return found


def _columns(table: str) -> str:
    with connection.cursor() as cursor:
        description = connection.introspection.get_table_description(cursor, table)
    return ", ".join(f'"{column.name}"' for column in description)
