"""What a replica could vouch for, worked out from what was really published.

The lane of the resume rule as it truly was: the floor is lifted above whatever broke the receiving
(a cut, a message that could not be read) and above every id that other replicas saw and this one
did not. So what the rule serves misses nothing. Source: reference/events-and-loops.md sections 2
and 4; reference/pad.md sections 3.1 and 3.2.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from events.domain.records import BARE, FRAME, PREFIXED, REPLAY, SECOND, Record
from events.domain.replicas.hearing import heard
from events.domain.replicas.ring import CAPACITY
from events.domain.replicas.versions import Version
from events.domain.resume import EPOCH, RESET, Boundary, Lane

SETTLE = 2 * SECOND
"""How long a message may be on its way to one replica while another has it."""
LATE = 30 * SECOND
"""How long a message of the space before may come behind a switch. Later ones are a way back."""
NOWHERE = -1


class Seen(NamedTuple):
    """A record with the ID space that it truly belongs to.

    Spaces are numbered in the order of their birth, the same one alike for all replicas. Frames,
    junk and holes have none. Of a stray id nothing told whether it was late or began another
    life of the counter; its space is the one that the lane was in.
    """

    record: Record
    space: int = NOWHERE
    is_stray: bool = False

    @property
    def is_message(self) -> bool:
        """Tell whether it has an id in a space."""
        return self.space != NOWHERE and self.record.form in (BARE, PREFIXED)

    @property
    def number(self) -> int:
        """Give its id."""
        return self.record.id or 0


class _Coverage:
    """What one channel received in the space that the lane is in, since nothing broke it.

    `covered` is all of it, with what fell out of the buffer since. `holes` are the ids between
    that did not come, as pairs of the first and the last, the highest at the end.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self.floor: int | None = None
        self.high_water = 0
        self.covered: set[int] = set()
        self.holes: list[tuple[int, int]] = []
        self._held: deque[tuple[int, int]] = deque()

    def append(self, number: int, at: int) -> None:
        if self.floor is None:
            self.floor = self.high_water = number
        if number > self.high_water + 1:
            self.holes.append((self.high_water + 1, number - 1))
        elif number < self.high_water:
            self._fill(number)
        self.high_water = max(self.high_water, number)
        self.covered.add(number)
        self._hold(number, at)

    def append_stray(self, number: int, at: int) -> None:
        """Take an id that may be late; coverage neither begins nor reaches further by it."""
        if self.floor is None:
            return
        self.covered.add(number)
        self._fill(number)
        self._hold(number, at)

    def _hold(self, number: int, at: int) -> None:
        self._held.append((number, at))
        if len(self._held) > self._capacity:
            self._evict()

    def age(self, before: int) -> None:
        """Let go of what came before a time."""
        while self._held and self._held[0][1] < before:
            self._evict()

    def end(self) -> None:
        self.floor, self.high_water = None, 0
        self.covered.clear()
        self.holes.clear()
        self._held.clear()

    def _evict(self) -> None:
        number, _ = self._held.popleft()
        if number <= self.high_water:
            self.floor = max(self.floor or 0, number + 1)

    def _fill(self, number: int) -> None:
        for place, (low, high) in enumerate(self.holes):
            if low <= number <= high:
                parts = [(low, number - 1), (number + 1, high)]
                self.holes[place : place + 1] = [one for one in parts if one[0] <= one[1]]
                return


@dataclass(frozen=True, slots=True)
class Switch:
    """Where the lane went from one space to another; `first` is the channel's first id there."""

    old: int
    new: int
    first: int | None = None


