"""Cursors worth asking a lane with: those at the edges of what it can vouch for.

Source: reference/events-and-loops.md section 5.3.
"""

from __future__ import annotations

from dataclasses import dataclass

from events.domain.resume import Lane
from events.domain.whole_numbers import GREATEST


@dataclass(frozen=True, slots=True)
class Probe:
    """A cursor to ask with, bare or with an epoch, and where it lies."""

    label: str
    cursor: int
    epoch: str | None = None


def probes(lane: Lane) -> tuple[Probe, ...]:
    """Give the edge probes of a lane, each place once; a cold lane has no edges but 0 and 1.

    The high-water mark is asked for once more as a number of the epoch before, where there was one.
    """
    if lane.cold:
        return (Probe("0", 0), Probe("1", 1))
    edges = (
        Probe("0", 0),
        Probe("floor - 2", lane.floor - 2),
        Probe("floor - 1", lane.floor - 1),
        Probe("floor", lane.floor),
        Probe("high-water", lane.high_water),
        Probe("high-water + 1", lane.high_water + 1),
    )
    found = {one.cursor: one for one in reversed(edges) if 0 <= one.cursor <= GREATEST}
    in_order = tuple(one for one in edges if found.get(one.cursor) is one)
    return (*in_order, *_earlier(lane))


def _earlier(lane: Lane) -> tuple[Probe, ...]:
    epochs = [one.epoch for one in lane.boundaries if one.epoch not in (None, lane.epoch)]
    if not epochs:
        return ()
    return (Probe("same number, epoch before", lane.high_water, epochs[-1]),)
