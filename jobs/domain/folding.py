"""One receipt folded into one job, so that the order of arrival does not matter.

The newest word of a job's state stands, by the time at which it was true. Only where two words
are of one moment, or two sources name a job differently, does the later leaf win.
"""

from __future__ import annotations

from datetime import datetime

from jobs.domain.facts import BY_REASON, ENDINGS, OWN_ENDS, Call, Fact, Row
from jobs.domain.job import Job

ENDED = frozenset({"completed", "cancelled", "discarded"})
"""The states from which a row of Oban comes back only by somebody's hand."""


def identify(job: Job, fact: Fact) -> None:
    """Take what names the job: what its row says stands over what others say."""
    is_row = fact.row is not None
    stands = job.row_at is None or (is_row and fact.at >= job.row_at)
    job.task = _first(stands, fact.task, job.task)
    job.queue = _first(stands, fact.queue, job.queue)
    if fact.call is not None:
        _take_call(job, fact.call, stands=stands)
    if fact.timer is not None:
        timer = fact.timer
        job.scope = job.logical_scope = _first(stands, timer.scope, job.scope)
        job.ordinal = _first(stands, timer.ordinal, job.ordinal)
        job.send_id = _first(stands, timer.send_id, job.send_id)
    if fact.kind in ("enqueue", "row"):
        job.key_digest = _first(stands, fact.key_digest, job.key_digest)
        job.window_s = fact.window_s if fact.window_s is not None else job.window_s
        job.guards = fact.guards or job.guards


def _take_call(job: Job, call: Call, *, stands: bool) -> None:
    if (stands and call.generation) or not job.generation:
        job.scope, job.logical_scope, job.invoke = call.scope, call.logical_scope, call.invoke
        job.generation, job.generation_number = call.generation, call.number
        job.call = call.group
    job.element = _first(stands, call.element, job.element)
    job.call_index = _first(stands, call.index, job.call_index)
    handler, type_, src = call.work
    job.handler = _first(stands, handler, job.handler)
    job.type = _first(stands, type_, job.type)
    job.src = _first(stands, src, job.src)


def _first(stands: bool, told: str, known: str) -> str:
    return (told or known) if stands else (known or told)


def move(job: Job, fact: Fact) -> None:
    """Take what happened to the job."""
    if fact.row is not None:
        _read_row(job, fact.row, fact)
    elif fact.kind == "enqueue":
        job.insert_leaf = fact.leaf if job.insert_leaf is None else job.insert_leaf
        if job.row_leaf is None or job.inserted_at is None:
            job.inserted_at = min(filter(None, (job.inserted_at, fact.at)))
    elif fact.kind in ("handover", "deliver", "start"):
        _begin(job, fact)
    elif fact.kind == "deferred":
        job.deferred_leaf = fact.leaf if job.deferred_leaf is None else job.deferred_leaf
    elif fact.kind in ENDINGS and (fact.kind, fact.reason) not in BY_REASON:
        end(job, ENDINGS[fact.kind], fact)
    else:
        _move_by_reason(job, fact)


def _begin(job: Job, fact: Fact) -> None:
    """Take a delivery or a start; of Oban a delivery is the answer of a call."""
    if fact.kind != "start":
        job.deliveries += 1
        if fact.kind == "deliver":
            end(job, "completed", fact)
        return
    job.starts += 1
    job.attempt = max(job.attempt, fact.attempt or 0)
    job.attempted_at = max(filter(None, (job.attempted_at, fact.at)))
    _set_state(job, "executing", fact)


def _move_by_reason(job: Job, fact: Fact) -> None:
    """Take what happened to a job of a queue that says why."""
    if (fact.kind, fact.reason) == ("revoke", "asked"):
        job.revoke_leaf = fact.leaf if job.revoke_leaf is None else job.revoke_leaf
    elif fact.kind == "retry" and fact.reason != "swallowed":
        _set_state(job, "retryable", fact)
    elif state := BY_REASON.get((fact.kind, fact.reason), ""):
        _set_state(job, state, fact, fact.at, fact.reason)
    elif fact.kind in OWN_ENDS:
        _set_state(job, "cancelled", fact, fact.at, fact.kind)


def take_tallied(job: Job, fact: Fact) -> None:
    """Take what a tally tells of the job: that it was done, or is to run again."""
    known = job.tallied_leaf
    job.tallied_leaf = fact.leaf if known is None else max(known, fact.leaf)
    job.task = job.task or fact.task
    if fact.reason == "done":
        end(job, "completed", fact)
    else:
        _set_state(job, "retryable", fact)


def _read_row(job: Job, row: Row, fact: Fact) -> None:
    """Take a row as it stands, as far as no newer row is known, and no newer word of its state."""
    if row.attempted_at is not None:
        job.attempted_at = max(filter(None, (job.attempted_at, row.attempted_at)))
    if row.state in ENDED:
        job.ended_at = min(filter(None, (job.ended_at, fact.at)))
    if job.row_at is not None and fact.at < job.row_at:
        return
    job.row_leaf, job.row_at = fact.leaf, fact.at
    job.inserted_at = row.inserted_at or job.inserted_at
    job.scheduled_at = row.scheduled_at
    job.attempt, job.max_attempts, job.errors = row.attempt, row.max_attempts, row.errors
    if job.state_at is None or fact.at >= job.state_at:
        _put(job, row.state, fact, row.finished_at, row.last_error)


def end(job: Job, state: str, fact: Fact) -> None:
    last_error = "cancel_discarded" if fact.kind == "discard" else ""
    _set_state(job, state, fact, fact.at, last_error)


def _set_state(
    job: Job, state: str, fact: Fact, finished_at: datetime | None = None, last_error: str = ""
) -> None:
    """Take a state unless a newer one is known; of two at one moment the row stands, or the later.

    A row was read from the job itself; of receipts by others the later leaf wins.
    """
    if job.state_at is not None and fact.at < job.state_at:
        return
    if job.state_at is None or fact.at > job.state_at or job.row_at != job.state_at:
        _put(job, state, fact, finished_at, last_error)


def _put(job: Job, state: str, fact: Fact, finished_at: datetime | None, last_error: str) -> None:
    job.state, job.state_at, job.level = state, fact.at, fact.level
    job.finished_at, job.last_error = finished_at, last_error
