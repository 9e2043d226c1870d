"""What the pointers of skips came to as a batch arrived, by the projector of receipts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jobs.domain.contradictions import NEWER, SAME_CLOCK
from kit import bulk
from kit.db import indexed_by
from ledger.domain import words

_EVENTS = """
SELECT p.at_leaf, p.leaf_index, s.reason, s.pointer_text, s.scope, s.generation, s.happened_at,
       s.system, s.instance, s.task,
       p.target, p.terminal, p.pointer_state, p.outcome,
       t.scope, t.generation, t.happened_at, t.kind,
       b.pointer_state, b.outcome, o.scope, o.generation
FROM pointer_event AS p{index}
JOIN entry AS s ON s.project_id = p.project_id AND s.leaf_index = p.leaf_index
LEFT JOIN entry AS t ON t.project_id = p.project_id AND t.leaf_index = p.target
LEFT JOIN pointer_event AS b ON b.project_id = p.project_id AND b.leaf_index = p.leaf_index
     AND b.at_leaf = (SELECT max(c.at_leaf) FROM pointer_event AS c
                      WHERE c.project_id = p.project_id AND c.leaf_index = p.leaf_index
                      AND c.at_leaf < p.at_leaf)
LEFT JOIN entry AS o ON o.project_id = b.project_id AND o.leaf_index = b.target
WHERE p.project_id = %s AND p.at_leaf >= %s AND p.at_leaf < %s AND s.kind = 'skip'
ORDER BY p.at_leaf, p.leaf_index
"""


@dataclass(frozen=True, slots=True)
class Skip:
    """The columns of a skip that decide what it is compared in."""

    leaf: int
    reason: str
    named: str
    scope: str
    generation: str
    happened_at: datetime
    source: str
    task: str


@dataclass(frozen=True, slots=True)
class Pointed:
    """What a pointer came to: its state, what became of the original, and where that belongs."""

    state: str
    outcome: str
    scope: str
    generation: str


@dataclass(frozen=True, slots=True)
class Event:
    """What a skip's pointer came to as a receipt arrived, and what it had been before."""

    at_leaf: int
    skip: Skip
    target: int | None
    terminal: int | None
    now: Pointed
    other_at: datetime | None
    is_row: bool
    before: Pointed | None

    @property
    def may_contradict(self) -> bool:
        """Tell by the columns alone whether the receipts are worth reading: they seldom are."""
        skip, now = self.skip, self.now
        if self.target is None or not _is_compared(skip, now):
            return False
        is_younger = self.other_at is not None and self.other_at - skip.happened_at > SAME_CLOCK
        # When a row's job was stored stands in its body, whatever time the row has itself.
        is_younger = is_younger or self.is_row
        places = (skip.scope, skip.generation), (now.scope, now.generation)
        is_elsewhere = bool(skip.scope and now.scope) and places[0] != places[1]
        has_failed = skip.reason == "already_done" and now.outcome in ("failed", "cancelled")
        return is_younger or is_elsewhere or has_failed


def applies_to(skip: Skip) -> list[str]:
    """Name the invariants that a skip is to be held against, if that can be done."""
    if skip.reason in words.NEEDS_RULE:
        return []
    is_newer = skip.reason in NEWER
    found = ["same_scope", *([] if is_newer else ["original_older", "same_generation"])]
    return [*found, *(["original_succeeded"] if skip.reason == "already_done" else [])]


def compared_in(skip: Skip, pointed: Pointed | None) -> frozenset[str]:
    """Name the invariants that a skip can be held against, by what its pointer came to."""
    if pointed is None or not _is_compared(skip, pointed):
        return frozenset()
    can_be = {"original_older"}
    if skip.scope and pointed.scope:
        can_be.add("same_scope")
        if skip.generation and pointed.generation:
            can_be.add("same_generation")
    if pointed.outcome in ("done", "failed", "cancelled"):
        can_be.add("original_succeeded")
    return frozenset(can_be).intersection(applies_to(skip))


def _is_compared(skip: Skip, pointed: Pointed) -> bool:
    is_ruled = skip.reason in words.NEEDS_RULE
    return bool(skip.named) and pointed.state in words.FOUND and not is_ruled


def load_events(project_id: int, first: int, end: int) -> list[Event]:
    """Load what the receipts from `first` up to and without `end` made of skips' pointers."""
    statement = _EVENTS.format(index=indexed_by("pointer_event_by_arrival"))
    return [_event(row) for row in bulk.select_rows(statement, [project_id, first, end])]


def _event(row: Sequence[Any]) -> Event:
    at_leaf, leaf, reason, named, scope, generation, at, system, instance, task = row[:10]
    target, terminal, state, outcome, other_scope, other_generation, other_at, kind = row[10:18]
    before, before_outcome, before_scope, before_generation = row[18:]
    source = "/".join(part for part in (system, instance) if part)
    return Event(
        at_leaf=at_leaf,
        skip=Skip(leaf, reason, named, scope, generation, bulk.as_time(at), source, task),
        target=target,
        terminal=terminal,
        now=Pointed(state, outcome, other_scope or "", other_generation or ""),
        other_at=None if other_at is None else bulk.as_time(other_at),
        is_row=kind == "observe",
        before=None
        if before is None
        else Pointed(before, before_outcome, before_scope or "", before_generation or ""),
    )
