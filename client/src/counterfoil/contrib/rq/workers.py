"""Workers that tell what became of the jobs they took.

A job runs in a work horse of its own: a fork of the worker, gone when the job has ended. It writes
what it saw, closes its spool in order, and leaves sending to the worker.
"""

from __future__ import annotations

import os
import signal
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import rq
from rq import exceptions
from rq.timeouts import JobTimeoutException

import counterfoil
from counterfoil import context, policy
from counterfoil.contrib import rim
from counterfoil.contrib.rq import facts

if TYPE_CHECKING:
    _Base = rq.Worker
else:
    _Base = object

_Abandoned: Any = getattr(exceptions, "AbandonedJobError", ())


class Recorded(_Base):
    """What a recorded worker adds to RQ's; `class Mine(Recorded, HerokuWorker)` makes another."""

    _began = 0.0
    _error: BaseException | None = None
    _lost: dict[str, Any] | None = None
    _is_asking = False
    _is_horse_of_fork = False

    def bootstrap(self, *args: Any, **kwargs: Any) -> Any:
        """Tell the policy before the first fork, so that no work horse has to."""
        if not rim.is_off():
            with facts.contained("the start of a worker"):
                facts.writer().choice("")
                # First, since a handler of the application may end the chain.
                self._exc_handlers.insert(0, on_exception)
        return super().bootstrap(*args, **kwargs)

    def main_work_horse(self, *args: Any, **kwargs: Any) -> Any:
        """Run one job in a fork; RQ ends the process right behind it."""
        self._is_horse_of_fork = True
        if not rim.is_off():
            with facts.contained("the start of a work horse"):
                client = counterfoil.get_client()
                client.settings = replace(client.settings, send=False)
        return super().main_work_horse(*args, **kwargs)

    def perform_job(self, job: Any, *args: Any, **kwargs: Any) -> Any:
        """Run a job as RQ does, and record it."""
        if rim.is_off():
            return super().perform_job(job, *args, **kwargs)
        self._began, self._error, token = time.perf_counter(), None, None
        with facts.contained("the start of a job"):
            token = self._begin(job)
        try:
            return super().perform_job(job, *args, **kwargs)
        finally:
            with facts.contained("the end of a job"):
                if token is not None:
                    context.end(token)
                if self._is_horse_of_fork:
                    counterfoil.close()
            self._began, self._error = 0.0, None

    def handle_job_success(self, job: Any, *args: Any, **kwargs: Any) -> Any:
        """Record a success once RQ has stored it."""
        found = super().handle_job_success(job, *args, **kwargs)
        self._ordinary("done", "handle_job_success", job)
        return found

    def handle_job_retry(self, job: Any, *args: Any, **kwargs: Any) -> Any:
        """Record what became of a job that returned a Retry."""
        self._is_asking = True
        try:
            found = super().handle_job_retry(job, *args, **kwargs)
        finally:
            self._is_asking = False
        if str(getattr(job._status, "value", job._status)) == "failed":
            told = {"retries": "exhausted"}
            self._write("fail", "handle_job_retry", job, {"reason": "failed"}, told)
        else:
            self._ordinary("retried", "handle_job_retry", job)
        return found

    def handle_exception(self, job: Any, *exc_info: Any) -> Any:
        """Note the error that a job ended by."""
        self._error = exc_info[1] if len(exc_info) > 1 else None
        return super().handle_exception(job, *exc_info)

    def handle_work_horse_killed(self, job: Any, retpid: Any, ret_val: Any, rusage: Any) -> Any:
        """Note that the process of a job was lost."""
        self._lost = _exit_of(ret_val)
        return super().handle_work_horse_killed(job, retpid, ret_val, rusage)  # type: ignore[no-untyped-call]

    def handle_job_failure(self, job: Any, *args: Any, **kwargs: Any) -> Any:
        """Record a failure once RQ has decided whether the job is tried again."""
        # Told outside of the job's own process, that one is gone.
        lost, self._lost = self._lost if self._began else self._lost or {}, None
        is_stopped, left = self._stopped_job_id == job.id, job.retries_left
        found = super().handle_job_failure(job, *args, **kwargs)
        if self._is_asking:
            # RQ 2 fails a job that asked too often by way of this one.
            return found
        is_again = left is not None and job.retries_left is not None and job.retries_left < left
        if is_stopped:
            told = {"reason": "effected", "revoked": {"terminated": True, "signum": "SIGKILL"}}
            self._write("revoke", "handle_job_failure", job, told)
        elif lost is not None:
            kind = "retry" if is_again else "fail"
            self._write(kind, "handle_job_failure", job, {"reason": "worker_lost"}, lost)
        elif is_again:
            self._ordinary("retried", "handle_job_failure", job)
        else:
            self._write("fail", "handle_job_failure", job, {"reason": _reason_of(self._error)})
        return found

    def _begin(self, job: Any) -> context.Token:
        writes, told = facts.writer(), facts.job_of(job)
        subjects = facts.subjects_of(writes, job, told["task"])
        if writes.choice(told["task"]) == policy.EACH:
            facts.write("start", "perform_job", job, {}, self._worker())
        trace = context.current_trace()
        return context.begin(context.Current(told, writes.source, trace, tuple(subjects or ())))

    def _ordinary(self, outcome: str, event: str, job: Any) -> None:
        if rim.is_off():
            return
        with facts.contained(f"a job that was {outcome}"):
            writes, told = facts.writer(), facts.job_of(job)
            fields = {"job": told, "subjects": facts.subjects_of(writes, job, told["task"])}
            fields.update(self._seen(writes))
            name = (told["id"], self.name)
            writes.ordinary(outcome, event, fields, self._worker(), name=name)

    def _write(
        self, kind: str, event: str, job: Any, fields: dict[str, Any], data: Any = None
    ) -> None:
        if rim.is_off():
            return
        with facts.contained(f"a job of which {event} tells"):
            fields = {**fields, **self._seen(facts.writer())}
            facts.write(kind, event, job, fields, {**self._worker(), **(data or {})})

    def _seen(self, writes: Any) -> dict[str, Any]:
        """Give what the process that ran the job has seen; the worker beside it has no time."""
        if not self._began:
            return {}
        seen: dict[str, Any] = {"took_ms": round((time.perf_counter() - self._began) * 1000)}
        return {**seen, "error": writes.client.error(self._error)} if self._error else seen

    def _worker(self) -> dict[str, Any]:
        return {"worker": self.name}


class Worker(Recorded, rq.Worker):
    """RQ's usual worker, which forks a work horse for each job."""


class SimpleWorker(Recorded, rq.SimpleWorker):
    """RQ's worker that runs jobs in its own process."""


def on_exception(job: Any, kind: Any, *_: Any) -> None:
    """Record a job whose worker is gone without a word: RQ's clean-up tells exception handlers."""
    if _Abandoned and isinstance(kind, type) and issubclass(kind, _Abandoned):
        with facts.contained("an abandoned job"):
            again = "retry" if job.retries_left else "fail"
            facts.write(again, "AbandonedJobError", job, {"reason": "worker_lost"}, {})


def _reason_of(error: BaseException | None) -> str:
    return "time_limit" if isinstance(error, JobTimeoutException) else "failed"


def _exit_of(ret_val: Any) -> dict[str, Any]:
    if not isinstance(ret_val, int):
        return {}
    if os.WIFSIGNALED(ret_val):
        return {"signum": signal.Signals(os.WTERMSIG(ret_val)).name}
    return {"exit": os.waitstatus_to_exitcode(ret_val)}
