"""What becomes of a task, as the three signals tell it."""

from __future__ import annotations

import sys
import time
from typing import Any

from counterfoil import context, encode, policy
from counterfoil.contrib.writing import Writer, writer_of

SYSTEM = "django"
_MAX_RUNNING = 10_000


class Run:
    """One execution that has begun here."""

    __slots__ = ("began", "token")

    def __init__(self, token: context.Token) -> None:
        self.token = token
        self.began = time.perf_counter()


_running: dict[str, Run] = {}


def on_enqueued(result: Any) -> None:
    """Record that a task waits to be run (`task_enqueued`)."""
    writes = writer_of(SYSTEM)
    task = result.task
    if writes.choice(task.module_path) != policy.EACH:
        return
    data = writes.arguments(task.module_path, result.args, result.kwargs, task.func)
    if task.run_after is not None:
        data["eta"] = encode.utc_text(task.run_after)
    _write(writes, "enqueue", "task_enqueued", result, {}, data)


def on_started(result: Any) -> None:
    """Record that an execution begins (`task_started`), and let a guard's skip name its job."""
    writes = writer_of(SYSTEM)
    subjects = _subjects(writes, result)
    current = context.Current(
        job_of(result), writes.source, context.current_trace(), tuple(subjects or ())
    )
    if len(_running) >= _MAX_RUNNING:
        _running.clear()
    _running[str(result.id)] = Run(context.begin(current))
    if writes.choice(result.task.module_path) == policy.EACH:
        _write(writes, "start", "task_started", result, {}, {})


def on_finished(result: Any) -> None:
    """Record what an execution came to (`task_finished`)."""
    run = _running.pop(str(result.id), None)
    fields: dict[str, Any] = {}
    if run is not None:
        context.end(run.token)
        fields["took_ms"] = round((time.perf_counter() - run.began) * 1000)
    writes = writer_of(SYSTEM)
    if str(result.status) == "FAILED":
        fields.update(reason="failed", error=error_of(writes, result))
        _write(writes, "fail", "task_finished", result, fields, {})
        return
    fields.update(job=job_of(result), subjects=_subjects(writes, result))
    value = result.return_value
    data = {} if value is None else {"result": writes.client.described(value)}
    name = (str(result.id), _worker_of(result))
    writes.ordinary("done", "task_finished", fields, {**_told(result), **data}, name=name)


def job_of(result: Any) -> dict[str, Any]:
    """Give the job of a receipt; each execution is a further attempt of the same job."""
    job = {"task": result.task.module_path, "queue": result.task.queue_name, "id": str(result.id)}
    attempts = len(result.worker_ids)
    return {**job, "attempt": attempts} if attempts else job


def error_of(writes: Writer, result: Any) -> dict[str, Any]:
    """Give of the newest error what may leave; its text is described only while it is handled."""
    kind = result.errors[-1].exception_class_path if result.errors else ""
    handled = sys.exc_info()[1]
    if handled is not None:
        found = writes.client.error(handled)
        if found["type"] == kind or not kind:
            return found
    return {"type": kind or "unknown"}


def _write(
    writes: Writer, kind: str, event: str, result: Any, fields: dict[str, Any], data: dict[str, Any]
) -> None:
    told = {"job": job_of(result), "subjects": _subjects(writes, result), **fields}
    name = (str(result.id), _worker_of(result))
    writes.write(kind, event, told, {**_told(result), **data}, name=name)


def _subjects(writes: Writer, result: Any) -> Any:
    task = result.task
    return writes.subjects(task.module_path, result.args, result.kwargs, task.func)


def _told(result: Any) -> dict[str, Any]:
    worker = _worker_of(result)
    told = {"backend": result.backend}
    return {**told, "worker": worker} if worker else told


def _worker_of(result: Any) -> str:
    return str(result.worker_ids[-1]) if result.worker_ids else ""
