"""Skips against their originals, each time that a pointer comes to something else."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from jobs.domain import contradictions
from jobs.domain.contradictions import Place
from jobs.projectors.checks import pointed
from jobs.projectors.checks.desk import Desk
from jobs.projectors.checks.pointed import Event
from kit import bulk
from ledger.statements import Item

ABOUT = ("original_older", "same_scope", "same_generation", "original_succeeded")
_PLACES = (
    "SELECT leaf.leaf_index, delivery.feed_spool, delivery.feed_number "
    "FROM leaf JOIN delivery ON delivery.receipt = leaf.receipt "
    "WHERE leaf.project_id = %s AND leaf.leaf_index IN ({values}) ORDER BY delivery.id"
)


class Skips:
    """Compares each skip with its original as it is found, lost, or found elsewhere."""

    def __init__(self, desk: Desk) -> None:
        """Load what the pointers of the batch came to."""
        self._desk = desk
        self._events: dict[int, list[Event]] = defaultdict(list)
        events = pointed.load_events(desk.project_id, desk.first, desk.items[-1].leaf + 1)
        for one in events:
            self._events[one.at_leaf].append(one)
        desk.found.load(one.skip.leaf for one in events if one.skip.leaf != one.at_leaf)
        desk.watch.load(
            (invariant, one.skip.source, one.skip.task)
            for one in events
            for invariant in pointed.applies_to(one.skip)
        )
        near = [one for one in events if one.may_contradict]
        leaves = {leaf for one in near for leaf in (one.skip.leaf, one.target) if leaf is not None}
        desk.load([*leaves, *(one.terminal for one in near if one.terminal is not None)])
        self._places = _places(desk.project_id, leaves)

    def take(self, item: Item) -> None:
        """Hold the skips whose pointer this receipt moved against what they point to now."""
        for one in self._events.get(item.leaf, ()):
            self._count(one)
            findings = self._find(one) if one.may_contradict else []
            since = item.statement.received_at
            self._desk.found.settle(one.skip.leaf, ABOUT, findings, item.leaf, since)

    def _count(self, one: Event) -> None:
        """Count a skip once for each invariant, as checked or not, as its pointer stands."""
        skip, watch = one.skip, self._desk.watch
        now = pointed.compared_in(skip, one.now)
        before = pointed.compared_in(skip, one.before)
        for invariant in pointed.applies_to(skip):
            held = watch.of(invariant, skip.source, skip.task)
            if one.before is None:
                watch.count(held, is_checked=invariant in now)
            elif (invariant in now) != (invariant in before):
                watch.recount(held, is_checked=invariant in now)

    def _find(self, one: Event) -> list[contradictions.Finding]:
        leaf = one.skip.leaf
        target = one.target if one.target is not None else leaf
        end = None if one.terminal is None else self._desk.get(one.terminal)
        places = self._places.get(leaf), self._places.get(target)
        skip, original = self._desk.get(leaf), self._desk.get(target)
        return contradictions.find_of_skip(skip, original, end, places)


def _places(project_id: int, leaves: Iterable[int]) -> dict[int, Place]:
    """Give the numbers that receipts came under; only the first delivery of each counts.

    A later one may come from another stream, and would make another answer of the same log.
    """
    first: dict[int, Place | None] = {}
    for leaf, stream, number in bulk.select_in(_PLACES, [project_id], sorted(set(leaves))):
        place = None if number is None else Place(stream, number)
        first.setdefault(leaf, place)
    return {leaf: place for leaf, place in first.items() if place is not None}
