"""The time axis of a picture: a range, and how wide it is drawn.

Source: reference/events-and-loops.md section 5.2.
"""

from __future__ import annotations

from dataclasses import dataclass

from events.domain.records import SECOND

RAW_MOST = 5_000
"""Messages that are drawn one by one; more are drawn as buckets."""
MINUTE = 60 * SECOND
LONG = 6 * 60 * MINUTE
"""A range longer than this is read from the minutes, a shorter one from the segments."""
RAW, SEGMENTS, MINUTES = "raw", "segments", "minutes"


@dataclass(frozen=True, slots=True)
class Axis:
    """The range from `begin` up to and without `end`, in microseconds, on `width` pixels."""

    begin: int
    end: int
    width: int

    @property
    def is_long(self) -> bool:
        """Tell whether minutes are fine enough."""
        return self.end - self.begin > LONG

    @property
    def bucket(self) -> int:
        """Give the microseconds of one pixel: whole minutes where minutes are read.

        Otherwise they are whole milliseconds, if it is as much as one: those are written shorter.
        """
        exact = max(1, -(-(self.end - self.begin) // self.width))
        step = MINUTE if self.is_long else 1_000 if exact >= 1_000 else 1
        return -(-exact // step) * step

    def ms(self, at: int) -> int | float:
        """Give a time as milliseconds after the begin."""
        whole, rest = divmod(at - self.begin, 1_000)
        return whole + rest / 1_000 if rest else whole

    def clip(self, at: int) -> int:
        """Give a time, or the end of the range that it lies beyond."""
        return min(max(at, self.begin), self.end)

    def meets(self, begin: int, end: int) -> bool:
        """Tell whether a stretch of time has a part in the range."""
        return begin < self.end and end >= self.begin
