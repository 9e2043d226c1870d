"""Buses to tell of in tests: messages of a lane, gathered into segments as a tail does it."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Iterable, Iterator
from typing import Any

from events.domain.records import BARE, HOLE, JUNK, PREFIXED, SECOND
from events.domain.rows import Row
from events.domain.segments import Builder, Lane

NINE = 1_791_190_800_000_000
"""2026-10-05 09:00 UTC in microseconds."""
BODY = '{"id":0,"type":"item_updated","workspace_id":"%s","title":"%s","timestamp":1}'


def message(
    number: int, at: float, epoch: str | None = "7", scope: str = "ws-1", title: str = "x"
) -> Row:
    """Give a message, `at` seconds after nine; without an epoch it is bare."""
    body = BODY % (scope, title)
    print_of = hashlib.sha256(f"{scope}{title}{number}".encode()).hexdigest()[:16]
    form = BARE if epoch is None else PREFIXED
    return Row(NINE + round(at * SECOND), form, epoch, number, scope, print_of, len(body), body)


def run(
    numbers: Iterable[int], begin: float, step: float = 1.0, epoch: str | None = "7", **named: Any
) -> list[Row]:
    """Give messages at equal distances of time."""
    return [message(one, begin + place * step, epoch, **named)
            for place, one in enumerate(numbers)]  # fmt: skip


def junk(at: float, scope: str = "ws-1") -> Row:
    """Give a message that cannot be read."""
    moment = NINE + round(at * SECOND)
    return Row(moment, JUNK, None, None, scope, "f" * 16, 12, None, "", "json")


def hole(begin: float, seconds: float) -> Row:
    """Give a time in which the lane was not watched."""
    at = NINE + round(begin * SECOND)
    return Row(at, HOLE, None, None, "", "", round(seconds * SECOND), None, "", "reconnect")


def segments(
    rows: Iterable[Row],
    *,
    bus: str = "activity",
    replica: str = "tail",
    installation: str = "i1",
    profile: str = "generation",
    first: int = 0,
) -> Iterator[dict[str, Any]]:
    """Give the receipts of a lane, in order."""
    incarnation = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{installation}{bus}{replica}{first}"))
    builder = Builder(Lane(installation, bus, replica, profile, incarnation), first)
    for row in rows:
        finished = builder.add(row)
        if finished is not None:
            yield json.loads(finished.raw)
    last = builder.close()
    if last is not None:
        yield json.loads(last.raw)
