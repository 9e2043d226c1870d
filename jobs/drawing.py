"""A run as a drawing over time, and as the table that says the same."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from jobs.domain import timeline
from jobs.domain.timeline import Scale, Span

Document = dict[str, Any]
MOST = 200
LANE = 30
HEAD = 22
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
    lanes = sorted({one["job"]["invoke"] or _timer(one) for one in jobs})
    bars = [_bar(one, scale, lanes) for one in jobs]
    return {
        "width": timeline.WIDTH,
        "height": HEAD + LANE * len(lanes),
        "lanes": [{"label": lane, "y": HEAD + LANE * n} for n, lane in enumerate(lanes)],
        "bars": bars,
        "marks": [_mark(one, scale, lanes, bars) for one in marks],
        "folds": [{"x": fold.x, "lasted": _words(fold.lasted)} for fold in scale.folds],
        "from": min(_span(one).start for one in jobs),
        "to": max(_span(one).end for one in jobs),
        "is_cut": len(items) > MOST or len(skips) > MOST,
    }


def _timer(one: Document) -> str:
    return f"timer {one['job']['timer']['ordinal']}" if one["job"]["timer"] else "other"


def _span(one: Document) -> Span:
    job = one["job"]
    start = job["inserted_at"]
    ends = [at for at in (job["finished_at"], job["attempted_at"]) if at is not None]
    return Span(start, max([start, *ends]))


def _at(one: Document) -> datetime:
    moment: datetime = one["occurred_at"]
    return moment


def _bar(one: Document, scale: Scale, lanes: Sequence[str]) -> Document:
    span = _span(one)
    x = scale.x(span.start)
    lane = lanes.index(one["job"]["invoke"] or _timer(one))
    return {
        "row": one,
        "x": x,
        "y": HEAD + LANE * lane + 8,
        "width": max(LEAST, round(scale.x(span.end) - x, 1)),
        "is_open": one["job"]["finished_at"] is None,
    }


def _mark(one: Document, scale: Scale, lanes: Sequence[str], bars: Sequence[Document]) -> Document:
    """Place a skip on the lane of its call, with a line to the job that it was taken for."""
    invoke = one["invoke"]["id"]
    lane = lanes.index(invoke) if invoke in lanes else 0
    named = (one["pointer"] or {}).get("named")
    target = next((bar for bar in bars if bar["row"]["job"]["name"] == named), None)
    x, y = scale.x(_at(one)), HEAD + LANE * lane + 14
    line = None if target is None else {"x": target["x"] + target["width"], "y": target["y"] + 6}
    return {"row": one, "x": x, "y": y, "line": line}


_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def _words(lasted: timedelta) -> str:
    seconds = lasted.total_seconds()
    size, unit = next((one for one in _UNITS if seconds >= one[0]), _UNITS[-1])
    return f"{seconds / size:.0f} {unit}"
