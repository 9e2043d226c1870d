"""What a lane can vouch for in a channel: the one rule by which pages and given answers are judged.

A buffer holds the newest messages, but it vouches for what follows the last thing that broke the
receiving: a time without a connection, a message that could not be read, a reset that the replica
told of, and every id that others received and this lane did not. Source:
reference/events-and-loops.md sections 2 and 4 (resume rule); reference/pad.md sections 3.1 to 3.4.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Protocol

from events.domain.lane_facts import LaneFacts, above_holes, boundaries_of
from events.domain.resume import Lane
from events.domain.spaces import STRAY
from events.domain.true_lanes import SETTLE

CLOCKS = 250_000
"""How far the clock of a replica may be from ours, in microseconds.

A message that we got so shortly before a reset may be the one that the replica dropped its buffers
for, and holds.
"""


class Came(Protocol):
    """A message that came: its place in its lane, its time in microseconds, its space, its id."""

    @property
    def ordinal(self) -> int: ...
    @property
    def at(self) -> int: ...
    @property
    def space(self) -> int: ...
    @property
    def id(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Bounds:
    """What bounds a buffer: messages, microseconds; on a dense bus a missing id is a loss."""

    capacity: int
    is_dense: bool = False
    max_age: int | None = None


@dataclass(frozen=True, slots=True)
class Broken:
    """What last broke the receiving of a lane, as far as anything did.

    `junk` is the ordinal of a message that could not be read, `watched_since` and `dropped_at` are
    times: when a hole of ours ended, and when the replica told that it dropped its buffers.
    `is_left_behind` tells that others are in an ID space that this lane never saw.
    """

    junk: int = -1
    watched_since: int | None = None
    dropped_at: int | None = None
    is_left_behind: bool = False

    def spares(self, one: Came) -> bool:
        """Tell whether a message came after all of it."""
        since = max(self.watched_since or 0, (self.dropped_at or 0) - CLOCKS)
        return one.ordinal > self.junk and one.at >= since


NOTHING_BROKE = Broken()


def vouched(
    facts: LaneFacts,
    newest: Sequence[Came],
    bounds: Bounds,
    broken: Broken = NOTHING_BROKE,
    *,
    at: int = 0,
    elsewhere: Collection[int] = (),
) -> Lane:
    """Give what a lane vouches for at a time, by its newest messages of a channel, newest first.

    `newest` has one more than the buffer holds where there are so many. `elsewhere` are ids that
    other lanes had of the channel in the same ID space, early enough to be here too.
    """
    whole = [one for one in newest if broken.spares(one)]
    current = facts.current
    cold = Lane(
        None if current is None else current.epoch,
        *(0, 0),
        cold=True,
        boundaries=boundaries_of(facts),
        unsettled=_unsettled(facts, whole),
    )
    sure = [one for one in whole if one.space != facts.unsettled]
    if current is None or broken.is_left_behind:
        return replace(cold, unsettled=None)
    if not sure:
        return cold
    cutoff = 0 if bounds.max_age is None else at - bounds.max_age
    held = [one for one in whole[: bounds.capacity] if one.at >= cutoff]
    ids = [one.id for one in whole]
    high_water = max(one.id for one in sure[: bounds.capacity])
    lane = replace(cold, cold=False, floor=_floor(sure, held), high_water=high_water)
    if bounds.is_dense:
        lane = above_holes(lane, ids)
    lost = max(set(elsewhere) - set(ids), default=-1)
    return replace(lane, floor=max(lane.floor, lost + 1))


def _unsettled(facts: LaneFacts, whole: Sequence[Came]) -> list[int] | None:
    """Give the ids that came last and of which nothing tells yet what they are, if there are."""
    if facts.unsettled is None:
        return None
    return [one.id for one in takewhile(lambda one: one.space == facts.unsettled, whole)]


def _floor(sure: Sequence[Came], held: Sequence[Came]) -> int:
    """Give the oldest id that is held, or one above the newest that fell out of the buffer."""
    place = {one.ordinal for one in held}
    gone = next((one for one in sure if one.ordinal not in place), None)
    return sure[-1].id if gone is None else gone.id + 1


def is_left_behind(facts: LaneFacts, others: Iterable[LaneFacts], at: int) -> bool:
    """Tell whether another lane went on to an epoch that this one never saw, some time ago."""
    current = facts.current
    known = {one.epoch for one in facts.spaces}
    return current is not None and any(
        one.epoch is not None
        and one.kind != STRAY
        and one.epoch not in known
        and current.born_at <= one.born_at <= at - SETTLE
        for other in others
        for one in other.spaces
    )
