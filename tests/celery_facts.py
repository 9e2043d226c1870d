"""Receipts as the Celery module of the client writes them, for stories; chance picks which."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from ledger.domain.leaf import rfc3339

Body = dict[str, Any]
TASKS = ("mail.send", "payouts.send", "health.ping")
OUTCOMES = ("done", "done", "retried")
NUMBERS = tuple(f"task-{number}" for number in range(5))


def fact(chance: random.Random, now: datetime) -> Body:
    """Make one of the facts of Celery, about one of a few tasks and jobs."""
    return chance.choice(FACTS)(chance, now)


def body(kind: str, now: datetime, job: Body, **members: Any) -> Body:
    source = {"system": "celery", "instance": "shop", "via": "signal"}
    at = members.pop("occurred_at", rfc3339(now))
    return {"kind": kind, "occurred_at": at, "source": source, "job": job, **members}


def job_of(chance: random.Random, **members: Any) -> Body:
    number, attempt = chance.choice(NUMBERS), chance.choice((1, 1, 2))
    named = {"task": chance.choice(TASKS), "queue": "celery", "id": number, "attempt": attempt}
    return {**named, **members}


def lock(chance: random.Random, recipe: str) -> Body:
    return {"recipe": recipe, "fields": {"task": "payouts.send", "user": chance.choice((1, 2))}}


def work(chance: random.Random, now: datetime) -> Body:
    kind = chance.choice(("enqueue", "start", "done", "deliver"))
    job = job_of(chance)
    if kind == "deliver":
        job["redelivered"] = chance.random() < 0.5
    key = {"key": lock(chance, "celery.once")} if kind == "enqueue" else {}
    earlier = now - timedelta(seconds=chance.choice((0, 0, 90)))
    return body(kind, now, job, occurred_at=rfc3339(earlier), **key)


def trouble(chance: random.Random, now: datetime) -> Body:
    kind, reason = chance.choice(
        (
            ("fail", "failed"), ("fail", "worker_lost"), ("retry", None), ("retry", "swallowed"),
            ("retry", "requeued"), ("discard", "rejected"), ("revoke", "asked"),
            ("revoke", "effected"), ("skip", None), ("skip", "expired"),
        )
    )  # fmt: skip
    rule = {"rule": {"name": "celery.expires"}} if reason == "expired" else {}
    return body(kind, now, job_of(chance), **({"reason": reason} if reason else {}), **rule)


def turned_away(chance: random.Random, now: datetime) -> Body:
    """A skip of a lock library, or of a guard of the task's own that compares a key."""
    job = {"task": chance.choice(TASKS)}
    recipe = chance.choice(("celery.once", "celery.singleton", "own.guard"))
    given: Body = {"reason": "in_flight", "key": lock(chance, recipe)}
    if recipe == "celery.singleton" or chance.random() < 0.3:
        given["original"] = {"job": chance.choice((*NUMBERS, "task-that-left-nothing"))}
    return body("skip", now, job, **given)


def tally(chance: random.Random, now: datetime) -> Body:
    task = chance.choice(TASKS)
    rows = [[task, chance.choice(NUMBERS), chance.choice(OUTCOMES), 12] for _ in range(3)]
    counts = {name: sum(row[2] == name for row in rows) for name in ("done", "retried")}
    window = {"from": rfc3339(now - timedelta(seconds=10)), "to": rfc3339(now)}
    given = {"window": window, "policy": "1", "counts": [{"task": task, **counts}]}
    data = {"data": {"jobs": rows}} if chance.random() < 0.95 else {}
    return {**body("tally", now, {}, **given), **data}


def policy(chance: random.Random, now: datetime) -> Body:
    lists = chance.choice(
        (
            {"version": "1", "tally": ["*"]},
            {"version": "2", "each": ["payouts.*"], "tally": ["*"], "never": ["health.*"]},
            {"version": "3", "each": ["*"]},
        )
    )
    earlier = now - timedelta(seconds=chance.choice((0, 0, 4_000)))
    return body("observe", now, {}, occurred_at=rfc3339(earlier), what="policy", **lists)


def seen_tasks(chance: random.Random, now: datetime) -> Body:
    ways = chance.choice((["signals"], ["signals", "once"]))
    tasks = [{"task": task, "sees": ways} for task in TASKS[:2]]
    return body("observe", now, {}, what="tasks", celery="5.6.0", tasks=tasks)


FACTS: tuple[Callable[[random.Random, datetime], Body], ...] = (
    work, work, trouble, turned_away, turned_away, tally, policy, seen_tasks,
)  # fmt: skip
FIRST = (policy, tally)
"""What every story begins with, so that none lacks them."""
