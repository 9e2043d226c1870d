"""Receipts as the Celery module of the client writes them, and what the ledger makes of each."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from ledger.domain.statement import Statement
from tests.unit.ledger.shelf import at, make

SHOP = {"system": "celery", "instance": "shop", "via": "signal"}
SOON = at("09:01")
EXPIRES = {"name": "celery.expires"}


def told(leaf: int, kind: str, clock: str | None = None, **more: Any) -> Statement:
    """Make a receipt about the task 3f0c, attempt 1, unless `job` says otherwise."""
    job = {"task": "mail.send", "id": "3f0c", "queue": "celery", "attempt": 1}
    given = {"job": {**job, **more.pop("job", {})}, "source": SHOP, **more}
    return make(leaf, kind, clock, **given)


def turned_away(leaf: int, clock: str | None = None, **more: Any) -> Statement:
    """Make a skip of a lock library, which happens before there is a job."""
    given = {"job": {"task": "mail.send"}, "source": SHOP, "reason": "in_flight", **more}
    return make(leaf, "skip", clock, **given)


def policy(leaf: int, clock: str | None = None, **lists: Any) -> Statement:
    return make(leaf, "observe", clock, source=SHOP, what="policy", **lists)


def tally(leaf: int, clock: str | None = None, **more: Any) -> Statement:
    return make(leaf, "tally", clock, source=SHOP, **more)


def once(user: int = 1) -> dict[str, Any]:
    return {"recipe": "celery.once", "fields": {"task": "mail.send", "user": user}}


SINGLETON = {"recipe": "celery.singleton", "fields": {"task": "mail.send"}}
OF_3F0C = {"original": {"job": "3f0c"}, "key": SINGLETON}
SAID = "the producer says that job 3f0c (mail.send)"

CASES: dict[str, tuple[list[Statement], datetime, str, str]] = {
    "a delivery": (
        [told(0, "deliver", job={"redelivered": False})], SOON, "delivery.first",
        f"Handed to a worker: {SAID} was handed to a worker, attempt 1.",
    ),
    "a redelivery, by the broker's word": (
        [told(0, "deliver", job={"redelivered": True})], SOON, "delivery.again",
        f"Handed out again: {SAID} was handed to a worker, attempt 1.",
    ),
    "a worker that was lost": (
        [told(0, "fail", reason="worker_lost")], SOON, "fail.worker_lost",
        f"Failed, because its worker was lost: {SAID} was tried and did not succeed, attempt 1.",
    ),
    "a time limit": (
        [told(0, "fail", reason="time_limit")], SOON, "fail.time_limit",
        "Failed, because it took longer than it may: the producer says that job 3f0c (mail.send) "
        "was tried and did not succeed, attempt 1.",
    ),
    "a failure after a rejection": (
        [told(0, "fail", reason="rejected")], SOON, "fail.rejected",
        f"Failed, because it was rejected: {SAID} was tried and did not succeed, attempt 1.",
    ),
    "any other failure": (
        [told(0, "fail", reason="failed")], SOON, "fail",
        f"Failed: {SAID} was tried and did not succeed, attempt 1.",
    ),
    "a retry": (
        [told(0, "retry")], SOON, "retry", f"To run again: {SAID} is tried again, attempt 1.",
    ),
    "a swallowed retry": (
        [told(0, "retry", reason="swallowed")], SOON, "retry.swallowed",
        "Asked to run again, and nothing was published: the producer says that job 3f0c "
        "(mail.send) asked to run again, and that it published no message after that, attempt 1.",
    ),
    "a task that was put back": (
        [told(0, "retry", reason="requeued")], SOON, "retry.requeued",
        f"Put back on its queue: {SAID} was rejected and put back, attempt 1.",
    ),
    "a task that was rejected": (
        [told(0, "discard", reason="rejected")], SOON, "discard.rejected",
        f"Rejected by its own code: {SAID} was discarded.",
    ),
    "a message of an unknown task": (
        [told(0, "discard", reason="unknown_task")], SOON, "discard.unknown_task",
        f"Dropped, because no worker knew its task: {SAID} was discarded.",
    ),
    "a message that cannot be read": (
        [make(0, "discard", source=SHOP, reason="undecodable")], SOON, "discard.undecodable",
        "Dropped, because its message could not be read: the producer says that the work was "
        "discarded.",
    ),
    "a revoke that was asked for": (
        [told(0, "revoke", reason="asked")], SOON, "revoke.asked",
        f"A revoke was asked for: {SAID} is to be revoked.",
    ),
    "a revoke that came into effect": (
        [told(0, "revoke", reason="effected", revoked={"terminated": True, "signum": 15})], SOON,
        "revoke.effected", f"Revoked: {SAID} was revoked, attempt 1, by ending its process.",
    ),
    "an expired task": (
        [told(0, "skip", reason="expired", rule=EXPIRES)], SOON, "skip.expired",
        "Skipped because it had expired: rule celery.expires.",
    ),
    "an ignored task": (
        [told(0, "skip")], SOON, "skip.unexplained",
        "Skipped, and nothing explains it: it gives no reason and names no original.",
    ),
    "celery-once, found by its key": (
        [told(0, "enqueue", key=once()), turned_away(1, key=once())], SOON, "skip.in_flight",
        "Skipped because it was in flight: job 3f0c, found by its key, is still running by all "
        "that is recorded.",
    ),
    "celery-once, of the job that took the lock last": (
        [
            told(0, "enqueue", job={"id": "2a"}, key=once()), told(1, "done", job={"id": "2a"}),
            told(2, "enqueue", key=once()), turned_away(3, key=once()),
        ], SOON, "skip.in_flight",
        "Skipped because it was in flight: job 3f0c, found by its key, is still running by all "
        "that is recorded.",
    ),
    "celery-singleton, while its original runs": (
        [told(0, "enqueue", key=SINGLETON), told(1, "start"), turned_away(2, **OF_3F0C)], SOON,
        "skip.in_flight",
        "Skipped because it was in flight: job 3f0c is still running by all that is recorded.",
    ),
    "celery-singleton, whose original ended at about the time": (
        [told(0, "enqueue"), told(1, "done", "09:10"), turned_away(2, "09:10:20", **OF_3F0C)],
        SOON, "skip.in_flight", "Skipped because it was in flight; job 3f0c is done by now.",
    ),
    "celery-singleton, whose original was done and kept its lock": (
        [told(0, "enqueue"), told(1, "done", "09:10"), turned_away(2, "09:20", **OF_3F0C)],
        SOON, "skip.already_done",
        "Skipped because it was already done, though it was said to be in flight: job 3f0c is "
        "done.",
    ),
    "celery-singleton, whose original was revoked and kept its lock": (
        [told(0, "enqueue"), told(1, "revoke", reason="effected"), turned_away(2, **OF_3F0C)],
        SOON, "skip.original_failed",
        "Skipped, but its original did not succeed: job 3f0c was cancelled.",
    ),
    "celery-singleton, whose original is only to be revoked": (
        [told(0, "enqueue"), told(1, "revoke", reason="asked"), turned_away(2, **OF_3F0C)],
        SOON, "skip.in_flight",
        "Skipped because it was in flight: job 3f0c is still running by all that is recorded.",
    ),
    "celery-singleton, whose original swallowed its own retry": (
        [told(0, "enqueue"), told(1, "retry", reason="swallowed"), turned_away(2, **OF_3F0C)],
        SOON, "skip.original_failed",
        "Skipped, but its original did not succeed: job 3f0c failed.",
    ),
    "celery-singleton, whose original expired": (
        [told(0, "enqueue"), told(1, "skip", reason="expired"), turned_away(2, **OF_3F0C)],
        SOON, "skip.original_failed",
        "Skipped, but its original did not succeed: job 3f0c was cancelled.",
    ),
    "celery-singleton, whose original was only handed out": (
        [told(0, "deliver"), turned_away(1, **OF_3F0C)], SOON, "skip.in_flight",
        "Skipped because it was in flight: job 3f0c is still running by all that is recorded.",
    ),
    "an original that a policy leaves out": (
        [policy(0, version="3", never=["mail.*"]), turned_away(1, original={"job": "3f0c"})],
        SOON, "skip.in_flight",
        "Skipped, said to be in flight; job 3f0c is not on record: policy 3 of celery/shop "
        "(№0) keeps no ordinary outcomes of mail.send.",
    ),
}  # fmt: skip
