"""Skips against their originals, each time that a pointer comes to something else."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jobs.domain import contradictions
from jobs.domain.contradictions import SAME_CLOCK, Place
from jobs.projectors.checks.desk import Desk
from kit import bulk
from kit.db import indexed_by
from ledger.domain import words
from ledger.statements import Item

ABOUT = ("original_older", "same_scope", "same_generation", "original_succeeded")
COUNTED = "original_older"
"""Stands for all of them: the same skips are compared."""
_EVENTS = """
SELECT p.at_leaf, p.leaf_index, p.pointer_state, p.outcome, p.target, p.terminal, s.reason,
       s.pointer_text, s.scope, s.generation, s.happened_at, s.system, s.instance, s.task,
       t.scope, t.generation, t.happened_at,
       (SELECT b.pointer_state FROM pointer_event AS b WHERE b.project_id = p.project_id
        AND b.leaf_index = p.leaf_index AND b.at_leaf < p.at_leaf
        ORDER BY b.at_leaf DESC LIMIT 1)
FROM pointer_event AS p{index}
JOIN entry AS s ON s.project_id = p.project_id AND s.leaf_index = p.leaf_index
LEFT JOIN entry AS t ON t.project_id = p.project_id AND t.leaf_index = p.target
WHERE p.project_id = %s AND p.at_leaf >= %s AND p.at_leaf < %s AND s.kind = 'skip'
ORDER BY p.at_leaf, p.leaf_index
"""
_PLACES = (
    "SELECT leaf.leaf_index, delivery.feed_spool, delivery.feed_number "
    "FROM leaf JOIN delivery ON delivery.receipt = leaf.receipt "
    "WHERE leaf.project_id = %s AND leaf.leaf_index IN ({values}) ORDER BY delivery.id"
)


@dataclass(frozen=True, slots=True)
class _Event:
    """What a skip's pointer came to, with the columns of the skip and of its original."""

    at_leaf: int
    leaf: int
    state: str
    outcome: str
    target: int | None
    terminal: int | None
    reason: str
    pointer_text: str
    scope: str
    generation: str
    happened_at: datetime
    source: str
    task: str
    other_scope: str
    other_generation: str
    other_at: datetime | None
    before: str | None

    def is_compared(self, state: str) -> bool:
        """Tell whether the skip is held against an original when its pointer is in a state."""
        return bool(self.pointer_text) and state in words.FOUND

    @property
    def may_contradict(self) -> bool:
        """Tell by the columns alone whether the receipts are worth reading: they seldom are."""
        if self.reason in words.NEEDS_RULE or not self.is_compared(self.state):
            return False
        is_younger = self.other_at is not None and self.other_at - self.happened_at > SAME_CLOCK
        is_elsewhere = self.scope and self.other_scope and self._place != self._other_place
        has_failed = self.reason == "already_done" and self.outcome in ("failed", "cancelled")
        return self.target is not None and bool(is_younger or is_elsewhere or has_failed)

    @property
    def _place(self) -> tuple[str, str]:
        return self.scope, self.generation

    @property
    def _other_place(self) -> tuple[str, str]:
        return self.other_scope, self.other_generation


class Skips:
    """Compares each skip with its original as it is found, lost, or found elsewhere."""

    def __init__(self, desk: Desk) -> None:
        """Load what the pointers of the batch came to."""
        self._desk = desk
        self._events: dict[int, list[_Event]] = defaultdict(list)
        events = _events(desk)
        for one in events:
            self._events[one.at_leaf].append(one)
        desk.found.load(one.leaf for one in events if one.leaf != one.at_leaf)
        desk.watch.load((COUNTED, one.source, one.task) for one in events)
        near = [one for one in events if one.may_contradict]
        leaves = {leaf for one in near for leaf in (one.leaf, one.target) if leaf is not None}
        desk.load([*leaves, *(one.terminal for one in near if one.terminal is not None)])
        self._places = _places(desk.project_id, leaves)

    def take(self, item: Item) -> None:
        """Hold the skips whose pointer this receipt moved against what they point to now."""
        for one in self._events.get(item.leaf, ()):
            self._count(one)
            findings = self._find(one) if one.may_contradict else []
            since = item.statement.received_at
            self._desk.found.settle(one.leaf, ABOUT, findings, item.leaf, since)

    def _count(self, one: _Event) -> None:
        """Count a skip once, as compared or not, as its pointer stands."""
        if one.reason in words.NEEDS_RULE:
            return
        held = self._desk.watch.of(COUNTED, one.source, one.task)
        is_now = one.is_compared(one.state)
        if one.before is None:
            self._desk.watch.count(held, is_checked=is_now)
        elif is_now != one.is_compared(one.before):
            self._desk.watch.recount(held, is_checked=is_now)

    def _find(self, one: _Event) -> list[contradictions.Finding]:
        target = one.target if one.target is not None else one.leaf
        end = None if one.terminal is None else self._desk.get(one.terminal)
        places = self._places.get(one.leaf), self._places.get(target)
        skip, original = self._desk.get(one.leaf), self._desk.get(target)
        return contradictions.find_of_skip(skip, original, end, places)


def _events(desk: Desk) -> list[_Event]:
    statement = _EVENTS.format(index=indexed_by("pointer_event_by_arrival"))
    end = desk.items[-1].leaf + 1
    return [_event(row) for row in bulk.select_rows(statement, [desk.project_id, desk.first, end])]


def _event(row: Sequence[Any]) -> _Event:
    at_leaf, leaf, state, outcome, target, terminal, reason, named, scope, generation = row[:10]
    at, system, instance, task, other_scope, other_generation, other_at, before = row[10:]
    return _Event(
        at_leaf, leaf, state, outcome, target, terminal, reason, named, scope, generation,
        happened_at=bulk.as_time(at),
        source="/".join(part for part in (system, instance) if part),
        task=task,
        other_scope=other_scope or "",
        other_generation=other_generation or "",
        other_at=None if other_at is None else bulk.as_time(other_at),
        before=before,
    )  # fmt: skip


def _places(project_id: int, leaves: Iterable[int]) -> dict[int, Place]:
    """Give the numbers that receipts came under; only the first delivery of each counts.

    A later one may come from another stream, and would make another answer of the same log.
    """
    first: dict[int, Place | None] = {}
    for leaf, stream, number in bulk.select_in(_PLACES, [project_id], sorted(set(leaves))):
        place = None if number is None else Place(stream, number)
        first.setdefault(leaf, place)
    return {leaf: place for leaf, place in first.items() if place is not None}
