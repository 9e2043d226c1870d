"""A line: one life of one counter as one lane sees it.

It remembers the newest ids with the fingerprints of their bodies, what is missing between them,
and low ids of which the next ones will tell whether the counter restarted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from events.domain.changes import pack, unpack
from events.domain.findings import Finding
from events.domain.holes import Holes

WINDOW, IDLE_WINDOW, NARROW_WINDOW = 1_024, 128, 64
"""Ids remembered of the line that a lane is in, of one that it left, and of a channel with a
counter of its own, of which there are many."""
NO_LIMIT = 1 << 80
_EXACT_BITS = 53
NOT_ROUNDED = -1

Key = tuple[int, int, str]
Low = tuple[int, int, str | None]
"""Id, time and epoch on the wire of a low message."""
Body = tuple[str, int, str]
"""Fingerprint, time and channel of a message."""


class Line:
    """See the module. `bands` are its spaces by the epoch on the wire, `strays` those of low ids.

    `limit` is the greatest id of the life before, `lone` one that may still be of that life,
    `rounded` how many low bits of its ids were zero as if they had passed through doubles, -1 once
    one was not, and `rounding` the finding about it. `is_odd` asks for a closer look at
    the next id. `resets` are the counts of points at which the line restarted.
    """

    __slots__ = (
        "bands",
        "base",
        "bodies",
        "era",
        "first",
        "high",
        "holes",
        "is_odd",
        "is_unwatched",
        "limit",
        "limited",
        "lone",
        "lone_finding",
        "low",
        "low_finding",
        "points",
        "resets",
        "rounded",
        "rounding",
        "scope",
        "seen",
        "strays",
        "window",
    )

    def __init__(self, key: Key, number: int, window: int = WINDOW) -> None:
        self.era, self.base, self.scope = key
        self.first = number
        self.high = number - 1
        self.window = window
        self.seen: dict[int, Body] = {}
        self.bodies: dict[str, int] = {}
        self.holes = Holes()
        self.low: list[Low] = []
        self.low_finding: Finding | None = None
        self.bands: dict[str | None, int] = {}
        self.strays: dict[str | None, int] = {}
        self.limit = NO_LIMIT
        self.limited: Finding | None = None
        self.lone: int | None = None
        self.lone_finding: Finding | None = None
        self.is_unwatched = False
        self.rounded = 0
        self.rounding: Finding | None = None
        self.resets: list[int] = []
        self.points = 0
        self.is_odd = True

    @property
    def key(self) -> Key:
        """Name it among the lines of its lane."""
        return (self.era, self.base, self.scope)

    @property
    def band(self) -> int:
        """Give its newest space."""
        return next(reversed(self.bands.values()))

    def look(self) -> None:
        """Settle whether the next id needs a closer look even when it follows the last one."""
        is_settled = not self.low and self.lone is None and not self.is_unwatched
        self.is_odd = not is_settled or self.rounded != NOT_ROUNDED

    def remember(self, number: int, body: Body) -> None:
        """Keep an id with its body, and forget the one that came longest ago."""
        seen = self.seen
        seen[number] = body
        if body[0]:
            self.bodies[body[0]] = number
        if len(seen) > self.window:
            self._forget()

    def _forget(self) -> None:
        oldest = next(iter(self.seen))
        gone = self.seen.pop(oldest)[0]
        if self.bodies.get(gone) == oldest:
            del self.bodies[gone]

    def resize(self, window: int) -> None:
        """Remember so many ids from here on."""
        self.window = window
        while len(self.seen) > window:
            self._forget()

    def restart(self, bands: dict[str | None, int]) -> None:
        """Begin another life of the counter with the low ids that showed it, and its spaces."""
        low = self.low
        bodies = [(number, self.seen.get(number, ("", at, ""))) for number, at, _ in low]
        self.limit = self.high
        self.first, self.high = low[0][0], low[-1][0]
        self.seen, self.bodies, self.holes = {}, {}, Holes()
        for number, body in bodies:
            self.remember(number, body)
        self.bands, self.strays = bands, {}
        self.low, self.low_finding = [], None
        self.lone, self.lone_finding = None, None
        self.note_restart()
        self.look()

    def note_restart(self) -> None:
        """Keep at which message the line restarted, or seemed to."""
        self.resets = [*self.resets[-2:], self.points]

    def note_bits(self, number: int) -> None:
        """Count the low zero bits that a double would have left of an id of this size."""
        bits = number.bit_length() - _EXACT_BITS
        is_round = bits > 0 and not number & ((1 << bits) - 1)
        self.rounded = self.rounded + bits if is_round else NOT_ROUNDED

    def state(self) -> list[Any]:
        """Give it as JSON."""
        return [
            *(self.era, self.base, self.scope, self.first, self.high, self.window),
            *_write_seen(self.seen),
            self.holes.state(),
            self.low,
            pack(self.low_finding),
            list(self.bands.items()),
            list(self.strays.items()),
            *(self.limit, pack(self.limited), self.lone, pack(self.lone_finding)),
            *(self.is_unwatched, self.rounded, pack(self.rounding)),
            *(self.resets, self.points),
        ]


def read_line(state: list[Any]) -> Line:
    """Read a line that `Line.state` wrote."""
    era, base, scope, first, high, window, scopes, seen, *told = state
    holes, low, finding, bands, strays, *rest = told
    line = Line((era, base, scope), first, window)
    line.high = high
    for number, known in _read_seen(scopes, seen):
        line.remember(number, known)
    line.holes = Holes(holes)
    line.low = [(number, at, epoch) for number, at, epoch in low]
    line.low_finding = unpack(finding)
    line.bands = dict(bands)
    line.strays = dict(strays)
    line.limit, limited, line.lone, lone, *rest = rest
    line.limited, line.lone_finding = unpack(limited), unpack(lone)
    line.is_unwatched, line.rounded, rounding, resets, line.points = rest
    line.rounding, line.resets = unpack(rounding), list(resets)
    line.look()
    return line


def _write_seen(seen: dict[int, Body]) -> tuple[list[str], list[Any]]:
    """Write ids and times as steps and channels by their place, since this is most of a state."""
    scopes: dict[str, int] = {}
    told: list[Any] = []
    before = since = 0
    for number, (body, at, scope) in seen.items():
        told += (number - before, body, at - since, scopes.setdefault(scope, len(scopes)))
        before, since = number, at
    return list(scopes), told


def _read_seen(scopes: list[str], told: list[Any]) -> Iterator[tuple[int, Body]]:
    number = at = 0
    for step, body, later, place in zip(*[iter(told)] * 4, strict=True):
        number, at = number + step, at + later
        yield number, (body, at, scopes[place])
