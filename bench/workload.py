"""Receipts as an ordinary producer sends them: about 400 bytes, half of them skips."""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

BATCH = 1_000
TASKS = ("payouts.send", "mail.send", "invoices.render", "search.index", "webhooks.deliver")


def iter_receipts(
    seed: int, start: datetime | None = None, step: timedelta = timedelta(milliseconds=1)
) -> Iterator[bytes]:
    """Give receipts without end: a done, then a skip that points back or names a rule.

    Of four skips two name the receipt of a done among the last hundred, one names its job, and
    one was rate limited by a named rule. The same seed gives the same bodies. A pair happens each
    `step` from `start` on, an hour ago.
    """
    draw = random.Random(seed)
    start = start or datetime.now(UTC) - timedelta(hours=1)
    dones: list[dict[str, Any]] = []
    number = 0
    while True:
        number += 1
        at = (start + step * number).isoformat()
        done = _done(draw, number, at)
        dones = [*dones[-99:], done]
        yield _write(done)
        yield _write(_skip(draw, number, at, draw.choice(dones)))


def iter_batches(seed: int, size: int = BATCH) -> Iterator[bytes]:
    """Give NDJSON bodies of `size` receipts each."""
    receipts = iter_receipts(seed)
    while True:
        yield b"\n".join(next(receipts) for _ in range(size)) + b"\n"


def _done(draw: random.Random, number: int, at: str) -> dict[str, Any]:
    payout = str(draw.randrange(10**6))
    task = draw.choice(TASKS)
    return {
        "schema": "counterfoil.receipt/1",
        "id": _uuid(draw),
        "kind": "done",
        "occurred_at": at,
        "job": {"id": str(number), "task": task, "queue": task.split(".")[0], "attempt": 1},
        "subjects": [{"type": "payout", "id": f"PO-{payout}"}],
        "key": {"recipe": "payout", "version": "2", "fields": {"task": task, "payout": payout}},
        "source": {"system": "celery", "instance": "bench", "via": "client"},
    }


def _skip(draw: random.Random, number: int, at: str, original: dict[str, Any]) -> dict[str, Any]:
    skip = {
        "schema": "counterfoil.receipt/1",
        "id": _uuid(draw),
        "kind": "skip",
        "occurred_at": at,
        "job": {"task": original["job"]["task"], "queue": original["job"]["queue"]},
        "subjects": original["subjects"],
        "source": original["source"],
    }
    case = number % 4
    if case == 0:
        rule = {"name": "payouts.per_minute", "version": "7", "text": "At most 60 a minute."}
        return {**skip, "reason": "rate_limited", "rule": rule}
    names_job = case == 1
    pointer = {"job": original["job"]["id"]} if names_job else {"receipt": original["id"]}
    return {**skip, "key": original["key"], "reason": "already_done", "original": pointer}


def _uuid(draw: random.Random) -> str:
    return str(uuid.UUID(int=draw.getrandbits(128), version=4))


def _write(body: dict[str, Any]) -> bytes:
    return json.dumps(body, separators=(",", ":")).encode("ascii")
