"""Attempts and what they come to, seen where the task runs."""

from __future__ import annotations

from typing import Any

from billiard.exceptions import SoftTimeLimitExceeded, TimeLimitExceeded, WorkerLostError
from celery import states
from celery.exceptions import Reject

from counterfoil import policy
from counterfoil.contrib.celery import attempts, messages, receiving
from counterfoil.contrib.celery.attempts import Attempt
from counterfoil.contrib.celery.writing import function_of, writer

_REPLACED = "Replaced by new task"
_internal: set[str] = set()


def on_begun(
    task_id: Any = None, task: Any = None, args: Any = None, kwargs: Any = None, **_: Any
) -> None:
    """Record that an attempt begins (`task_prerun`)."""
    writes = writer()
    request = task.request
    call = messages.call_of_request(request, task.name, str(task_id))
    attempt = Attempt(call, writes.choice(task.name), task, args, kwargs)
    attempt.worker = str(getattr(request, "hostname", None) or "")
    attempt.is_eager = bool(getattr(request, "is_eager", False))
    attempt.subjects = writes.subjects(task.name, args, kwargs, function_of(task))
    attempts.begin(attempt, writes.own_source)
    if not _is_kept(attempt):
        return
    if _is_plain(attempt):
        writes.write_plain("start", "task_prerun", call, attempt.worker)
    else:
        _write("start", "task_prerun", attempt, {})


def on_succeeded(sender: Any = None, result: Any = None, **_: Any) -> None:
    """Record that an attempt succeeded (`task_success`)."""
    attempt = attempts.current(sender.request.id)
    if attempt is None:
        return
    took_ms = round(attempt.took_ms)
    if _is_kept(attempt) and result is None and _is_plain(attempt):
        more = f',"took_ms":{took_ms}'
        writer().write_plain("done", "task_success", attempt.call, attempt.worker, more=more)
    elif _is_kept(attempt):
        data = {} if result is None else {"result": writer().client.described(result)}
        _write("done", "task_success", attempt, {"took_ms": took_ms}, data)
    elif attempt.choice == policy.TALLY:
        writer().tally(attempt.call, "done", attempt.took_ms)


def on_failed(sender: Any = None, task_id: Any = None, exception: Any = None, **_: Any) -> None:
    """Record a failure (`task_failure`), told by the child or by the worker's main process."""
    if task_id in _internal:
        _internal.discard(task_id)
        return
    attempt = attempts.current(task_id)
    reason = reason_of(exception)
    if attempt is None:
        receiving.fail("task_failure", sender, str(task_id), exception, reason)
        return
    fields = {
        "reason": reason,
        "error": _error_of(exception),
        "took_ms": round(attempt.took_ms),
    }
    _write("fail", "task_failure", attempt, fields)


def on_internal_error(
    sender: Any = None, task_id: Any = None, request: Any = None, exception: Any = None, **_: Any
) -> None:
    """Record that Celery itself failed around a task (`task_internal_error`)."""
    told = request if isinstance(request, dict) else {}
    info = told.get("delivery_info") or {}
    queue = messages.queue_of(info.get("exchange"), info.get("routing_key"))
    call = messages.Call(sender.name, str(task_id), messages.number(told.get("retries")), queue)
    # What follows is the same failure, told once more by `task_failure`.
    _internal.clear()
    _internal.add(str(task_id))
    fields = {"job": call.job(), "reason": "failed", "error": _error_of(exception)}
    name = (call.id, str(call.retries), str(told.get("hostname") or ""))
    writer().write("fail", "task_internal_error", fields, name=name)


def on_retried(sender: Any = None, request: Any = None, reason: Any = None, **_: Any) -> None:
    """Note a retry until its attempt ends (`task_retry`), or record the main process's own."""
    attempt = attempts.current(request.id)
    error = getattr(reason, "exc", None)
    if attempt is not None:
        attempt.retry_error = error
        return
    # The main process has published it again, or, without a reason, lost its connection and leaves
    # the message to the broker.
    call = messages.call_of_request(request, sender.name)
    fields = {
        "job": call.job(),
        "reason": None if reason is not None else "requeued",
        "error": _error_of(error),
    }
    name = (call.id, str(call.retries), str(getattr(request, "hostname", "") or ""))
    writer().write("retry", "task_retry", fields, {"seen_by": "main"}, name=name)


