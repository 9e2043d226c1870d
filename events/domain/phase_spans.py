"""Phases of a roll over time: which of them ran side by side, and when that is not allowed.

Source: reference/pad.md section 4.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

from events.domain.roll_phases import ILLEGAL, mix_of, state_of


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
        running[change.replica], _ = state_of(change.phase)
        states = tuple(sorted({state for state in running.values() if state}))
        if not starts or starts[-1][1] != states:
            starts.append((change.at, states))
    return [
        Span(begin, until, states, mix_of(states) == ILLEGAL)
        for (begin, states), (until, _) in pairwise([*starts, (end, ())])
        if states and until > begin
    ]
