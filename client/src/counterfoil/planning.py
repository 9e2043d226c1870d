"""Which tallies a round makes of the journals that there are, before anything is decided.

Outcomes of journals with one head (one source, one policy) are merged in the order in which they
ended and cut into tallies. What is not due stays in its journal.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from counterfoil import journal, tallies
from counterfoil.tails import Position, Step, Tail, merged

MAX_TALLIES = 8


@dataclass
class Round:
    """What one round would decide: lines to send, and how far each journal is read by them.

    `look_at_ms` is when the oldest outcome that was left over is due.
    """

    look_at_ms: int
    lines: list[bytes] = field(default_factory=list)
    outcomes: int = 0
    journals: dict[str, Position] = field(default_factory=dict)

    @property
    def is_full(self) -> bool:
        """Say whether there are as many lines as one file shall have."""
        return len(self.lines) >= MAX_TALLIES


def plan(tails: Iterable[Tail], now_ms: int, *, everything: bool = False) -> Round:
    """Plan a round; `everything` is due at once when asked."""
    planned = Round(now_ms + tallies.WINDOW_MS)
    heads: dict[bytes, list[Tail]] = {}
    for tail in tails:
        heads.setdefault(tail.read_head(), []).append(tail)
    for head, group in heads.items():
        left = _Batch(planned, head).take(group, None if everything else now_ms)
        if planned.is_full:
            planned.look_at_ms = now_ms
            break
        if left is not None:
            planned.look_at_ms = min(planned.look_at_ms, left + tallies.WINDOW_MS)
    return planned


class _Batch:
    """The outcomes of the next tally, and how far they lead."""

    def __init__(self, planned: Round, head: bytes) -> None:
        self._planned, self._about = planned, journal.read_head(head)
        self._entries: list[journal.Entry] = []
        self._moved: dict[str, Position] = {}
        self._size = 0

    def take(self, group: Sequence[Tail], now_ms: int | None) -> int | None:
        """Take all outcomes; give when in ms the oldest of those ended that are left over."""
        for tail, step in merged(group):
            if step.entry and self._is_full(step.entry):
                self._cut()
            if self._planned.is_full:
                return None
            self._add(tail, step)
        if now_ms is not None and not self._is_due(now_ms):
            return self._entries[0].at_ms
        self._cut()
        return None

    def _is_due(self, now_ms: int) -> bool:
        # By the distance, so that a clock that was put back holds nothing up.
        return not self._entries or self._is_full(self._entries[0]._replace(at_ms=now_ms))

    def _is_full(self, following: journal.Entry) -> bool:
        return bool(self._entries) and tallies.is_full(self._entries, self._size, following)

    def _add(self, tail: Tail, step: Step) -> None:
        self._moved[tail.stem] = step.position
        if step.entry is not None:
            self._entries.append(step.entry)
            self._size += tallies.size_of(step.raw)
            return
        if step.raw or not self._entries:
            self._cut()
        if step.raw:
            self._planned.lines.append(step.raw)

    def _cut(self) -> None:
        if self._entries:
            self._planned.lines.append(tallies.line_of(self._entries, self._about))
            self._planned.outcomes += len(self._entries)
        self._planned.journals.update(self._moved)
        self._entries, self._moved, self._size = [], {}, 0
