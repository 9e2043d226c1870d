"""The executions of one job as its receipts tell them: begun, ended, and beside one another.

An end names no start, so of one attempt the ends are given out from the last: an end belongs to
the latest start before it that has none. Where a worker was killed, its start is left without one.
With as many ends as starts, each start has the end of its own turn, the first the first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ledger.domain.statement import Statement

_ENDS = frozenset({"done", "fail", "retry", "discard", "skip"})


@dataclass(frozen=True, slots=True)
class Run:
    """One execution: its start, the receipt that ended it if any, and whether another ran too.

    `overlaps` is true only where the ends on record say so; of a start without an end nobody knows
    how long it ran.
    """

    attempt: int
    start: Statement
    end: Statement | None = None
    overlaps: bool = False


def runs_of(told: Iterable[Statement]) -> list[Run]:
    """Return the executions that receipts of one job tell, in the order of their starts."""
    starts: dict[int, list[Statement]] = defaultdict(list)
    ends: dict[int, list[Statement]] = defaultdict(list)
    for one in sorted(told, key=lambda each: (each.happened_at, each.leaf)):
        if one.kind == "start":
            starts[one.attempt or 1].append(one)
        elif one.kind in _ENDS:
            ends[one.attempt or 1].append(one)
    found = [
        run for attempt, begun in starts.items() for run in _paired(attempt, begun, ends[attempt])
    ]
    ordered = sorted(found, key=lambda run: (run.start.happened_at, run.start.leaf))
    return [replace(run, overlaps=_overlaps(run, ordered)) for run in ordered]


def _paired(attempt: int, starts: Sequence[Statement], ends: Sequence[Statement]) -> list[Run]:
    if len(ends) >= len(starts):
        return [Run(attempt, start, end) for start, end in zip(starts, ends, strict=False)]
    left = list(ends)
    runs: list[Run] = []
    for start in reversed(starts):
        end = left.pop() if left and left[-1].happened_at >= start.happened_at else None
        runs.append(Run(attempt, start, end))
    return runs


def _overlaps(run: Run, others: Sequence[Run]) -> bool:
    return any(_meet(run, other) for other in others if other.start.leaf != run.start.leaf)


def _meet(one: Run, other: Run) -> bool:
    """Tell whether two runs that both ended ran at the same time."""
    if one.end is None or other.end is None:
        return False
    return (
        one.start.happened_at < other.end.happened_at
        and other.start.happened_at < one.end.happened_at
    )
