"""A queue that tells what was enqueued, and what `unique=True` turned away."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import rq
from rq import exceptions

from counterfoil import policy
from counterfoil.contrib import rim
from counterfoil.contrib.rq import facts
from counterfoil.contrib.rq.jobs import Job
from counterfoil.contrib.writing import function_of

UNIQUE = {"name": "rq.unique"}
_ENDED = ("finished", "failed", "stopped", "canceled")
# RQ has it since its version 3.
_Duplicate: Any = getattr(exceptions, "DuplicateJobError", ())


class Queue(rq.Queue):
    """RQ's queue, for those who publish."""

    job_class = Job

    def enqueue_job(self, job: Any, *args: Any, **kwargs: Any) -> Any:
        """Enqueue as RQ does; see there."""
        with self._refusals(facts.task_of(job), str(job.id)):
            found = super().enqueue_job(job, *args, **kwargs)
        self._tell("Queue.enqueue_job", [found])
        return found

    def enqueue_at(self, datetime: Any, f: Any, *args: Any, **kwargs: Any) -> Any:
        """Schedule as RQ does; see there."""
        with self._refusals(_name_of(f), str(kwargs.get("job_id"))):
            found = super().enqueue_at(datetime, f, *args, **kwargs)
        self._tell("Queue.enqueue_at", [found])
        return found

    def enqueue_many(self, *args: Any, **kwargs: Any) -> Any:
        """Enqueue as RQ does; see there."""
        found = super().enqueue_many(*args, **kwargs)
        self._tell("Queue.enqueue_many", found)
        return found

    def _tell(self, event: str, jobs: list[Any]) -> None:
        if rim.is_off():
            return
        with facts.contained("an enqueue"):
            for job in jobs:
                _tell_enqueued(event, job)

    @contextmanager
    def _refusals(self, task: str, job_id: str) -> Iterator[None]:
        try:
            yield
        except _Duplicate:
            if not rim.is_off():
                with facts.contained("a refused enqueue"):
                    self._tell_refused(task, job_id)
            raise

    def _tell_refused(self, task: str, job_id: str) -> None:
        fields = {
            # No id: what was refused never became a job, and the id is that of another.
            "job": {"task": task, "queue": self.name},
            "reason": self._reason(job_id),
            "original": {"job": job_id},
            "rule": UNIQUE,
        }
        name = (job_id, task)
        facts.writer().write("skip", "DuplicateJobError", fields, name=name, durable=True)

    def _reason(self, job_id: str) -> str | None:
        """Ask RQ how the job stands that has the id; None when it is gone by now."""
        found = self.fetch_job(job_id)
        if found is None:
            return None
        return "already_done" if _status_of(found) in _ENDED else "in_flight"


def _tell_enqueued(event: str, job: Any) -> None:
    writes, task = facts.writer(), facts.task_of(job)
    if writes.choice(task) != policy.EACH:
        return
    data = {"state": _status_of(job)}
    if task != facts.UNREADABLE:
        data.update(writes.arguments(task, job.args, job.kwargs, function_of(task)))
    facts.write("enqueue", event, job, {}, data)


def _status_of(job: Any) -> str:
    status = job.get_status(refresh=False)
    return str(getattr(status, "value", status))


def _name_of(function: Any) -> str:
    if isinstance(function, str):
        return function
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return f"{getattr(function, '__module__', '')}.{name}"
