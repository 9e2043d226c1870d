"""In which ways the ledger learns of each task: announced by its source, and seen in receipts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from kit import bulk, ids
from ledger.domain import sights, tallies
from ledger.domain.names import column
from ledger.domain.statement import Statement
from ledger.registry import Write
from ledger.statements import Item

_COLUMNS = (
    "project_id", "name", "task", "system", "instance", "told", "told_leaf", "seen", "skips",
)  # fmt: skip
_SELECT = (
    f"SELECT {', '.join(_COLUMNS[2:])} FROM task_sight "  # noqa: S608
    "WHERE project_id = %s AND name IN ({values})"
)
_DELETE = "DELETE FROM task_sight WHERE project_id = %s AND name IN ({values})"
Task = tuple[str, str, str]


@dataclass(slots=True)
class Sight:
    """One task of a source, as (task, system, instance), and the ways in which it is seen."""

    task: Task
    told: tuple[str, ...] = ()
    told_leaf: int | None = None
    seen: set[str] = field(default_factory=set)
    skips: set[str] = field(default_factory=set)
    is_changed: bool = False

    def see(self, way: str, *, is_skip: bool) -> None:
        """Note a receipt that came in a way."""
        if way not in self.seen or (is_skip and way not in self.skips):
            self.seen.add(way)
            self.skips.update([way] if is_skip else [])
            self.is_changed = True

    def tell(self, ways: tuple[str, ...], leaf: int) -> None:
        """Note what the source announces; a process that says the same again adds nothing."""
        if self.told_leaf is None or ways != self.told:
            self.told, self.told_leaf, self.is_changed = ways, leaf, True


class SightsProjector:
    """Keeps one row for each task of a source."""

    name = "sights"
    rules_version = 1
    tables: tuple[str, ...] = ("task_sight",)

    def plan(self, project_id: int, items: Sequence[Item]) -> Write:
        """Note the ways that the batch shows or announces."""
        seen = {
            (_task(one, task), sights.way_of(one), one.kind == "skip")
            for one in (item.statement for item in items)
            if one.is_readable
            for task in _tasks(one)
        }
        told = [
            (_task(item.statement, task), ways, item.leaf)
            for item in items
            for task, ways in sights.announced(item.statement)
        ]
        if not seen and not told:
            return lambda: None
        known = _load(project_id, {task for task, *_ in (*seen, *told)})
        for task, way, is_skip in seen:
            known[task].see(way, is_skip=is_skip)
        for task, ways, leaf in told:
            known[task].tell(ways, leaf)
        changed = {_name(one.task): one for one in known.values() if one.is_changed}
        rows = [_row(project_id, name, one) for name, one in sorted(changed.items())]

        def write() -> None:
            bulk.delete_in(_DELETE, [project_id], sorted(changed))
            bulk.insert_rows("task_sight", _COLUMNS, rows)

        return write


def _tasks(one: Statement) -> Iterable[str]:
    """Give the tasks that a receipt tells something of."""
    if one.kind == "tally":
        return {each.task for each in tallies.sums_of(one)} - {""}
    return (one.task,) if one.task else ()


def _task(one: Statement, task: str) -> Task:
    return column(task), column(one.system), column(one.instance)


def _name(task: Task) -> str:
    return ids.public_id("t", *task)


def _load(project_id: int, tasks: set[Task]) -> dict[Task, Sight]:
    rows = bulk.select_in(_SELECT, [project_id], sorted(_name(task) for task in tasks))
    known = {task: Sight(task) for task in tasks}
    known.update((sight.task, sight) for sight in map(_sight, rows))
    return known


def _sight(row: Sequence[Any]) -> Sight:
    task, system, instance, told, told_leaf, seen, skips = row
    ways = tuple(json.loads(told)) if told_leaf is not None else ()
    return Sight(
        (task, system, instance), ways, told_leaf, set(json.loads(seen)), set(json.loads(skips))
    )


def _row(project_id: int, name: str, one: Sight) -> tuple[object, ...]:
    told = json.dumps(one.told) if one.told_leaf is not None else ""
    seen, skips = json.dumps(sorted(one.seen)), json.dumps(sorted(one.skips))
    return project_id, name, *one.task, told, one.told_leaf, seen, skips
