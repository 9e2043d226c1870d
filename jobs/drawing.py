"""A run as a drawing over time, and as the table that says the same."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from jobs.domain import timeline
from jobs.domain.timeline import Scale, Span

Document = dict[str, Any]
MOST = 100
HEAD = 22
LINE, LINES, PAD = 18, 6, 14
"""Heights of the folds' marks above all lanes, of one line of a lane, and of a lane's margins."""
LEAST = 3.0
"""The width of the shortest bar, so that none is too thin to be seen."""


def timeline_of(items: Sequence[Document], skips: Sequence[Document]) -> Document | None:
    """Draw jobs as bars and skips as marks with a line to their original; None without times.

    `items` are rows of jobs in the order of generations, of which the last `MOST` are drawn;
    `skips` are rows of the list of receipts.
    """
    jobs = [one for one in items if one["job"]["inserted_at"]][-MOST:]
    marks = [one for one in skips if one["occurred_at"] and one["invoke"]][-MOST:]
    if not jobs:
        return None
    scale = timeline.scale(
        [*(_span(one) for one in jobs), *(Span(_at(one), _at(one)) for one in marks)]
    )
    lanes: dict[str, int] = {}
    bars: list[Document] = []
    y = HEAD
    for lane in sorted({*map(_lane, jobs), *(one["invoke"]["id"] for one in marks)}):
        drawn = _bars([one for one in jobs if _lane(one) == lane], y, scale)
        lanes[lane] = y
        bars += drawn
        y = max((bar["y"] for bar in drawn), default=y + PAD // 2) + LINE + PAD // 2
    return {
        "width": timeline.WIDTH,
        "height": y,
        "lanes": [{"label": lane, "y": y} for lane, y in lanes.items()],
        "bars": bars,
        "marks": [_mark(one, scale, lanes, bars) for one in marks],
        "folds": [{"x": fold.x, "lasted": _words(fold.lasted)} for fold in scale.folds],
        "from": min(_span(one).start for one in jobs),
        "to": max(_span(one).end for one in jobs),
        "is_cut": len(items) > MOST or len(skips) > MOST,
    }


def _lane(one: Document) -> str:
    """Name the lane of a job: its call, or its timer."""
    job = one["job"]
    return job["invoke"] or (f"timer {job['timer']['ordinal']}" if job["timer"] else "other jobs")


def _span(one: Document) -> Span:
    job = one["job"]
    start = job["inserted_at"]
    ends = [at for at in (job["finished_at"], job["attempted_at"]) if at is not None]
    return Span(start, max([start, *ends]))


def _at(one: Document) -> datetime:
    moment: datetime = one["occurred_at"]
    return moment


def _bars(jobs: Sequence[Document], y: int, scale: Scale) -> list[Document]:
    """Draw the jobs of a lane, each on the first of its lines that is free."""
    ends: list[float] = []
    bars = []
    for one in jobs:
        span = _span(one)
        x = scale.x(span.start)
        width = max(LEAST, round(scale.x(span.end) - x, 1))
        line = next((place for place, end in enumerate(ends) if end <= x), len(ends))
        ends[line : line + 1] = [x + width]
        top = y + PAD // 2 + LINE * min(line, LINES - 1)
        is_open = one["job"]["finished_at"] is None
        bars.append({"row": one, "x": x, "y": top, "width": width, "is_open": is_open})
    return bars


def _mark(one: Document, scale: Scale, lanes: dict[str, int], bars: Sequence[Document]) -> Document:
    """Place a skip on the lane of its call, with a line to the job that it was taken for."""
    named = (one["pointer"] or {}).get("named")
    target = next((bar for bar in bars if bar["row"]["job"]["name"] == named), None)
    x, y = scale.x(_at(one)), lanes[one["invoke"]["id"]] + PAD
    line = None if target is None else {"x": target["x"] + target["width"], "y": target["y"] + 6}
    return {"row": one, "x": x, "y": y, "line": line}


_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def _words(lasted: timedelta) -> str:
    seconds = lasted.total_seconds()
    size, unit = next((one for one in _UNITS if seconds >= one[0]), _UNITS[-1])
    return f"{seconds / size:.0f} {unit}"
