"""Record what an APScheduler 3 ran, missed and held back.

    from counterfoil.contrib import apscheduler as recording

    recording.record(scheduler)  # before scheduler.start(), so that no job is missed

Each run is a job of its own, named by the id of its schedule and the time it was due: the tenth
run of `nightly` failing says nothing of the ninth. Everything else comes from COUNTERFOIL_…
variables; COUNTERFOIL_OFF=1 listens to nothing. Nothing here raises into a job or the scheduler.
"""

from __future__ import annotations

import datetime as dt
import threading
import time
import weakref
from typing import Any

from apscheduler import events

from counterfoil import encode, policy
from counterfoil.contrib import rim
from counterfoil.contrib.writing import Writer, function_of, writer_of

SYSTEM = "apscheduler"
MISFIRE = {"name": "apscheduler.misfire_grace_time"}
MAX_INSTANCES = {"name": "apscheduler.max_instances"}
_MAX_KNOWN = 10_000

_NAMED = events.EVENT_JOB_ADDED | events.EVENT_JOB_MODIFIED
_TOLD = events.EVENT_JOB_SUBMITTED | events.EVENT_JOB_MAX_INSTANCES | events.EVENT_JOB_MISSED
_ENDED = events.EVENT_JOB_EXECUTED | events.EVENT_JOB_ERROR
MASK = events.EVENT_SCHEDULER_STARTED | _NAMED | _TOLD | _ENDED

Known = tuple[str, Any]
"""The task of a schedule, and the business objects that its arguments name."""

_recorded: weakref.WeakSet[Any] = weakref.WeakSet()


def record(scheduler: Any) -> None:
    """Record the runs of a scheduler from now on; a second call for the same changes nothing."""
    if rim.is_off() or scheduler in _recorded:
        return
    _recorded.add(scheduler)
    scheduler.add_listener(Listener(scheduler), MASK)


class Listener:
    """Turns the events of one scheduler into receipts; called in whichever thread has them."""

    def __init__(self, scheduler: Any) -> None:
        self._scheduler = scheduler
        self._lock = threading.Lock()
        self._known: dict[str, Known] = {}
        self._running: dict[str, dict[str, float]] = {}
        self._early: set[str] = set()

    def __call__(self, event: Any) -> None:
        """Record one event; what goes wrong is said once in the log."""
        with rim.contained(f"APScheduler's event {event.code}"):
            if event.code == events.EVENT_SCHEDULER_STARTED:
                self._on_started()
            elif event.code & _NAMED:
                self._note(event)
            elif event.code == events.EVENT_JOB_SUBMITTED:
                self._on_submitted(event)
            elif event.code == events.EVENT_JOB_MAX_INSTANCES:
                self._on_held_back(event)
            else:
                self._on_ended(event)

    def _on_started(self) -> None:
        writer_of(SYSTEM).choice("")
        for job in self._scheduler.get_jobs():
            self._keep(job)

    def _note(self, event: Any) -> None:
        self._keep(self._scheduler.get_job(event.job_id, event.jobstore))

    def _keep(self, job: Any) -> None:
        # Kept here, because a job that runs once is gone from its store before it has run.
        if job is not None:
            task = task_of(job)
            subjects = writer_of(SYSTEM).subjects(task, job.args, job.kwargs, function_of(task))
            with self._lock:
                _bound(self._known)
                self._known[job.id] = (task, subjects)

    def _known_of(self, event: Any) -> Known:
        if event.job_id not in self._known:
            self._note(event)
        return self._known.get(event.job_id, (event.job_id, None))

    def _on_submitted(self, event: Any) -> None:
        writes, (task, subjects) = writer_of(SYSTEM), self._known_of(event)
        for due in event.scheduled_run_times:
            run = run_of(event.job_id, due)
            if self._began(event.job_id, run) and writes.choice(task) == policy.EACH:
                fields = {"job": {"task": task, "id": run}, "subjects": subjects}
                data = {"schedule": event.job_id, **self._arguments(writes, event, task)}
                writes.write("enqueue", "EVENT_JOB_SUBMITTED", fields, data, name=(run,))

    def _arguments(self, writes: Writer, event: Any, task: str) -> dict[str, Any]:
        job = self._scheduler.get_job(event.job_id, event.jobstore)
        if job is None:
            return {}
        return writes.arguments(task, job.args, job.kwargs, function_of(task))

    def _on_held_back(self, event: Any) -> None:
        writes, (task, subjects) = writer_of(SYSTEM), self._known_of(event)
        with self._lock:
            running = list(self._running.get(event.job_id, ()))[:16]
        for due in event.scheduled_run_times:
            # No id of its own: a run that was held back never became a job.
            fields = {
                "job": {"task": task},
                "subjects": subjects,
                "reason": "in_flight",
                "original": {"job": running[0]} if running else None,
                "rule": MAX_INSTANCES,
            }
            data = {"schedule": event.job_id, "due": encode.utc_text(due), "running": running}
            name = (run_of(event.job_id, due),)
            writes.write("skip", "EVENT_JOB_MAX_INSTANCES", fields, data, name=name, durable=True)

    def _on_ended(self, event: Any) -> None:
        writes, (task, subjects) = writer_of(SYSTEM), self._known_of(event)
        run = run_of(event.job_id, event.scheduled_run_time)
        took = self._ended(event.job_id, run)
        fields: dict[str, Any] = {"job": {"task": task, "id": run}, "subjects": subjects}
        data = {"schedule": event.job_id}
        if event.code == events.EVENT_JOB_MISSED:
            fields.update(reason="expired", rule=MISFIRE)
            writes.write("skip", "EVENT_JOB_MISSED", fields, data, name=(run,), durable=True)
        elif event.code == events.EVENT_JOB_ERROR:
            error = writes.client.error(event.exception)
            fields.update(took_ms=took, reason="failed", error=error)
            writes.write("fail", "EVENT_JOB_ERROR", fields, data, name=(run,))
        else:
            fields["took_ms"] = took
            writes.ordinary("done", "EVENT_JOB_EXECUTED", fields, data, name=(run,))

    def _began(self, job_id: str, run: str) -> bool:
        """Note that a run was handed over; False when its end was told first, as happens."""
        with self._lock:
            if run in self._early:
                self._early.discard(run)
                return False
            _bound(self._running)
            self._running.setdefault(job_id, {})[run] = time.perf_counter()
        return True

    def _ended(self, job_id: str, run: str) -> int | None:
        """Give the milliseconds since the run was handed to its executor, None when unknown."""
        with self._lock:
            runs = self._running.get(job_id, {})
            began = runs.pop(run, None)
            if not runs:
                self._running.pop(job_id, None)
            if began is None:
                if len(self._early) >= _MAX_KNOWN:
                    self._early.clear()
                self._early.add(run)
                return None
        return round((time.perf_counter() - began) * 1000)


def task_of(job: Any) -> str:
    """Give the dotted name of a job's function, else the name that the job has."""
    reference = getattr(job, "func_ref", None)
    return str(reference).replace(":", ".") if reference else str(job.name)


def run_of(job_id: str, due: dt.datetime) -> str:
    """Name one run: the id of its schedule and the time it was due, in UTC."""
    return f"{job_id[:200]}@{encode.utc_text(due)}"


def _bound(known: dict[str, Any]) -> None:
    if len(known) >= _MAX_KNOWN:
        known.pop(next(iter(known)))
