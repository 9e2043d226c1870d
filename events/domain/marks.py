"""Findings as marks on a timeline: near ones of one kind are one mark with a count.

Source: reference/events-and-loops.md section 5.1. The page's script merges by the same rule.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from events.domain.bands import TITLE, Row

Document = Mapping[str, Any]

CLOSE = 12
"""Pixels within which marks of one kind are merged."""
ROOM = 20
NAME = 16
"""Pixels that marks of other kinds, and names of rows, keep free around themselves."""
ABOVE = 12
TOP = 22
"""Above this stand the names of phases."""
_ASIDE = (0, 18, -18, 36, -36, 54, -54)


@dataclass(slots=True)
class Mark:
    """One mark: where it is drawn, and the findings that it stands for, the earliest first."""

    x: float
    y: float
    end: float
    code: str
    findings: list[Document] = field(default_factory=list)


class Name(NamedTuple):
    """Where the name of a row is written: from where to where, and its foot."""

    x: float
    end: float
    y: float


def merge(
    findings: Sequence[Document], rows: Sequence[Row], x: Callable[[float], float], top: int
) -> list[Mark]:
    """Place findings, which come in order of time; `top` is where the bands begin."""
    row_of = {band["id"]: row for row in rows for band in row.bands}
    last: dict[tuple[str, str], Mark] = {}
    marks: list[Mark] = []
    for finding in findings:
        row = row_of.get(finding["band"] or "")
        at = x(finding["at_ms"])
        key = (finding["code"], row.key if row else "")
        near = last.get(key)
        if near is not None and at - near.end < CLOSE:
            near.findings.append(finding)
            near.end = at
            continue
        last[key] = Mark(at, _height(finding, row, top), at, finding["code"], [finding])
        marks.append(last[key])
    return marks


def spread(marks: Sequence[Mark], names: Sequence[Name], bottom: int) -> None:
    """Move a mark aside that would hide one of another kind, or the name of a row."""
    taken: list[Mark] = []
    for mark in marks:
        near = [one for one in taken if abs(one.x - mark.x) < ROOM]
        tries = [mark.y + by for by in _ASIDE if TOP < mark.y + by < bottom - 8]
        over = [one for one in names if one.x - 10 <= mark.x <= one.end + 10]
        free = (
            y
            for y in tries
            if all(abs(one.y - y) >= ROOM - 3 for one in near)
            and all(abs(one.y - 4 - y) >= NAME for one in over)
        )
        mark.y = next(free, mark.y)
        taken.append(mark)


def _height(finding: Document, row: Row | None, top: int) -> float:
    if row is None:
        return top - ABOVE
    number = finding["event_id"]
    y = row.top + row.height / 2 if number is None else row.y(int(number))
    return min(row.top + row.height - 6, max(row.top + TITLE + 8, y))
