"""Paths into JSON: `$.a.b`, `$.a[0]`, `$['any name']`, and `[*]` for all items of a list.

Source: contract section 10.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from events.domain.json_spans import ARRAY, OBJECT, Span

LONGEST = 16
ALL = None
Path = tuple[str | int | None, ...]
_PART = re.compile(r"channel:(?P<part>[0-9]{1,2})")
_STEP = re.compile(
    r"\.(?P<name>[^.\[\]'\"\s$*]+)|\[(?P<index>[0-9]{1,9})\]|\[(?P<all>\*)\]|\['(?P<quoted>[^']+)'\]"
)


def parse(text: str) -> Path:
    """Read a path; ValueError says what is wrong with it and what to write."""
    if not text.startswith("$"):
        raise ValueError(f"{text!r} is no path; write one such as $.seq or $.items[0].id")
    steps: list[str | int | None] = []
    place = 1
    while place < len(text):
        found = _STEP.match(text, place)
        if found is None:
            raise ValueError(f"{text!r} cannot be read from character {place + 1}; write $.a[0].b")
        steps.append(_step(found))
        place = found.end()
    if not 0 < len(steps) <= LONGEST:
        raise ValueError(f"{text!r} has {len(steps)} steps; write from 1 to {LONGEST} of them")
    return tuple(steps)


def _step(found: re.Match[str]) -> str | int | None:
    if found["all"]:
        return ALL
    return int(found["index"]) if found["index"] else found["name"] or found["quoted"]


def find(value: Any, path: Path) -> Any:
    """Return what lies at a path of a parsed value; None where nothing does."""
    for step in path:
        if isinstance(step, str):
            value = value.get(step) if isinstance(value, dict) else None
        elif isinstance(step, int):
            value = value[step] if isinstance(value, list) and step < len(value) else None
        else:
            value = None
        if value is None:
            return None
    return value


def find_spans(span: Span, path: Path) -> list[Span]:
    """Return all places at a path, those of equal names included."""
    found = [span]
    for step in path:
        found = [child for one in found for child in _below(one, step)]
    return found


def _below(span: Span, step: str | int | None) -> Iterable[Span]:
    if isinstance(step, str):
        return (
            (child for name, child in span.members if name == step) if span.kind == OBJECT else ()
        )
    if span.kind != ARRAY:
        return ()
    return span.items if step is ALL else span.items[step : step + 1]


def channel_part(text: str) -> int | None:
    """Read `channel:1`, a part of a channel's name split at ":"; None for all else."""
    found = _PART.fullmatch(text)
    return None if found is None else int(found["part"])
