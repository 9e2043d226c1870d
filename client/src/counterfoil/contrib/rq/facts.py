"""What RQ says of a job, in the words of a receipt."""

from __future__ import annotations

from typing import Any

from rq.timeouts import BaseTimeoutException

from counterfoil.contrib import rim
from counterfoil.contrib.writing import Writer, function_of, writer_of

SYSTEM = "rq"
UNREADABLE = "unknown"
"""The task of a job whose message cannot be decoded."""


def writer() -> Writer:
    """Give the writer of this process."""
    return writer_of(SYSTEM)


def contained(name: str) -> Any:
    """Keep our own trouble away from RQ; a job's time limit goes on its way."""
    return rim.contained(name, (BaseTimeoutException,))


def task_of(job: Any) -> str:
    """Give the name of the job's function."""
    try:
        return str(job.func_name or UNREADABLE)
    except BaseTimeoutException:
        raise
    except Exception:
        # RQ decodes the message here, and this is what it does with one that it cannot decode.
        return UNREADABLE


def job_of(job: Any) -> dict[str, Any]:
    """Give the job of a receipt. RQ does not keep how often a job was tried, so no attempt."""
    found = {"task": task_of(job), "id": str(job.id)}
    return {**found, "queue": str(job.origin)} if job.origin else found


def subjects_of(writes: Writer, job: Any, task: str) -> Any:
    """Give the business objects that the policy names for the job's call."""
    if task == UNREADABLE:
        return None
    return writes.subjects(task, job.args, job.kwargs, function_of(task))


def write(
    kind: str,
    event: str,
    job: Any,
    fields: dict[str, Any],
    data: dict[str, Any],
    *,
    durable: bool = False,
) -> None:
    """Write a receipt about a job that exists."""
    writes, told = writer(), job_of(job)
    whole = {"job": told, "subjects": subjects_of(writes, job, told["task"]), **fields}
    name = (told["id"], str(data.get("worker", "")))
    writes.write(kind, event, whole, data, name=name, durable=durable)
