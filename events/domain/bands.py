"""Where bands of a timeline lie: a row for each ID space, stacked in order of birth.

Source: reference/events-and-loops.md section 5.1. A space that several replicas heard of is one
row. The page's script lays them out by the same rules, so that it can replace the drawing in place.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Document = Mapping[str, Any]

LEAST = 36
PER_TENFOLD = 18
APART = 6
TITLE = 17
MOST_ROWS = 40
"""Rows that are drawn, the newest; the table has them all."""

_STARTS = ("reset", "incarnation")


@dataclass(slots=True)
class Row:
    """One ID space as it is drawn; heights in pixels, times in milliseconds after the start."""

    key: str
    label: str
    epoch: str | None
    kind: str
    least: int
    greatest: int
    born_ms: float
    last_ms: float
    count: int = 0
    top: int = 0
    height: int = LEAST
    bands: list[Document] = field(default_factory=list)

    def y(self, number: int) -> float:
        """Give the height of an id: the least id of the row lies at its foot."""
        span = max(1, self.greatest - self.least)
        share = min(1.0, max(0.0, (number - self.least) / span))
        return self.top + self.height - 3 - share * (self.height - TITLE - 4)


def rows_of(bands: Sequence[Document], spans: Mapping[str, tuple[float, float]]) -> list[Row]:
    """Group bands of one space into rows, the oldest first.

    `spans` gives each band's birth and last sign by its id, in milliseconds after the start. Bands
    without ids, which only frames made, are left out.
    """
    seen: dict[tuple[str, str | None], int] = {}
    rows: list[Row] = []
    for band in sorted(bands, key=lambda one: int(one["ordinal"])):
        if band["least"] is None or band["greatest"] is None:
            continue
        key = _key(band, seen)
        row = next((one for one in rows if one.key == key and _belongs(one, band)), None)
        if row is None:
            row = _begin(key, band, spans[band["id"]])
            rows.append(row)
        _join(row, band, spans[band["id"]])
    return sorted(rows, key=lambda one: one.born_ms)


def stack(rows: Sequence[Row], top: int) -> int:
    """Give every row its place, the newest uppermost, and return where the last one ends."""
    y = top
    for row in reversed(rows):
        row.top = y
        row.height = max(LEAST, round(PER_TENFOLD * math.log10(row.count + 1)))
        y += row.height + APART
    return y


def _key(band: Document, seen: dict[tuple[str, str | None], int]) -> str:
    """Name the space a band is of: an epoch that comes back goes on, without one each is new."""
    name = (band["lane"], band["epoch"])
    if name not in seen:
        seen[name] = 0
    elif band["epoch"] is None or band["kind"] in _STARTS:
        seen[name] += 1
    return f"{'' if band['epoch'] is None else 'e' + band['epoch']}/{seen[name]}"


def _belongs(row: Row, band: Document) -> bool:
    if band["epoch"] is not None:
        return True
    return int(band["least"]) <= row.greatest and int(band["greatest"]) >= row.least


def _begin(key: str, band: Document, span: tuple[float, float]) -> Row:
    ids = int(band["least"]), int(band["greatest"])
    return Row(key, band["label"], band["epoch"], band["kind"], *ids, *span)


def _join(row: Row, band: Document, span: tuple[float, float]) -> None:
    row.bands.append(band)
    row.count = max(row.count, int(band["count"]))
    row.least = min(row.least, int(band["least"]))
    row.greatest = max(row.greatest, int(band["greatest"]))
    row.born_ms = min(row.born_ms, span[0])
    row.last_ms = max(row.last_ms, span[1])
