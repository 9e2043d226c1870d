"""A bus's timeline as a drawing that needs no script: bands, strips, findings and their links."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from events import twin
from events.domain import bands, marks, phase_labels
from events.domain.bands import Row
from events.domain.records import SECOND
from events.domain.shapes import SHAPES
from events.domain.times import micros, moment
from events.twin import time_of

Document = dict[str, Any]

WIDTH, LEFT, RIGHT = 1_100, 132, 1_080
LETTER = 6.6
"""The width of a letter of a label, about."""
HEAD, AXIS = 40, 26
STRIP, BAR = 30, 14
MOST_LANES, MOST_SPACES = 40, 200
"""Replicas that are drawn, and ID spaces that are listed: more than these nobody could read."""
PIXELS = 3
"""The width of what is one point of a line: a finer one would only make the page longer."""
TONES = {"critical": "bad", "warning": "gap", "note": "plain"}
ANSWERS = {"fresh": "○", "serve": "✓", "refuse": "■", "ambiguous": "▲"}
ANSWERS |= {"replay": "✓", "caught_up": "✓", "sync_required": "■"}
STATES = {
    "covered": "covered",
    "cold": "cold: it had just begun",
    "silent": "silent while others heard",
    "unwatched": "not watched by us",
    "gap": "ids missing",
}
_STEPS_S: tuple[int, ...] = (
    1,
    2,
    5,
    10,
    15,
    30,
    60,
    120,
    300,
    600,
    900,
    1_800,
    3_600,
    7_200,
    10_800,
    21_600,
)
_STEPS_S += (43_200, 86_400, 172_800, 604_800, 1_209_600, 2_592_000)
_YEAR_S = 31_557_600
_STEPS_S += tuple(_YEAR_S * years for years in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000))


@dataclass(frozen=True, slots=True)
class Scale:
    """From milliseconds after the start of the range to pixels."""

    begun: datetime
    span_ms: float

    def x(self, ms: float) -> float:
        """Give the place of a moment, at the edge of the drawing when it lies beyond."""
        return round(min(RIGHT, max(LEFT, LEFT + ms / self.span_ms * (RIGHT - LEFT))), 1)

    def ms(self, at: str | datetime) -> float:
        """Give a time of a document as milliseconds after the start."""
        return (time_of(at) - self.begun) / timedelta(milliseconds=1)


def timeline_of(document: Document, asked: Mapping[str, str]) -> Document:
    """Draw a timeline document; `asked` holds the texts of the address.

    The answer has the drawing, the links that move it, the table twin, and what the script needs.
    """
    begun = time_of(document["from"])
    span = (time_of(document["to"]) - begun) / timedelta(milliseconds=1)
    scale = Scale(begun, max(1.0, span))
    lane = asked.get("lane", "")
    shown = [one for one in document["strips"] if not lane or one["lane"] == lane][:MOST_LANES]
    lanes = {one["lane"] for one in shown}
    of_lane = [one for one in document["bands"] if one["lane"] in lanes]
    spans = {one["id"]: (scale.ms(one["born_at"]), scale.ms(one["last_at"])) for one in of_lane}
    known = bands.rows_of(of_lane, spans)
    rows = known[-bands.MOST_ROWS :]
    foot = max(HEAD + 80, bands.stack(rows, HEAD))
    is_sparse = document["bus"]["density"] == "sparse"
    drawn = [_row(row, scale, asked, is_sparse=is_sparse) for row in reversed(rows)]
    top = foot + AXIS + 8
    strips = [_strip(one, document, scale, top + STRIP * n) for n, one in enumerate(shown)]
    return {
        "width": WIDTH,
        "height": foot + AXIS + 8 + STRIP * len(strips),
        "head": HEAD,
        "foot": foot,
        "left": LEFT,
        "right": RIGHT,
        "rows": drawn,
        "rows_known": len(known),
        "rows_left_out": len(known) - len(rows),
        "ticks": _ticks(scale),
        "phases": _phases(document, scale),
        "strips": strips,
        "marks": _marks(document, rows, drawn, scale, foot, asked),
        "spaces": _spaces(of_lane, asked)[:MOST_SPACES],
        "lanes": len(shown),
        "lanes_left_out": 0 if lane else _lanes_of(document) - len(shown),
        "spaces_left_out": max(0, len(of_lane) - MOST_SPACES),
        "moves": twin.moves_of(document, asked),
        "table": twin.table_of(document, asked),
        "coverage": twin.coverage_of(document, lane),
        "chosen": _chosen(document["findings"], asked),
        "shapes": json.dumps(SHAPES),
    }


def _lanes_of(document: Document) -> int:
    strips: int = len(document["strips"])
    return max(strips, int(document.get("lanes_count", 0)))


def _row(row: Row, scale: Scale, asked: Mapping[str, str], *, is_sparse: bool) -> Document:
    x, end = scale.x(row.born_ms), scale.x(row.last_ms)
    name = row.label if len(row.label) <= 24 else f"{row.label[:14]}…"
    label = f"{name} · {row.least:,}…{row.greatest:,}"
    text_x = round(max(LEFT + 4.0, min(x + 6, RIGHT - len(label) * LETTER)), 1)
    return {
        "x": x,
        "y": row.top,
        "width": round(max(2.0, end - x), 1),
        "height": row.height,
        "text_x": text_x,
        "text_end": text_x + len(label) * LETTER,
        "text_y": row.top + 13,
        "label": label,
        "title": f"{row.label}, ids {row.least:,} to {row.greatest:,}, {row.count:,} messages",
        "is_chosen": any(band["id"] == asked.get("band") for band in row.bands),
        "query": twin.band_query(row.bands[0], asked),
        "lines": [_line(row, band, scale, is_sparse=is_sparse) for band in row.bands],
    }


def _line(row: Row, band: Mapping[str, Any], scale: Scale, *, is_sparse: bool) -> str:
    """Write one band's path: the least and the greatest id of every few pixels.

    On a sparse bus these are points: a line would say that all ids between were there.
    """
    base = int(band["base"])
    seen: dict[int, tuple[int, int]] = {}
    for at, low, high in zip(band["t"], band["lo"], band["hi"], strict=True):
        place = round(scale.x(at) / PIXELS) * PIXELS
        known = seen.get(place)
        seen[place] = (min(known[0], low), max(known[1], high)) if known else (low, high)
    parts: list[str] = []
    for place, (low, high) in seen.items():
        foot, top = round(row.y(base + low)), round(row.y(base + high))
        # A path of one point would not be drawn at all.
        is_point = foot == top and not is_sparse and bool(parts)
        parts.append(f"{place} {foot}" if is_point else f"{place} {foot}V{top}")
    return "M" + ("M" if is_sparse else "L").join(parts) if parts else ""


def _ticks(scale: Scale) -> list[Document]:
    """Mark some ten whole times of the range, in UTC."""
    least = scale.span_ms / 1_000 / 9
    step = next((one for one in _STEPS_S if one >= least), _STEPS_S[-1])
    begun = micros(scale.begun)
    ended = begun + round(scale.span_ms * 1_000)
    first = -(-begun // (step * SECOND)) * step * SECOND
    return [
        {"x": scale.x(scale.ms(moment(at))), "text": moment(at).strftime(_form(step))}
        for at in range(first, ended + 1, step * SECOND)
    ]


def _form(step: int) -> str:
    """Say how a whole time of so many seconds is written."""
    if step < 60:
        return "%H:%M:%S"
    return "%H:%M" if step < 86_400 else "%m-%d" if step < _YEAR_S else "%Y"


def _phases(document: Document, scale: Scale) -> list[Document]:
    spans = [
        phase_labels.Span(scale.x(one["from_ms"]), scale.x(one["to_ms"]), one["label"], one["tone"])
        for one in document["phases"]
    ]
    names = {one.span: one for one in phase_labels.names_of(spans, LEFT, RIGHT)}
    return [
        {
            "x": one.x,
            "width": round(one.end - one.x, 1),
            "label": one.label,
            "tone": one.tone,
            "name": names.get(one),
        }
        for one in spans
    ]


def _strip(strip: Document, document: Document, scale: Scale, y: int) -> Document:
    ours = [one | {"state": "unwatched"} for one in document["holes"]]
    holes = [one for one in ours if one["lane"] == strip["lane"]]
    return {
        "y": y,
        "name": f"{strip['replica'][:14]} · {strip['basis']}",
        "bars": [_bar(one, scale) for one in (*strip["bars"], *holes)],
        "resumes": [
            {
                "x": scale.x(one["at_ms"]),
                "mark": ANSWERS.get(one["answer"], "?"),
                "title": f"resume: {one['answer']}" + (f", {one['code']}" if one["code"] else ""),
                "tone": "bad" if one["code"] else "plain",
                "ref": one["ref"],
            }
            for one in strip["resumes"]
        ],
    }


def _bar(bar: Document, scale: Scale) -> Document:
    x = scale.x(bar["from_ms"])
    ids = ""
    if bar.get("floor"):
        ids = f", floor {bar['floor']}, high-water mark {bar['high_water'] or 'unknown'}"
    width = round(max(3.0 if bar["state"] == "gap" else 1.0, scale.x(bar["to_ms"]) - x), 1)
    return {
        "x": x,
        "width": width,
        "state": bar["state"],
        "title": f"{STATES.get(bar['state'], bar['state'])}{ids}",
        "is_named": bar["state"] == "unwatched" and width > 78,
    }


def _marks(
    document: Document,
    rows: list[Row],
    drawn: list[Document],
    scale: Scale,
    foot: int,
    asked: Mapping[str, str],
) -> list[Document]:
    lane = asked.get("lane", "")
    shown = [one for one in document["findings"] if not lane or one["lane"] in ("", None, lane)]
    found = marks.merge(shown, rows, scale.x, HEAD)
    names = [marks.Name(one["text_x"], one["text_end"], one["text_y"]) for one in drawn]
    marks.spread(found, names, foot)
    return [
        {
            "x": round(one.x, 1),
            "y": round(one.y, 1),
            "path": SHAPES.get(one.code, SHAPES["other"]),
            "letter": first["letter"],
            "count": len(one.findings),
            "tone": TONES.get(first["severity"], "plain"),
            "title": f"{one.code}: {first['sentence']}",
            "query": twin.finding_query(first, asked),
            "is_chosen": any(each["id"] == asked.get("finding") for each in one.findings),
        }
        for one in found
        for first in one.findings[:1]
    ]


def _spaces(found: list[Document], asked: Mapping[str, str]) -> list[Document]:
    """List the bands for the table, the newest first, each with the one that it came after."""
    labels = {one["id"]: one["label"] for one in found}
    return [
        one | {"after": labels.get(one["parent"] or "", ""), "query": twin.band_query(one, asked)}
        for one in sorted(found, key=lambda band: (time_of(band["born_at"]), band["id"]))[::-1]
    ]


def _chosen(findings: list[Document], asked: Mapping[str, str]) -> Document | None:
    for place, one in enumerate(findings):
        if one["id"] == asked.get("finding"):
            tone = TONES.get(one["severity"], "plain")
            return one | {"place": place + 1, "of": len(findings), "tone": tone}
    return None
