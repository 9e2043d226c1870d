"""A tally: one receipt for up to 1,000 ordinary outcomes, or ten seconds of them.

`counts` has a row for each task and queue with the durations' p50, p99 and greatest in ms (nearest
rank). `data.jobs` has a row for each outcome: task, job id, outcome, duration in ms, and its end in
ms after `window.from`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any

from counterfoil import encode, ids
from counterfoil.journal import DONE, RETRIED, Entry
from counterfoil.receipts import SCHEMA

MAX_OUTCOMES = 1_000
MAX_BYTES = 512 * 1024
WINDOW_MS = 10_000
_LAST_MS = 253_402_300_799_999


def is_full(entries: Sequence[Entry], size: int, following: Entry) -> bool:
    """Say whether the next outcome has to begin another tally; `size` is the sum of `size_of`."""
    if len(entries) >= MAX_OUTCOMES or size >= MAX_BYTES:
        return True
    return abs(following.at_ms - entries[0].at_ms) > WINDOW_MS


def size_of(line: bytes) -> int:
    """Give how many bytes an outcome adds to a tally at most: its row, and a row of the counts."""
    # A line is ASCII with all else escaped, which no other way of writing the same makes longer.
    return 2 * len(line) + 120


def line_of(entries: Sequence[Entry], head: Mapping[str, Any]) -> bytes:
    """Give the tally of some outcomes as a line; `head` is that of their journals."""
    begin = min(entry.at_ms for entry in entries)
    window = {"from": _time(begin), "to": _time(max(entry.at_ms for entry in entries))}
    receipt: dict[str, Any] = {
        "schema": SCHEMA,
        "id": ids.v7(),
        "kind": "tally",
        "occurred_at": window["to"],
        "window": window,
        "policy": str(head.get("policy", "")),
        "counts": counts_of(entries),
        "data": {"jobs": [[e.task, e.job, e.outcome, e.ms, e.at_ms - begin] for e in entries]},
    }
    if isinstance(head.get("source"), dict):
        receipt["source"] = head["source"]
    return encode.line_of(receipt)


def counts_of(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """Count the outcomes of each task and queue, in the order of their names."""
    groups: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        groups.setdefault((entry.task, entry.queue), []).append(entry)
    return [_count(*names, groups[names]) for names in sorted(groups)]


def _count(task: str, queue: str, entries: Sequence[Entry]) -> dict[str, Any]:
    durations = sorted(entry.ms for entry in entries)
    return {
        "task": task,
        "queue": queue,
        DONE: sum(entry.outcome == DONE for entry in entries),
        RETRIED: sum(entry.outcome == RETRIED for entry in entries),
        "ms": {"p50": _rank(durations, 50), "p99": _rank(durations, 99), "max": durations[-1]},
    }


def _rank(ordered: Sequence[int], percent: int) -> int:
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


def _time(at_ms: int) -> str:
    # A line that somebody else wrote may hold any number, and a tally must come of it all the same.
    second, ms = divmod(min(max(at_ms, 0), _LAST_MS), 1_000)
    at = dt.datetime.fromtimestamp(second, dt.timezone.utc)
    return f"{at:%Y-%m-%dT%H:%M:%S}.{ms:03d}000Z"
