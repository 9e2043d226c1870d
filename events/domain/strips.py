"""The strip of one lane: for each moment what it vouched for, or why it could not.

A strip never says more than was seen: what we did not watch, and what came after the last message,
has a word of its own. Source: reference/events-and-loops.md section 5.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from events.domain.axis import Axis
from events.domain.records import SECOND

COVERED, COLD, SILENT, UNWATCHED, GAP = "covered", "cold", "silent", "unwatched", "gap"
QUIET = 90 * SECOND
"""What comes this long after the last message is silence: three frames of 30 s would have come."""

SHORTEST = SECOND // 1_000
"""A shorter stretch of which nothing is known is not drawn."""


class Life(NamedTuple):
    """One ID space of a lane, as long as new messages came in it."""

    born_at: int
    last_at: int
    floor: int | None
    high_water: int | None


class Bar(NamedTuple):
    """A stretch of a strip; floor and high-water mark where it was covered."""

    begin: int
    end: int
    state: str
    floor: int | None = None
    high_water: int | None = None


def bars_of(
    axis: Axis,
    lives: Sequence[Life],
    unwatched: Iterable[tuple[int, int]],
    silent: Iterable[tuple[int, int]],
    gaps: Iterable[int],
    now: int,
) -> list[Bar]:
    """Give the bars of a lane inside a range, in order of time; gaps are notches without length."""
    blank = sorted(
        [Bar(begin, end, UNWATCHED) for begin, end in unwatched]
        + [Bar(begin, end, SILENT) for begin, end in [*silent, *_after(lives, now)]]
    )
    told = [*_cold(axis, lives), *_covered(lives)]
    shown = [*blank, *(part for bar in told for part in _without(bar, blank))]
    shown += [Bar(at, at, GAP) for at in gaps]
    return sorted(_clipped(axis, shown), key=lambda bar: bar[:3])


def _cold(axis: Axis, lives: Sequence[Life]) -> Iterator[Bar]:
    born = min((life.born_at for life in lives), default=axis.end)
    if born > axis.begin:
        yield Bar(axis.begin, born, COLD)


def _covered(lives: Sequence[Life]) -> Iterator[Bar]:
    """Give each space until the next one was born; the last until its last message."""
    ordered = sorted(lives, key=lambda life: (life.born_at, life.last_at))
    for life, following in pairwise([*ordered, None]):
        if life is not None:
            end = life.last_at if following is None else following.born_at
            yield Bar(life.born_at, end, COVERED, life.floor, life.high_water)


def _after(lives: Sequence[Life], now: int) -> Iterator[tuple[int, int]]:
    last = max((life.last_at for life in lives), default=None)
    if last is not None and now - last > QUIET:
        yield last, now


def _without(bar: Bar, blank: Sequence[Bar]) -> Iterator[Bar]:
    """Give what is left of a bar beside the stretches about which nothing is known."""
    begin = bar.begin
    for one in blank:
        if one.end <= begin or one.begin >= bar.end:
            continue
        if one.begin > begin:
            yield bar._replace(begin=begin, end=one.begin)
        begin = one.end
    if begin < bar.end or bar.begin == bar.end == begin:
        yield bar._replace(begin=begin)


def _clipped(axis: Axis, bars: Iterable[Bar]) -> Iterator[Bar]:
    for bar in bars:
        if axis.meets(bar.begin, bar.end):
            cut = bar._replace(begin=axis.clip(bar.begin), end=axis.clip(bar.end))
            if cut.state in (GAP, COVERED) or cut.end - cut.begin >= SHORTEST:
                yield cut
