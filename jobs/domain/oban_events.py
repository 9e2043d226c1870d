"""Telemetry of Oban and statifier_oban as receipts (contract.md section 2a).

An event is a plain object, as the handler of docs/how-to/oban.md reads it from the metadata:
`event` (`oban.insert_job.stop`, `oban.insert_all_jobs.stop`, `oban.plugin.stop`, or the last two
parts of a statifier_oban event, such as `invoke.enqueued`) and `at`. What was asked for is `args`,
`meta`, `worker`, `queue` and `unique` of the changeset, or scope, invoke_id, macrostep, … by
themselves; what came of it is `conflict`, `job_id` and `state` of the job.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from jobs.domain import oban_unique
from jobs.domain.oban_statifier import CHILD, INVOKE, TIMER, WORKERS, call_of, present, timer_of
from jobs.domain.oban_values import moment_of, text_of, whole_of
from ledger.domain import plain

SCHEMA = "counterfoil.receipt/1"
SYSTEM = "oban"
TERMINAL = frozenset({"completed", "discarded", "cancelled"})
INSERTS = frozenset({"oban.insert_job.stop", "invoke.enqueued", "timer.scheduled"})
_ONE_JOB = {
    "invoke.delivered": "deliver",
    "timer.fired": "deliver",
    "invoke.discarded": "discard",
    "timer.discarded": "discard",
    "invoke.failed": "fail",
}
_OBSERVED = frozenset(
    {"deferred", "fan_out", "child_started", "unstarted_cancelled", "enqueue_rejected",
     "schedule_rejected"}
)  # fmt: skip
_SWEEPS = {"pruned": "prune", "rescued": "rescue", "discarded": "discard"}

Event = Mapping[str, Any]
Members = dict[str, Any]


def event_receipt(event: Event, *, instance: str = "") -> Members:
    """Return the receipt of one telemetry event; without an instance, the token's will do."""
    name = text_of(event.get("event")) or ""
    source = {"system": SYSTEM, "instance": instance or None, "via": "telemetry"}
    return {
        "schema": SCHEMA,
        **present({"id": text_of(event.get("id")), "occurred_at": moment_of(event.get("at"))}),
        "source": present(source),
        **_told(name)(name, _flat(event)),
        "data": present({"event": name, "reason": event.get("reason")}),
    }


def _told(name: str) -> Callable[[str, Event], Members]:
    if name in INSERTS:
        return _insert
    if name == "oban.insert_all_jobs.stop":
        return _insert_unchecked
    if name in _ONE_JOB:
        return _one_job
    if name.endswith(".cancelled"):
        return _cancel
    return _sweep if name.startswith("oban.") else _observe


def _flat(event: Event) -> Event:
    """Take what a Statifier worker's arguments say beside the event's own members."""
    args = event.get("args")
    is_ours = text_of(event.get("worker")) in WORKERS and isinstance(args, Mapping)
    return {**plain.object_of(args), **event} if is_ours else event


def _insert(name: str, event: Event) -> Members:
    job = {"task": _task(name, event), "queue": text_of(event.get("queue"))}
    if not event.get("conflict"):
        job = {"id": text_of(event.get("job_id")), **job, "state": text_of(event.get("state"))}
        return {"kind": "enqueue", "job": present(job), **_identity(name, event)}
    number, state = text_of(event.get("job_id")), text_of(event.get("state"))
    return {
        "kind": "skip",
        "job": present(job),
        "reason": _reason(number, state),
        "original": None if number is None else {"job": number},
        **present({"original_state": None if number is None else state}),
        **_identity(name, event),
    }


def _reason(number: str | None, state: str | None) -> str:
    if number is None:
        return "lock_contended"
    if state is None:
        return "unknown"
    return "already_done" if state in TERMINAL else "in_flight"


def _insert_unchecked(name: str, event: Event) -> Members:
    told = _insert("oban.insert_job.stop", {**event, "conflict": False})
    return {**told, "key": {"recipe": oban_unique.RECIPE, "checked": False}}


def _one_job(name: str, event: Event) -> Members:
    return {"kind": _ONE_JOB[name], **_of_job(name, event), **_identity(name, event)}


def _cancel(name: str, event: Event) -> Members:
    return {"kind": "cancel", "jobs": _jobs(event, "rows"), **_identity(name, event)}


def _observe(name: str, event: Event) -> Members:
    what = name.rpartition(".")[2]
    jobs = {"jobs": _jobs(event, "rows")} if "count" in event else {}
    told = {"what": what if what in _OBSERVED else "telemetry", **_of_job(name, event), **jobs}
    return {"kind": "observe", **told, **_identity(name, event)}


def _sweep(name: str, event: Event) -> Members:
    listed = next((word for word in _SWEEPS if word in event), None)
    if listed is None:
        return {"kind": "observe", "what": "telemetry"}
    return {"kind": _SWEEPS[listed], "jobs": _jobs(event, listed)}


def _of_job(name: str, event: Event) -> Members:
    number = text_of(event.get("job_id"))
    job = {"id": number, "task": _task(name, event), "queue": text_of(event.get("queue"))}
    return {"job": present(job)}


def _jobs(event: Event, listed: str) -> Members:
    ids = [text for one in plain.list_of(event.get(listed)) if (text := text_of(one))]
    count = whole_of(event.get("count"))
    return {"count": len(ids) if count is None else count, "ids": ids}


def _task(name: str, event: Event) -> str:
    given = text_of(event.get("worker"))
    if given is not None:
        return given
    if name.startswith("timer.") or "ordinal" in event:
        return TIMER
    return CHILD if "index" in event else INVOKE


def _identity(name: str, event: Event) -> Members:
    task = _task(name, event)
    if task == TIMER:
        return timer_of(event)
    if task in WORKERS:
        return call_of(event, is_child=task == CHILD, is_old_key=_is_old_key(event))
    key = oban_unique.key_of(event)
    return {"key": key} if key else {}


def _is_old_key(event: Event) -> bool:
    """Tell whether the key lacked the generation, by the era that is named or the keys compared."""
    keys = plain.list_of(plain.object_of(event.get("unique")).get("keys"))
    return event.get("key_era") == "0.1" or (bool(keys) and "macrostep" not in keys)
