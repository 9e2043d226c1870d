"""A replica of Pad's watch bus: one dense stream for the installation, and a shared counter.

Source: reference/pad.md section 5 and cases W1 to W7.
"""

from __future__ import annotations

from collections import Counter

from events.domain.profiles import WATCH, WATCH_HEARTBEAT
from events.domain.records import FRAME, HOLE, PREFIXED, REPLAY, Record
from events.domain.replicas import resets
from events.domain.replicas.answers import (
    BELOW_KNOWN,
    OUTRUN,
    SYNC_REQUIRED,
    Given,
    given,
    header_answer,
)
from events.domain.replicas.ring import CAPACITY, Ring
from events.domain.replicas.versions import TOKENS, Version
from events.domain.whole_numbers import int64_of


class WatchReplica:
    """One process on the watch bus; its ids are consecutive, so a jump is a loss that it counts.

    `gaps` counts the jumps and `missed` the notifications in them. With the profile that sends
    frames it also ends coverage when cut or unable to read, tells open subscribers so, and
    refuses cursors inside an id range that a restarted counter has not climbed out of.
    """

    def __init__(self, profile: str = WATCH, capacity: int = CAPACITY) -> None:
        if profile not in (WATCH, WATCH_HEARTBEAT):
            raise ValueError(f"no watch replica is modelled for {profile!r}; write {WATCH}")
        self.version = Version(profile, TOKENS)
        self.is_later = profile == WATCH_HEARTBEAT
        self.epoch = ""
        self.high_water = 0
        self.resets: Counter[str] = Counter()
        self.gaps = self.missed = self.resume_gaps = self.signals = 0
        self._capacity = capacity
        self._known_from = self._abandoned = 0
        self._has_changed = False
        self._ring = Ring(capacity)

    def take(self, record: Record) -> None:
        """Take a message of the one channel; after a hole nobody knows what it held."""
        if record.source == REPLAY or record.form == FRAME:
            return
        if record.form == HOLE:
            self._forget()
        elif record.form == PREFIXED and record.epoch and record.id is not None:
            self._adopt(record.epoch)
            self._append(record.id, record)
        elif self.is_later:
            self._uncover(resets.UNDECODABLE)

    def reconnected(self) -> None:
        """Note that a connection was cut and came back, which the earlier version does not see."""
        if self.is_later:
            self._uncover(resets.RESUMED)

    def resume(self, cursor: int, counter: int | None = None) -> Given:
        """Answer a cursor; 0 asks for all that is held.

        `counter` is the shared counter as it stands after the settle time of 250 ms, when what was
        in flight has been taken; a missing key is 0, and None is one that could not be read, so
        that the replica answers by what it knows.
        """
        found = self._answer(cursor, counter)
        self.resume_gaps += found.answer == SYNC_REQUIRED
        return found

    def would_resume(self, scope: str, header: object) -> Given:
        """Tell what a Last-Event-ID would get by what the replica knows; nothing is counted.

        There is one channel, whatever its name is.
        """
        return header_answer(header) or self._answer(int64_of(header) or 0, None)

    def _answer(self, cursor: int, counter: int | None) -> Given:
        if cursor > 0 and counter is not None and counter != self.high_water:
            return given(None, OUTRUN)
        if cursor > 0 and self._is_below(cursor):
            return given(None, BELOW_KNOWN)
        return self._ring.since(cursor)

    def _is_below(self, cursor: int) -> bool:
        return self._known_from == 0 or cursor + 1 < self._known_from or cursor <= self._abandoned

    def _adopt(self, epoch: str) -> None:
        if self.epoch and epoch != self.epoch:
            self._forget()
            self._abandoned = 0
            self._has_changed = True
            self.resets[resets.EPOCH_CHANGE] += 1
        self.epoch = epoch

    def _append(self, id: int, record: Record) -> None:
        if self.high_water == 0:
            self._known_from = id + 1 if self._has_changed else id
            self._has_changed = False
        elif id <= self.high_water:
            self._went_backward(id)
        elif id != self.high_water + 1:
            self._known_from = id
            self.gaps += 1
            self.missed += id - self.high_water - 1
        self.high_water = id
        self._ring.append(id, record)

    def _went_backward(self, id: int) -> None:
        if self.is_later:
            self._abandoned = max(self._abandoned, self.high_water)
        self._ring = Ring(self._capacity)
        self._known_from = id
        self.resets[resets.COUNTER_BACKWARD] += 1

    def _uncover(self, reason: str) -> None:
        if self.high_water:
            self.resets[reason] += 1
        self._forget()
        self.signals += 1

    def _forget(self) -> None:
        self._ring = Ring(self._capacity)
        self.high_water = self._known_from = 0