def on_ended(task_id: Any = None, retval: Any = None, state: Any = None, **_: Any) -> None:
    """Record what no other signal tells, now that the attempt is over (`task_postrun`)."""
    attempt = attempts.current(str(task_id))
    if attempt is None:
        return
    attempts.end(attempt)
    if state == states.RETRY:
        _retried(attempt)
    elif state == states.IGNORED:
        _ignored(attempt, retval)
    elif state == states.REJECTED:
        _rejected(attempt, retval)


def reason_of(exception: BaseException) -> str:
    """Give why a task failed: worker_lost, time_limit, rejected, or failed for all else."""
    if isinstance(exception, WorkerLostError):
        return "worker_lost"
    if isinstance(exception, (SoftTimeLimitExceeded, TimeLimitExceeded)):
        return "time_limit"
    return "rejected" if isinstance(exception, Reject) else "failed"


def _retried(attempt: Attempt) -> None:
    fields: dict[str, Any] = {"error": _error_of(attempt.retry_error)}
    if not attempt.is_published_again:
        # Nobody will run it again, although it said so: this must not get lost.
        fields["reason"] = "swallowed"
        _write("retry", "task_retry", attempt, fields, durable=True)
    elif _is_kept(attempt):
        _write("retry", "task_retry", attempt, fields)
    elif attempt.choice == policy.TALLY:
        writer().tally(attempt.call, "retried", attempt.took_ms)


def _ignored(attempt: Attempt, retval: Any) -> None:
    if attempt.is_published_again or getattr(retval, "args", ())[:1] == (_REPLACED,):
        # `Task.replace` ends by Ignore too: another task goes on under the same id.
        _write("retry", "task_postrun", attempt, {"reason": "replaced"})
    else:
        _write("skip", "task_postrun", attempt, {}, {"state": "IGNORED"}, durable=True)


def _rejected(attempt: Attempt, retval: Any) -> None:
    cause = getattr(retval, "reason", None)
    error = cause if isinstance(cause, BaseException) else None
    is_requeued = bool(getattr(retval, "requeue", False))
    fields = {"reason": "requeued" if is_requeued else "rejected", "error": _error_of(error)}
    _write("retry" if is_requeued else "discard", "task_postrun", attempt, fields)


def _is_kept(attempt: Attempt) -> bool:
    """Say whether ordinary facts are kept singly: by policy, or since it was delivered before."""
    is_redelivered = attempt.call.redelivered and attempt.choice == policy.TALLY
    return attempt.choice == policy.EACH or is_redelivered


def _is_plain(attempt: Attempt) -> bool:
    """Say whether a receipt of the attempt has nothing beside its job to tell."""
    return attempt.subjects is None and not attempt.is_eager


def _write(
    kind: str,
    event: str,
    attempt: Attempt,
    fields: dict[str, Any],
    data: dict[str, Any] | None = None,
    *,
    durable: bool = False,
) -> None:
    told = {"job": attempt.call.job(), "subjects": attempt.subjects, **fields}
    more = {"worker": attempt.worker, **(data or {})}
    if attempt.is_eager:
        more["eager"] = True
    call = attempt.call
    name = (call.id, str(call.retries), attempt.worker)
    writer().write(kind, event, told, more, name=name, durable=durable)


def _error_of(exception: BaseException | None) -> dict[str, Any] | None:
    if not isinstance(exception, BaseException):
        return None
    found = writer().client.error(exception)
    module, name = getattr(exception, "exc_module", ""), getattr(exception, "exc_cls_name", "")
    # What cannot be pickled reaches the signal wrapped, under the wrapper's own type.
    return {**found, "type": f"{module}.{name}"} if module and name else found
