"""Where the names of phases are written over a timeline, so that none lies on another.

A name keeps within its span, shortened to its first part when the whole does not fit, and is left
out when that does not either: its title and the table still say it. What must not be overlooked is
placed first and may reach beyond a narrow span. The page's script places them by the same rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

LETTER = 5.9
"""The width of a letter of a name, about."""
EDGE = 3
APART = 8
LOUD = "bad"


class Span(NamedTuple):
    """A phase as it is drawn: from where to where, in pixels, its name and its tone."""

    x: float
    end: float
    label: str
    tone: str


@dataclass(frozen=True, slots=True)
class Name:
    """A name that is written, and from where to where."""

    x: float
    end: float
    text: str
    span: Span


def names_of(spans: Sequence[Span], left: float, right: float) -> list[Name]:
    """Place the names of spans between two edges, in the order of their places."""
    placed: list[Name] = []
    for span in sorted(spans, key=lambda one: (one.tone != LOUD, one.x)):
        tries = (_name(span, text, left, right, placed) for text in _texts(span.label))
        if name := next((one for one in tries if one), None):
            placed = sorted([*placed, name], key=lambda one: one.x)
    return placed


def _texts(label: str) -> list[str]:
    short = label.partition(",")[0]
    return [label] if short == label else [label, short]


def _name(span: Span, text: str, left: float, right: float, placed: Sequence[Name]) -> Name | None:
    """Place one name right of those that it would lie on; None where no room is left."""
    width = len(text) * LETTER
    begin, limit = max(left, span.x) + EDGE, min(right, span.end)
    if span.tone == LOUD:
        begin, limit = max(left, min(begin, right - width)), right
    for one in placed:
        if begin < one.end + APART and one.x < begin + width + APART:
            begin = one.end + APART
    end = begin + width
    return Name(round(begin, 1), round(end, 1), text, span) if end <= limit + 0.1 else None
