"""Holes: ids that a lane on a dense bus went past without seeing them.

A hole is told as a finding that holds once it has been open for longer than the settle time; so
one that fills in time is none, and one that fills later stays and says so.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from operator import itemgetter
from typing import Any

from events.domain.changes import Packed, pack, unpack
from events.domain.findings import Finding
from events.domain.records import SECOND

SETTLE = 2 * SECOND
KEPT = 64
SHOWN, PIECES = 8, 64
UNKNOWN, BURNED, DELIVERY = "unknown", "burned", "delivery"
"""Whose fault: nothing tells; no replica saw the id, so it was never sent; others saw it."""


class Hole:
    """Missing ids as closed ranges, with the finding that tells of them if there is one.

    `is_excused` says that they fell into a time in which we did not watch. `passed` names the
    replicas that went past them without seeing them either.
    """

    __slots__ = ("at", "fault", "finding", "is_excused", "late", "parts", "passed")

    def __init__(self, first: int, last: int, at: int, is_excused: bool = False) -> None:
        self.parts: list[list[int]] = [[first, last]]
        self.at = at
        self.is_excused = is_excused
        self.fault = UNKNOWN
        self.passed: list[str] = []
        self.late = 0
        self.finding: Finding | None = None

    @property
    def first(self) -> int:
        """Give the first id that is still missing."""
        return self.parts[0][0]

    @property
    def last(self) -> int:
        """Give the last id that is still missing."""
        return self.parts[-1][1]

    @property
    def due_at(self) -> int:
        """Give the time from which it has been open for longer than the settle time."""
        return self.at + SETTLE + 1

    def holds(self, number: int) -> bool:
        """Tell whether an id is missing here."""
        if not self.first <= number <= self.last:
            return False
        first, last = self.parts[self._place(number)]
        return first <= number <= last

    def _place(self, number: int) -> int:
        return bisect_right(self.parts, number, key=itemgetter(0)) - 1

    def fill(self, number: int) -> None:
        """Take an id out of those that are missing.

        A hole that is in too many pieces already keeps the id: it is told as missing then, so that
        a bus which is dense by name only cannot fill the memory.
        """
        place = self._place(number)
        first, last = self.parts[place]
        left = [[first, number - 1]] if first < number else []
        right = [[number + 1, last]] if number < last else []
        if len(self.parts) < PIECES or not (left and right):
            self.parts[place : place + 1] = left + right

    def told(self) -> dict[str, str | int]:
        """Give the facts about what is missing; a long list is cut, the count is exact."""
        ranges = [str(a) if a == b else f"{a} to {b}" for a, b in self.parts[:SHOWN]]
        more = [f"{len(self.parts) - SHOWN} more ranges"] if len(self.parts) > SHOWN else []
        missing = sum(last - first + 1 for first, last in self.parts)
        return {"ids": ", ".join([*ranges, *more]), "missing": str(missing)}

    def state(self) -> list[Any]:
        """Give it as JSON."""
        return [
            *(self.parts, self.at, self.is_excused, self.fault, self.passed, self.late),
            pack(self.finding),
        ]


def _read(state: list[Any]) -> Hole:
    parts, at, is_excused, fault, passed, late, packed = state
    hole = Hole(0, 0, at, is_excused)
    hole.parts, hole.fault, hole.late = [list(part) for part in parts], fault, late
    hole.passed = list(passed)
    stored: Packed | None = packed
    hole.finding = unpack(stored)
    return hole


class Holes:
    """The holes of one counter in one lane, the newest `KEPT` of them; `beyond` counts the rest."""

    __slots__ = ("_items", "beyond", "doubtful")

    def __init__(self, state: list[Any] | None = None) -> None:
        beyond, rows = state or (0, [])
        self.beyond: int = beyond
        self._items: list[Hole] = [_read(row) for row in rows]
        self.doubtful: list[Hole] = [one for one in self._items if _is_doubtful(one)]
        """Those of which it is not told yet whose fault they are."""

    def __iter__(self) -> Iterator[Hole]:
        return iter(self._items)

    def add(self, hole: Hole) -> None:
        """Keep a hole, and let the oldest go if there are too many."""
        self._items.append(hole)
        if _is_doubtful(hole):
            self.doubtful.append(hole)
        if len(self._items) > KEPT:
            self.beyond += 1
            self.remove(self._items[0])

    def find(self, number: int) -> Hole | None:
        """Give the hole in which an id is missing."""
        return next((one for one in reversed(self._items) if one.holds(number)), None)

    def remove(self, hole: Hole) -> None:
        """Forget a hole."""
        self._items.remove(hole)
        self.settle([hole])

    def settle(self, holes: Iterable[Hole]) -> None:
        """Ask no longer whose fault these are."""
        for hole in holes:
            if hole in self.doubtful:
                self.doubtful.remove(hole)

    def state(self) -> list[Any]:
        """Give them as JSON."""
        return [self.beyond, [one.state() for one in self._items]]


def _is_doubtful(hole: Hole) -> bool:
    return hole.fault == UNKNOWN and not hole.is_excused and hole.finding is not None
