"""Phases of a roll over time: which of them ran side by side, and when that is not allowed.

Source: reference/pad.md section 4.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

OLD, NEW = "S0", "S2"


class Change(NamedTuple):
    """A replica that told of a phase, at a time in microseconds."""

    at: int
    replica: str
    phase: str


class Span(NamedTuple):
    """A stretch of time in which the same phases ran; `is_illegal` says that some may not meet."""

    begin: int
    end: int
    phases: tuple[str, ...]
    is_illegal: bool

    @property
    def label(self) -> str:
        """Name the phases, and say of an illegal mix that it is one."""
        named = " and ".join(self.phases)
        return f"{named}, which loses events" if self.is_illegal else named


def spans_of(changes: Iterable[Change], end: int) -> list[Span]:
    """Give the spans between changes, up to a time; replicas that told nothing are in none."""
    running: dict[str, str] = {}
    starts: list[tuple[int, tuple[str, ...]]] = []
    for change in sorted(changes):
        running[change.replica] = change.phase
        phases = tuple(sorted({phase for phase in running.values() if phase}))
        if not starts or starts[-1][1] != phases:
            starts.append((change.at, phases))
    return [
        Span(begin, until, phases, is_illegal(phases))
        for (begin, phases), (until, _) in pairwise([*starts, (end, ())])
        if phases and until > begin
    ]


def is_illegal(phases: Sequence[str]) -> bool:
    """Tell whether replicas that read bare ids alone run beside some that write epochs."""
    return OLD in phases and any(phase.startswith(NEW) for phase in phases)
