"""Numbers of a scope and generation, where a producer counts its receipts: holes between them."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from jobs.domain.contradicted_work import find_hole
from jobs.domain.facts import unpacked
from jobs.projectors.checks.desk import Desk
from kit import bulk
from ledger.domain import plain
from ledger.domain.statement import Statement
from ledger.statements import Item

INVARIANT = "no_holes"
GRACE = timedelta(minutes=5)
"""How long after a number the ones before it may come."""
NUMBER = "number"
_PARTS = 150
_NOTE = "SELECT sort, name, number, leaf_index, at FROM contradiction_note WHERE project_id = %s "
_SIDES = (("<=", "DESC"), (">", "ASC"))


class Numbers:
    """Finds the holes that a number opens, closes or splits."""

    def __init__(self, desk: Desk) -> None:
        """Load the neighbours of the batch's numbers."""
        self._desk = desk
        told = [one for one in desk.readable() if one.scope]
        desk.watch.load((INVARIANT, one.source, one.task) for one in told)
        asked = {(line_of(one), seq) for one in told if (seq := seq_of(one)) is not None}
        desk.notes.know(_neighbours(desk.project_id, sorted(asked)))
        self._lines: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for line in {line for line, _ in asked}:
            notes = desk.notes.of(NUMBER, line)
            self._lines[line] = sorted((number, leaf) for _, _, number, leaf in notes)
        desk.found.load(leaf for places in self._lines.values() for _, leaf in places)

    def take(self, item: Item) -> None:
        """Take the next number; one that came before stands for itself."""
        one = item.statement
        if not one.is_readable or not one.scope:
            return
        seq = seq_of(one)
        held = self._desk.watch.of(INVARIANT, one.source, one.task)
        self._desk.watch.count(held, is_checked=seq is not None)
        if seq is None:
            return
        self._desk.watch.begin(held, one.leaf)
        self._insert(one, seq)

    def _insert(self, one: Statement, seq: int) -> None:
        line, mine = line_of(one), (seq, one.leaf)
        places = self._lines[line]
        at = bisect_left(places, (seq, -1))
        if at < len(places) and places[at][0] == seq:
            return
        before = places[at - 1] if at else None
        after = places[at] if at < len(places) else None
        since = one.received_at + GRACE
        if before is not None and after is not None:
            split = self._desk.found.standing(INVARIANT, after[1], before[1])
            since = split.since if split is not None else since
            self._desk.found.end((INVARIANT, after[1], before[1]), one.leaf)
        for left, right in ((before, mine), (mine, after)):
            if left is not None and right is not None:
                finding = find_hole(_label(one), left, right)
                if finding is not None:
                    self._desk.found.add(finding, one.leaf, since)
        insort(places, mine)
        self._desk.notes.add((NUMBER, line, seq, one.leaf), one.received_at)


def seq_of(one: Statement) -> int | None:
    """Return the number that a receipt has within its scope and generation."""
    return plain.integer_of(plain.object_of(one.body.get("invoke")).get("seq"))


def line_of(one: Statement) -> str:
    """Return 64 hex digits for what a producer counts: a scope and generation of its own."""
    scope = unpacked(one.scope, one.generation)
    return plain.digest_of(plain.json_text([one.system, one.instance, scope, one.generation]))


def _label(one: Statement) -> str:
    generation = f", generation {one.generation}" if one.generation else ""
    return f"scope {one.scope}{generation}"


def _neighbours(project_id: int, asked: Sequence[tuple[str, int]]) -> list[tuple[Any, ...]]:
    """Give the stored numbers nearest to some, on both sides."""
    rows: list[tuple[Any, ...]] = []
    for start in range(0, len(asked), _PARTS):
        parts: list[str] = []
        values: list[object] = []
        for line, seq in asked[start : start + _PARTS]:
            for sign, order in _SIDES:
                parts.append(
                    f"SELECT * FROM ({_NOTE}AND sort = '{NUMBER}' AND name = %s "  # noqa: S608
                    f"AND number {sign} %s ORDER BY number {order} LIMIT 1) AS part{len(parts)}"
                )
                values += [project_id, line, seq]
        rows += bulk.select_rows(" UNION ALL ".join(parts), values)
    return rows
