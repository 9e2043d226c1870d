"""A run drawn over time: a lane for each call, idle time folded to a mark of one width.

Widths are in the units of the drawing, `WIDTH` across. Nothing here knows of colours or pages.
Source: reference/jobs.md section 5 line 16.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

WIDTH = 960.0
FOLD_WIDTH = 26.0
RUN_WIDTH = 56.0
"""The least width of a busy time, so that the marks of two folds never lie on one another."""
SHARE = 6
"""Idle time is folded when it is longer than this part of the time in which something happened."""


_MOMENT = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Span:
    """A time in which something happened; both ends are the same for a moment."""

    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class Fold:
    """Idle time that is not drawn to scale: where its mark begins, and how long it lasted."""

    x: float
    lasted: timedelta


@dataclass(frozen=True, slots=True)
class Scale:
    """Places moments on the drawing; `pieces` are (start, end, x, width) of the busy times."""

    pieces: tuple[tuple[datetime, datetime, float, float], ...]
    folds: tuple[Fold, ...]

    def x(self, at: datetime) -> float:
        """Return where a moment lies; one outside is put at the nearest end."""
        for start, end, x, width in self.pieces:
            if at <= start:
                return round(x, 1)
            if at <= end:
                return round(x + width * ((at - start) / max(end - start, _MOMENT)), 1)
        last = self.pieces[-1] if self.pieces else None
        return round(last[2] + last[3], 1) if last is not None else 0.0


def scale(spans: Iterable[Span]) -> Scale:
    """Return the scale on which all spans lie, with the idle time between them folded."""
    busy = _joined(sorted(spans, key=lambda span: (span.start, span.end)))
    if not busy:
        return Scale((), ())
    total = sum((one.end - one.start for one in busy), timedelta())
    limit = max(total / SHARE, timedelta(seconds=1))
    runs = _runs(busy, limit)
    drawn = sum((run.end - run.start for run in runs), timedelta())
    room = WIDTH - FOLD_WIDTH * (len(runs) - 1)
    least = min(RUN_WIDTH, room / len(runs))
    rest = room - least * len(runs)
    pieces, folds, x = [], [], 0.0
    for place, run in enumerate(runs):
        share = (run.end - run.start) / drawn if drawn else 1 / len(runs)
        width = least + rest * share
        pieces.append((run.start, run.end, x, width))
        x += width
        if place + 1 < len(runs):
            folds.append(Fold(round(x, 1), runs[place + 1].start - run.end))
            x += FOLD_WIDTH
    return Scale(tuple(pieces), tuple(folds))


def _joined(spans: Sequence[Span]) -> list[Span]:
    """Join spans that touch or overlap."""
    found: list[Span] = []
    for span in spans:
        if found and span.start <= found[-1].end:
            found[-1] = Span(found[-1].start, max(found[-1].end, span.end))
        else:
            found.append(span)
    return found


def _runs(busy: Sequence[Span], limit: timedelta) -> list[Span]:
    """Join spans with the idle time between them, where that is short enough to be drawn."""
    found = [busy[0]]
    for span in busy[1:]:
        if span.start - found[-1].end <= limit:
            found[-1] = Span(found[-1].start, span.end)
        else:
            found.append(span)
    return found
