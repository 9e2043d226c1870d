"""What a lane can vouch for, put together from its ID spaces and its newest messages.

Messages without an epoch that come while an epoch is known count as of its space, as Pad's replicas
take them. Source: reference/events-and-loops.md sections 2 and 4 (resume rule), reference/pad.md
sections 3.1 to 3.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from events.domain import spaces
from events.domain.resume import EPOCH, RESET, Boundary, Lane


@dataclass(frozen=True, slots=True)
class SpaceFacts:
    """One ID space of a lane as of some leaf; times in microseconds."""

    ordinal: int
    epoch: str | None
    kind: str
    born_at: int
    last_at: int
    first: int | None
    greatest: int | None


@dataclass(frozen=True, slots=True)
class LaneFacts:
    """A lane as of some leaf: its spaces in the order of birth, and that of its newest message."""

    lane: str
    replica: str
    spaces: Sequence[SpaceFacts]
    space: int | None

    @property
    def current(self) -> SpaceFacts | None:
        """Give the ID space that the lane is in, the one with an epoch where both forms come.

        A stray id does not take the lane out of the space that it was in.
        """
        found = self._newest
        if found is not None and found.kind == spaces.STRAY:
            found = self._around(found)
        if found is None or found.epoch is not None:
            return found
        named = [one for one in self.spaces if one.epoch is not None]
        newest = max(named, key=lambda one: one.last_at, default=None)
        return found if newest is None or newest.last_at < found.born_at else newest

    @property
    def _newest(self) -> SpaceFacts | None:
        return next((one for one in self.spaces if one.ordinal == self.space), None)

    def _around(self, stray: SpaceFacts) -> SpaceFacts | None:
        """Give the newest space beside stray ids, of their own epoch where there is one."""
        sure = [one for one in self.spaces if one.kind != spaces.STRAY]
        alike = [one for one in sure if one.epoch == stray.epoch]
        return max(alike or sure, key=lambda one: (one.last_at, one.ordinal), default=None)

    @property
    def unsettled(self) -> int | None:
        """Give the ordinal of the stray ids that came last, of which nothing tells yet what they
        are; None once another message told.
        """
        newest = self._newest
        return newest.ordinal if newest is not None and newest.kind == spaces.STRAY else None

    @property
    def together(self) -> list[int]:
        """Give the ordinals of the spaces that count as the one that the lane is in.

        Stray ids are among them until it is known what they are.
        """
        current = self.current
        if current is None:
            return []
        bare = (
            one.ordinal
            for one in self.spaces
            if one.epoch is None and one.kind != spaces.STRAY and one.last_at >= current.born_at
        )
        found = {current.ordinal, *(bare if current.epoch is not None else ())}
        return sorted(found if self.unsettled is None else {*found, self.unsettled})

    def spaces_of(self, epoch: str | None) -> list[int]:
        """Give the ordinals of the spaces of an epoch; those that the lane is in without one."""
        current = self.current
        if epoch is None or (current is not None and epoch == current.epoch):
            return self.together
        return [one.ordinal for one in self.spaces if one.epoch == epoch]


def above_holes(lane: Lane, held: Sequence[int]) -> Lane:
    """Lift a lane's floor above the ids of a dense bus that did not come, up to its newest."""
    known = {lane.floor - 1, *(one for one in held if one >= lane.floor)}
    holes = (after for before, after in pairwise(sorted(known)) if after - before > 1)
    return replace(lane, floor=max(holes, default=lane.floor))


def boundaries_of(facts: LaneFacts) -> tuple[Boundary, ...]:
    """Give where each space ended that the lane is not in any more, in the order of birth."""
    current, together = facts.current, set(facts.together)
    left = [
        one
        for one in facts.spaces
        if one.ordinal not in together and one.kind != spaces.STRAY and one.greatest is not None
    ]
    if current is None or not left:
        return ()
    following = [*left[1:], current]
    return tuple(
        Boundary(one.greatest or 0, _kind(one, after), one.epoch, after.first)
        for one, after in zip(left, following, strict=True)
    )


def _kind(one: SpaceFacts, after: SpaceFacts) -> str:
    return EPOCH if one.epoch != after.epoch else RESET
