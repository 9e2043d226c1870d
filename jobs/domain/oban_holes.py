"""Holes in the ids of a table: ids that were drawn, and whose rows may still be on their way.

An id is drawn when a row is inserted, and seen when its transaction commits; so ids come late and
out of order. A reader that only looks above the last id would never see those.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

YOUNG = timedelta(minutes=15)
"""How long a hole is gone back over."""

LONG_AGO = timedelta(hours=1)
"""A row inserted so long ago vouches that the ids below it were drawn by then."""

MOST = 5_000


@dataclass(frozen=True, slots=True, order=True)
class Hole:
    """The ids from `first` to `last`, which had no row when they were looked for at `since`."""

    first: int
    last: int
    since: datetime


def find_gaps(
    above: int | None, rows: Iterable[tuple[int, datetime | None]], now: datetime
) -> list[Hole]:
    """Return the holes between ids in ascending order, each with when its row was inserted.

    Holes below a row that was inserted long ago are none: a row that still comes there is found
    as any other that was missed. Below the first row of all there may be one as well.
    """
    found = []
    above = 0 if above is None else above
    for number, inserted_at in rows:
        is_old = inserted_at is not None and now - inserted_at > LONG_AGO
        if number > above + 1 and not is_old:
            found.append(Hole(above + 1, number - 1, now))
        above = number
    return found


def keep_young(holes: Iterable[Hole], now: datetime) -> list[Hole]:
    """Return the holes that are still worth going back to; of too many, the newest."""
    return sorted(hole for hole in holes if now - hole.since < YOUNG)[-MOST:]


def fill(holes: Iterable[Hole], numbers: Iterable[int]) -> list[Hole]:
    """Return what is left of the holes once some ids have come."""
    left = list(holes)
    for number in numbers:
        left = [part for hole in left for part in _without(hole, number)]
    return left


def _without(hole: Hole, number: int) -> list[Hole]:
    if not hole.first <= number <= hole.last:
        return [hole]
    parts = [replace(hole, last=number - 1), replace(hole, first=number + 1)]
    return [part for part in parts if part.first <= part.last]
