"""ID spaces as a lane sees them: one band of the timeline each, in order of birth.

A band holds what the wire called by one epoch. Messages without an epoch have a band of their own,
which ends at a reset that the numbers prove.
Source: reference/events-and-loops.md sections 2 and 5.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

ADOPTED, EPOCH, RESET, INCARNATION, STRAY = "adopted", "epoch", "reset", "incarnation", "stray"
"""How a space began: with its lane, by another epoch, by a counter that restarted unannounced, by
a process whose ids have another base, and low ids of which nothing tells yet where they belong."""


@dataclass(frozen=True, slots=True)
class Space:
    """One ID space of one lane; times in microseconds since 1970.

    `first` and `last` are ids by order of arrival, `least` and `greatest` by size. `parent` is the
    ordinal of the space before it, `switch_id` the greatest id there when this one began.
    """

    replica: str
    ordinal: int
    epoch: str | None
    kind: str
    born_at: int
    last_at: int
    first: int
    last: int
    least: int
    greatest: int
    count: int
    parent: int | None = None
    switch_id: int | None = None


class Spaces:
    """The spaces of one lane; only the newest `KEPT` may still grow, so that it stays bounded."""

    KEPT = 64

    def __init__(self, replica: str, state: list[Any] | None = None) -> None:
        self.replica = replica
        count, rows = state or (0, [])
        self.born: int = count
        self._rows: dict[int, list[Any]] = {row[0]: list(row) for row in rows}
        self._changed: set[int] = set()
        self._closed: list[Space] = []

    def bear(
        self,
        at: int,
        number: int,
        kind: str,
        epoch: str | None,
        parent: tuple[int, int] | None = None,
    ) -> int:
        """Begin a space with the id that opens it, behind a parent's (ordinal, greatest id)."""
        ordinal, self.born = self.born, self.born + 1
        before, switch = parent or (None, None)
        self._rows[ordinal] = [
            *(ordinal, epoch, kind, at, at, number, number, number, number, 0),
            *(before, switch),
        ]
        if len(self._rows) > self.KEPT:
            self._close(next(iter(self._rows)))
        return ordinal

    def _close(self, ordinal: int) -> None:
        row = self._rows.pop(ordinal)
        if ordinal in self._changed:
            self._changed.discard(ordinal)
            self._closed.append(Space(self.replica, *row))

    def touch(self, ordinal: int, at: int, number: int) -> int:
        """Count an id of a space, and give the space's ordinal back."""
        row = self._rows.get(ordinal)
        if row is not None:
            if at > row[4]:
                row[4] = at
            row[6] = number
            if number < row[7]:
                row[7] = number
            if number > row[8]:
                row[8] = number
            row[9] += 1
            self._changed.add(ordinal)
        return ordinal

    def is_empty(self, ordinal: int) -> bool:
        """Tell whether no id of a space has come yet, since its first one waits to be judged."""
        row = self._rows.get(ordinal)
        return row is not None and row[9] == 0

    def confirm(self, ordinal: int, at: int, first: int) -> None:
        """Make a space of stray ids the space that a reset began, with the first of its ids."""
        row = self._rows.get(ordinal)
        if row is not None:
            row[2], row[3], row[5], row[7] = RESET, at, first, min(row[7], first)
            self._changed.add(ordinal)

    def drain(self) -> list[Space]:
        """Hand out the spaces that were born or grew since the last time."""
        grown = [Space(self.replica, *self._rows[one]) for one in sorted(self._changed)]
        found, self._closed = [*self._closed, *grown], []
        self._changed.clear()
        return found

    def state(self) -> list[Any]:
        """Give as JSON what must outlast a drain."""
        return [self.born, list(self._rows.values())]
