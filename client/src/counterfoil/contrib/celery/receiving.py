"""What a worker's main process sees: deliveries, what it drops, and what it fails by itself."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any

from counterfoil import policy
from counterfoil.contrib.celery import lines, messages
from counterfoil.contrib.celery.writing import writer

EXPIRES = {"name": "celery.expires"}

# What a signal about a failure leaves out (queue, attempt) is read from the request that it is
# about, for as long as the worker itself keeps that.
_requests: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
_failed: dict[str, tuple[int, str]] = {}
_MAX_FAILED = 10_000


def on_received(request: Any = None, **_: Any) -> None:
    """Record a delivery (`task_received`); one that came before is kept under every policy."""
    call = messages.call_of_delivery(request)
    _requests[call.id] = request
    _failed.pop(call.id, None)
    writes = writer()
    choice = writes.choice(call.task)
    if choice != policy.EACH and (choice == policy.NEVER or not call.redelivered):
        return
    trace = messages.trace_of(request.request_dict)
    writes.write_plain(
        "deliver",
        "task_received",
        call,
        str(request.hostname),
        job=',"redelivered":true' if call.redelivered else ',"redelivered":false',
        more=f',"trace":{lines.source_of(trace)}' if trace is not None else "",
    )


def on_revoked(
    request: Any = None, terminated: Any = None, signum: Any = None, expired: Any = None, **_: Any
) -> None:
    """Record that a worker dropped or ended a call (`task_revoked`)."""
    call = messages.call_of_request(request)
    worker = str(getattr(request, "hostname", "") or "")
    name, data = (call.id, str(call.retries), worker), {"worker": worker}
    if expired:
        expires = getattr(request, "expires", None)
        if expires:
            data["expires"] = str(expires)
        skip = {"job": call.job(), "reason": "expired", "rule": EXPIRES}
        writer().write("skip", "task_revoked", skip, data, name=name, durable=True)
        return
    revoked = {"terminated": bool(terminated), "signum": None if signum is None else str(signum)}
    fields = {"job": call.job(), "reason": "effected", "revoked": revoked}
    writer().write("revoke", "task_revoked", fields, data, name=name)


def on_unknown(message: Any = None, name: Any = None, id: Any = None, **_: Any) -> None:
    """Record a message that a worker drops because it has no such task (`task_unknown`)."""
    told = _headers_of(message)
    job = {"task": name or told.get("task"), "id": id or told.get("id")}
    _discard("task_unknown", "unknown_task", job, message, told)


def on_rejected(message: Any = None, exc: Any = None, **_: Any) -> None:
    """Record a message that is no call of a task (`task_rejected`)."""
    told = _headers_of(message)
    _discard("task_rejected", "undecodable", told, message, told, exc)


def on_undecodable(message: Any, exc: Any) -> None:
    """Record a message whose body cannot be decoded, of which no signal tells."""
    told = _headers_of(message)
    _discard("on_decode_error", "undecodable", told, message, told, exc)


def fail(event: str, task: Any, call_id: str, exception: BaseException, reason: str) -> None:
    """Record a failure that the main process saw: the child is lost, late, or rejected it."""
    request = _requests.get(call_id)
    call = messages.call_of_delivery(request) if request is not None else None
    retries = call.retries if call is not None else -1
    # A hard time limit is told twice by some versions: at its bound, and when the child is gone.
    if _failed.get(call_id) == (retries, reason):
        return
    if len(_failed) >= _MAX_FAILED:
        _failed.clear()
    _failed[call_id] = (retries, reason)
    job = call.job() if call is not None else {"task": task.name, "id": str(call_id)}
    writes = writer()
    fields = {"job": job, "reason": reason, "error": writes.client.error(exception)}
    worker = str(request.hostname) if request is not None else ""
    name = (call_id, str(retries), worker)
    writes.write("fail", event, fields, {"seen_by": "main"}, name=name)


def _discard(
    event: str, reason: str, named: Mapping[str, Any], message: Any, told: Any, exc: Any = None
) -> None:
    info = getattr(message, "delivery_info", None) or {}
    queue = messages.queue_of(info.get("exchange"), info.get("routing_key"))
    job: dict[str, Any] = {m: str(named[m]) for m in ("task", "id") if named.get(m)}
    if "retries" in told:
        job["attempt"] = messages.number(told["retries"]) + 1
    if queue:
        job["queue"] = queue
    writes = writer()
    fields = {
        "job": job,
        "reason": reason,
        "error": writes.client.error(exc) if isinstance(exc, BaseException) else None,
    }
    name = (job.get("id", ""), reason, str(info.get("delivery_tag") or ""))
    writes.write("discard", event, fields, name=name)


def _headers_of(message: Any) -> Mapping[str, Any]:
    found = getattr(message, "headers", None)
    return found if isinstance(found, Mapping) else {}
