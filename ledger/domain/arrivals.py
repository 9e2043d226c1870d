"""What an `arrived` receipt of our own says: which numbers of a spool came, and since when.

The ranges of one receipt are sorted, do not touch, and each has the time of its earliest arrival,
so that whoever folds them knows when a number above a hole had come.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ledger.domain import plain
from ledger.domain.arrival import MAX_NUMBER
from ledger.domain.leaf import rfc3339
from ledger.domain.statement import Statement

WHAT = "arrived"
MOST_RANGES = 1_000
"""Ranges of one receipt; a spool with more holes than that gets several receipts."""


@dataclass(frozen=True, slots=True, order=True)
class Run:
    """Numbers `first` to `last` that came together, or touching, at `at` at the earliest."""

    first: int
    last: int
    at: datetime


@dataclass(frozen=True, slots=True)
class Arrived:
    """An `arrived` receipt as it was read.

    `began` is when the spool's first line happened, if that is among them. `conflicts` of the
    numbers came with an id that stood for another content already.
    """

    spool: str
    runs: tuple[Run, ...]
    last_at: datetime
    replayed: int
    token: int | None
    began: datetime | None = None
    conflicts: int = 0


def merge(runs: Iterable[Run]) -> list[Run]:
    """Join runs that overlap or touch, each with the earliest time of its parts."""
    merged: list[Run] = []
    for run in sorted(runs):
        if merged and run.first <= merged[-1].last + 1:
            before = merged[-1]
            end, at = max(before.last, run.last), min(before.at, run.at)
            merged[-1] = Run(before.first, end, at)
        else:
            merged.append(run)
    return merged


def bodies(
    spool: str,
    runs: Iterable[Run],
    last_at: datetime,
    replayed: int,
    token: int | None,
    began: datetime | None = None,
    conflicts: int = 0,
) -> Iterator[dict[str, Any]]:
    """Give the bodies that tell of what arrived of one spool, without their ids."""
    merged = merge(runs)
    for start in range(0, len(merged), MOST_RANGES):
        part = merged[start : start + MOST_RANGES]
        yield {
            "schema": "counterfoil.receipt/1",
            "kind": "observe",
            "what": WHAT,
            "occurred_at": rfc3339(last_at),
            "source": {"system": "counterfoil", "via": "client"},
            "spool": spool,
            "ranges": [[str(run.first), str(run.last)] for run in part],
            "since": [rfc3339(run.at) for run in part],
            # All receipts of one spool tell the number once, so that a sum over them is right.
            "replayed": replayed if start == 0 else 0,
            **({"conflicts": conflicts} if conflicts and start == 0 else {}),
            **({} if token is None else {"sender": str(token)}),
            **({} if began is None or start else {"began": rfc3339(began)}),
        }


def own_id(key: bytes, number: str) -> str:
    """Give the id of an `arrived` receipt; only who has the project's key can make one."""
    return f"{WHAT}:{number}:{_digest(key, number)}"


def is_own(statement: Statement, key: bytes) -> bool:
    """Tell a receipt of ours from what a producer says of arrivals, which counts for nothing."""
    word, _, rest = statement.id_text.partition(":")
    number, _, digest = rest.partition(":")
    is_named = statement.what == WHAT and statement.token_id is None and word == WHAT
    return is_named and hmac.compare_digest(digest.encode(), _digest(key, number).encode())


def read(statement: Statement) -> Arrived | None:
    """Read an `arrived` receipt of ours; None for one that names no range."""
    body = statement.body
    spool = plain.name_of(body.get("spool"))
    runs = tuple(merge(_runs(body, statement.happened_at)))
    if not spool or not runs:
        return None
    replayed = plain.integer_of(body.get("replayed")) or 0
    token = plain.integer_of(body.get("sender"))
    began = plain.time_of(body.get("began"))
    conflicts = plain.integer_of(body.get("conflicts")) or 0
    return Arrived(spool, runs, statement.happened_at, replayed, token, began, conflicts)


def _runs(body: Mapping[str, object], otherwise: datetime) -> Iterator[Run]:
    since = plain.list_of(body.get("since"))
    for at, pair in enumerate(plain.list_of(body.get("ranges"))):
        numbers = _pair(plain.list_of(pair))
        if numbers is not None:
            told = plain.time_of(since[at]) if at < len(since) else None
            yield Run(*numbers, told or otherwise)


def _pair(pair: Sequence[object]) -> tuple[int, int] | None:
    if len(pair) != 2 or not all(isinstance(one, str) and one.isdecimal() for one in pair):
        return None
    first, last = (int(str(one)) for one in pair)
    return (first, last) if 1 <= first <= last <= MAX_NUMBER else None


def _digest(key: bytes, number: str) -> str:
    return hmac.digest(key, f"{WHAT}\0{number}".encode(), "sha256").hex()[:32]