class TrueLane:
    """One channel of a lane, fed with what its replica was sent, as its version could read it.

    Without a version, whatever has an id counts as read. On a dense bus an id that did not come
    is a loss, whoever else saw it. `max_age` is for how long a buffer keeps a message, in
    microseconds.
    """

    def __init__(
        self,
        scope: str,
        version: Version | None = None,
        capacity: int = CAPACITY,
        *,
        is_dense: bool = False,
        max_age: int | None = None,
    ) -> None:
        self.scope = scope
        self.space: int | None = None
        self.switched_at = 0
        self._version, self._is_dense, self._max_age = version, is_dense, max_age
        self._coverage = _Coverage(capacity)
        self._switches: list[Switch] = []
        self._unsettled: list[int] | None = None

    def take(self, seen: Seen) -> None:
        """Take what was sent to the replica, in the order in which it came."""
        record = seen.record
        if record.source == REPLAY or record.form == FRAME:
            return
        if not seen.is_message:
            if record.scope in ("", self.scope):
                self._break()
            return
        if seen.is_stray:
            self._put_aside(record)
            return
        if self._is_late(seen):
            return
        self._unsettled = None
        self._enter(seen)
        if record.scope == self.scope:
            self._append(seen)

    def _put_aside(self, record: Record) -> None:
        """Take a stray id: until the next id nobody knows which life of the counter goes on."""
        low = self._unsettled or []
        if record.scope == self.scope and not self._is_read(record):
            self._coverage.end()
            low = []
        elif record.scope == self.scope:
            self._coverage.append_stray(record.id or 0, record.at)
            low = [*low, record.id or 0]
        self._unsettled = low

    def _break(self) -> None:
        self._coverage.end()
        if self._unsettled is not None:
            self._unsettled = []

    def _is_read(self, record: Record) -> bool:
        return self._version is None or heard(self._version, record) is not None

    def _append(self, seen: Seen) -> None:
        if not self._is_read(seen.record):
            self._coverage.end()
            return
        self._coverage.append(seen.number, seen.record.at)
        newest = self._switches[-1] if self._switches else None
        if newest is not None and newest.first is None:
            self._switches[-1] = Switch(newest.old, newest.new, seen.number)

    def _is_late(self, seen: Seen) -> bool:
        is_older = self.space is not None and seen.space < self.space
        return is_older and seen.record.at - self.switched_at < LATE

    def _enter(self, seen: Seen) -> None:
        if seen.space == self.space:
            return
        if self.space is not None:
            self._switches.append(Switch(self.space, seen.space))
            self.switched_at = seen.record.at
        self.space = seen.space
        self._coverage.end()

    def lane(self, union: Union) -> Lane:
        """Give the lane of the resume rule at the union's instant, by what any replica saw."""
        ahead = union.newest_after(self.switched_at)
        boundaries = tuple(self._boundary(one, union) for one in self._switches)
        if self.space is None or ahead > self.space:
            return Lane(union.epochs.get(max(ahead, 0)), 0, 0, cold=True, boundaries=boundaries)
        if self._max_age is not None:
            self._coverage.age(union.at - self._max_age)
        epoch, floor, low = union.epochs.get(self.space), self._coverage.floor, self._unsettled
        if floor is None:
            return Lane(epoch, 0, 0, cold=True, boundaries=boundaries, unsettled=low)
        lost = max(union.greatest_lost(self.scope, self.space, self._coverage.covered), self._hole)
        floor, high_water = max(floor, lost + 1), self._coverage.high_water
        return Lane(epoch, floor, high_water, boundaries=boundaries, unsettled=low)

    @property
    def _hole(self) -> int:
        """Give the greatest id that a dense bus should have brought and did not, or -1."""
        holes = self._coverage.holes
        return holes[-1][1] if self._is_dense and holes else -1

    def _boundary(self, switch: Switch, union: Union) -> Boundary:
        old, new = union.epochs.get(switch.old), union.epochs.get(switch.new)
        kind = RESET if old == new else EPOCH
        return Boundary(union.greatest.get(switch.old, 0), kind, old, switch.first)


class Union:
    """What any replica had seen by an instant, leaving out what may still be on its way."""

    def __init__(self, own: Iterable[Seen], others: Iterable[Seen], at: int) -> None:
        self.at = at
        self._messages = [one for one in own if one.is_message and one.record.at <= at]
        self._others = [one for one in others if one.is_message and one.record.at <= at - SETTLE]
        self.greatest: dict[int, int] = {}
        self.epochs: dict[int, str] = {}
        for one in (*self._messages, *self._others):
            if one.is_stray:
                continue
            self.greatest[one.space] = max(self.greatest.get(one.space, one.number), one.number)
            if one.record.epoch is not None:
                self.epochs.setdefault(one.space, one.record.epoch)

    def newest_after(self, at: int) -> int:
        """Give the newest space that others saw a message of after a time, or NOWHERE."""
        return max((one.space for one in self._others if one.record.at >= at), default=NOWHERE)

    def greatest_lost(self, scope: str, space: int, covered: Collection[int]) -> int:
        """Give the greatest id of a channel in a space that is not among the covered, or -1."""
        return max(
            (
                one.number
                for one in (*self._others, *self._messages)
                if one.space == space and one.record.scope == scope and one.number not in covered
            ),
            default=-1,
        )

    def messages(self, scope: str) -> list[Seen]:
        """Give the messages of a channel, each once, by space and id."""
        found = {
            (one.space, one.number): one
            for one in (*self._others, *self._messages)
            if one.record.scope == scope
        }
        return [found[key] for key in sorted(found)]
