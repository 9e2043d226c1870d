"""How often each attempt of a job was handed to a worker and begun, and which came first.

A queue that hands out a message at least once may do so again for the same attempt; the ledger
ranks them by when they happened. Of each attempt only the first and the count are kept, so that
a job which is handed out a thousand times stays one small row.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime

from jobs.domain.attempts import micros, moment

DELIVERY, EXECUTION = "d", "s"
MOST = 200
"""Attempts that are told apart; of later ones nothing is known to have come before."""


@dataclass(frozen=True, slots=True)
class First:
    """The first delivery or execution of one attempt, and how many there are."""

    at: datetime
    leaf: int
    count: int


def read(text: str) -> dict[str, First]:
    """Read what is kept of a job, by `d` or `s` and the attempt."""
    kept = json.loads(text) if text else {}
    return {name: First(moment(at), leaf, count) for name, (at, leaf, count) in kept.items()}


def write(known: dict[str, First]) -> str:
    """Write what is kept of a job."""
    kept = {name: [micros(one.at), one.leaf, one.count] for name, one in sorted(known.items())}
    return json.dumps(kept, separators=(",", ":")) if kept else ""


def name_of(sort: str, attempt: int | None) -> str:
    """Name the deliveries or the executions of one attempt; one that is not told is the first."""
    return f"{sort}{1 if attempt is None else attempt}"


def note(text: str, name: str, at: datetime, leaf: int) -> tuple[str, int | None]:
    """Note one more, and give the leaf that was the first until now and is no more."""
    known = read(text)
    first = known.get(name)
    if first is None:
        if len(known) < MOST:
            known[name] = First(at, leaf, 1)
        return write(known), None
    is_earlier = (at, leaf) < (first.at, first.leaf)
    known[name] = First(*((at, leaf) if is_earlier else (first.at, first.leaf)), first.count + 1)
    return write(known), first.leaf if is_earlier else None


def before(text: str, name: str, leaf: int) -> First | None:
    """Return the first one of an attempt, unless it is the very receipt at `leaf`."""
    first = read(text).get(name)
    return None if first is None or first.leaf == leaf else first
