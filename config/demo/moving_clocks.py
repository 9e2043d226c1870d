"""Clocks that a rig can move: a real one that passes quickly, and one that does not wait at all."""

from __future__ import annotations

import time
from typing import Protocol

SECOND = 1_000_000


class Clock(Protocol):
    """Gives microseconds since 1970, lets a time pass at its own pace, or waits for all of it."""

    def now(self) -> int: ...

    def pass_s(self, seconds: float) -> None: ...

    def wait_s(self, seconds: float) -> None: ...


class QuickClock:
    """The machine's clock; a time that has to pass takes a part of it only."""

    def __init__(self, pace: float) -> None:
        self._pace = pace

    def now(self) -> int:
        """Give the machine's time."""
        return time.time_ns() // 1_000

    def pass_s(self, seconds: float) -> None:
        """Wait for a part of the time."""
        time.sleep(seconds * self._pace)

    def wait_s(self, seconds: float) -> None:
        """Wait for all of the time."""
        time.sleep(seconds)


class MovedClock:
    """A clock that stands until it is moved, for a history of minutes within a second."""

    def __init__(self, start: int) -> None:
        self._now = start

    def now(self) -> int:
        """Give the time, a bit later each time, as no two things happen at once."""
        self._now += 137
        return self._now

    def pass_s(self, seconds: float) -> None:
        """Move on."""
        self._now += int(seconds * SECOND)

    def wait_s(self, seconds: float) -> None:
        """Move on."""
        self.pass_s(seconds)
