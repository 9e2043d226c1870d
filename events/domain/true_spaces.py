"""The ID space that each message of a lane truly belongs to, for the simulator.

Bands of a timeline go by what the wire called by one epoch, so that messages without an epoch have
a band of their own. Which space these count to is told here as Pad's replicas take them: that of
the epoch in force, unless the numbers prove a reset. Source: reference/pad.md 3.3, step 5.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from events.domain.lane_facts import SpaceFacts
from events.domain.records import Record
from events.domain.spaces import RESET, STRAY
from events.domain.true_lanes import NOWHERE, Seen


class TrueSpaces:
    """The bands of one lane, put together into its ID spaces; a space has its band's ordinal."""

    def __init__(self, bands: Sequence[SpaceFacts]) -> None:
        self._bands = {one.ordinal: one for one in bands}
        self._named = [one for one in bands if one.epoch is not None and one.kind != STRAY]

    def space_of(self, ordinal: int, at: int) -> int:
        """Give the space of a message by its band and its time in microseconds, or NOWHERE."""
        band = self._bands.get(ordinal)
        if band is None:
            return NOWHERE
        if band.kind == STRAY:
            return self._around(at)
        if band.epoch is not None:
            return ordinal
        in_force = self._in_force(at)
        if in_force is None:
            return self._own_or_next(band)
        is_own = band.kind == RESET and band.born_at >= in_force.born_at
        return ordinal if is_own else in_force.ordinal

    def is_stray(self, ordinal: int) -> bool:
        """Tell whether nothing told where the messages of a band belong."""
        band = self._bands.get(ordinal)
        return band is not None and band.kind == STRAY

    def _in_force(self, at: int) -> SpaceFacts | None:
        born = [one for one in self._named if one.born_at <= at]
        return max(born, key=lambda one: one.ordinal, default=None)

    def _own_or_next(self, band: SpaceFacts) -> int:
        """Give the space of bare messages before any epoch: its first one, if both went on."""
        first = min(self._named, key=lambda one: one.ordinal, default=None)
        is_one_counter = first is not None and band.last_at >= first.born_at
        return first.ordinal if first is not None and is_one_counter else band.ordinal

    def _around(self, at: int) -> int:
        """Give the space that the lane was in when a stray id came."""
        in_force = self._in_force(at)
        if in_force is not None:
            return in_force.ordinal
        born = [one for one in self._bands.values() if one.kind != STRAY and one.born_at <= at]
        newest = max(born, key=lambda one: one.ordinal, default=None)
        return NOWHERE if newest is None else self._own_or_next(newest)

    def aligned(self, other: Sequence[SpaceFacts]) -> dict[int, int]:
        """Give our space for each space of another lane of the bus.

        Spaces with an epoch are the same by their epoch, the newest of ours if several had it;
        those without by their place among such. An epoch that we never saw gets a number above
        all of ours, in the order of the other lane, since it was born behind our backs.
        """
        ours = {one.epoch: one.ordinal for one in self._named}
        bare = [one.ordinal for one in self._bands.values() if _is_bare(one)]
        theirs = [one.ordinal for one in other if _is_bare(one)]
        found = dict(zip(theirs, bare, strict=False))
        above = max(self._bands, default=-1) + 1
        for one in other:
            if one.epoch is not None and one.kind != STRAY:
                found[one.ordinal] = ours.get(one.epoch, above + one.ordinal)
        return found


def seen_of(
    messages: Iterable[tuple[Record, int]],
    spaces: TrueSpaces,
    aligned: dict[int, int] | None = None,
) -> list[Seen]:
    """Give each record its true space, by the ordinal of its band in its own lane.

    For another lane, `spaces` are that lane's own and `aligned` what ours made of them.
    """
    found = []
    for record, ordinal in messages:
        space = spaces.space_of(ordinal, record.at)
        ours = space if aligned is None else aligned.get(space, NOWHERE)
        found.append(Seen(record, ours, spaces.is_stray(ordinal)))
    return found


def _is_bare(one: SpaceFacts) -> bool:
    return one.epoch is None and one.kind != STRAY
