"""What jobs and the receipts about calls come to, and the rule that spoke.

The precedence is that of contract.md section 5, first match wins; the rules for receipts are
those of reference/statifier-oban.md section 5.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from jobs.domain import beginnings
from jobs.domain.facts import Call, Fact
from jobs.domain.line import Line
from jobs.domain.state import RANKED, Job, Known, Told, is_ranked

MODULE = "Elixir."
"""What Erlang puts before the name of an Elixir module, and Elixir leaves out."""


NO_CALL = Line(())


@dataclass(frozen=True, slots=True)
class Ruling:
    """A verdict's code, the rule that spoke, and the job, the value or the leaf that decided it."""

    code: str
    rule: str
    other: Job | None = None
    detail: str = ""
    leaf: int | None = None


ENDED_SO: dict[tuple[str, str], str] = {
    ("failed", "swallowed"): "retry.swallowed",
    ("failed", "worker_lost"): "fail.worker_lost",
    ("failed", "time_limit"): "fail.time_limit",
    ("failed", "rejected"): "fail.rejected",
    ("discarded", "rejected"): "discard.rejected",
    ("discarded", "unknown_task"): "discard.unknown_task",
    ("discarded", "undecodable"): "discard.undecodable",
    ("cancelled", "effected"): "revoke.effected",
    ("cancelled", "expired"): "skip.expired",
    ("cancelled", "ignored"): "skip.unexplained",
}
"""What a job comes to whose last word says why it ended."""


def judge_job(job: Job, known: Known) -> Ruling:
    """Judge one job by itself and by the other jobs of its call."""
    if job.is_known_by_deletion:
        return Ruling("guard.pruned", "pruned")
    if (job.state, job.last_error) in ENDED_SO:
        return Ruling(ENDED_SO[job.state, job.last_error], "ended-so")
    if job.is_timer:
        return _judge_timer(job)
    if job.is_child_start:
        code = "fanout.child_started" if job.state == "completed" else "fanout.child_pending"
        return Ruling(code, "child-start")
    return _judge_invoke(job, known)


def _judge_timer(job: Job) -> Ruling:
    if job.state == "cancelled":
        return _cancelled(job)
    if job.state in ("discarded", "failed"):
        return Ruling("failed.exhausted", "row-discarded")
    if job.state == "completed":
        return Ruling("done", "row-completed")
    if job.state == "scheduled" and job.attempted_at is not None and not job.errors:
        return Ruling("timer.snoozed", "snoozed")
    return Ruling("timer.pending", "timer-waits")


def _cancelled(job: Job) -> Ruling:
    if job.last_error == "cancel_discarded":
        return Ruling("discard.run_dead", "run-dead")
    return Ruling("cancel.swept", "row-cancelled")


def _judge_invoke(job: Job, known: Known) -> Ruling:
    line = known.line(job.call) if job.call else NO_CALL
    deleted = _deleted_before(job, line, known)
    if deleted is not None:
        return Ruling("replay.duplicated_after_prune", "guard-gone", deleted)
    if _was_retried(job):
        return Ruling("rerun.same_row", "operator-retry")
    if job.state == "cancelled":
        return _judge_cancelled(job, line)
    if job.state in ("discarded", "failed"):
        return Ruling("failed.exhausted", "row-discarded")
    if job.state == "completed":
        found = _judge_completed(job, known, line)
        if found is not None:
            return found
    return _judge_stored(job, line, known)


def _was_retried(job: Job) -> bool:
    if job.state not in ("available", "scheduled"):
        return False
    if job.ended_at is not None and job.state_at is not None and job.ended_at < job.state_at:
        return True
    return job.attempted_at is not None and job.last_error in ("cancel", "cancel_discarded")


def _deleted_before(job: Job, line: Line, known: Known) -> Job | None:
    """Return an older job of the same key that the ledger knows as deleted before this one."""
    if not job.call:
        return _guard_lost(job, known)
    if not job.is_invoke:
        return None
    gone = [one for one in line.gone(job) if _went_before(one, job)]
    return max(gone, key=lambda one: (one.deleted_leaf or 0, one.name), default=None)


def _guard_lost(job: Job, known: Known) -> Job | None:
    """Return the job that would have guarded the key still, had it not been deleted."""
    before = known.jobs.get(job.prev)
    if before is None or before.deleted_at is None:
        return None
    if job.inserted_at is None or before.inserted_at is None:
        return None
    age_s = (job.inserted_at - before.inserted_at).total_seconds()
    was_guarded = before.is_guarding(job.guards) and (job.window_s is None or age_s <= job.window_s)
    return before if was_guarded and before.deleted_at <= job.inserted_at else None


def _went_before(one: Job, job: Job) -> bool:
    """Tell whether a job made way for another of its key.

    Where a reader only noticed that the row was gone, its key tells that it went before: no two
    rows of one key stand side by side.
    """
    if one.name == job.name or one.deleted_at is None or job.inserted_at is None:
        return False
    if not one.is_same_call(job):
        return False
    if one.deleted_level == "recorded":
        return one.deleted_at <= job.inserted_at
    return one.inserted_at is not None and one.inserted_at < job.inserted_at


def _judge_cancelled(job: Job, line: Line) -> Ruling:
    ruling = _cancelled(job)
    if ruling.code == "discard.run_dead" or job.inserted_at is None or not job.is_invoke:
        return ruling
    stale = line.completed_below(job.generation_number, job.inserted_at)
    if stale is not None:
        return Ruling("cancel.swept_after_stale", "stale-answer", stale)
    return ruling


def _judge_completed(job: Job, known: Known, line: Line) -> Ruling | None:
    newer = line.stored_above(job.generation_number, job.finished_at)
    if newer is not None:
        return Ruling("delivery.stale_suspect", "newer-stored", newer)
    if _was_cancelled_after(job, known):
        return Ruling("cancel.lost_to_terminal", "cancel-came-late")
    if line.has_items(job):
        return Ruling("open.fan_out", "child-starts")
    if job.deferred_leaf is not None:
        return Ruling("open.deferred", "deferred")
    return None if job.is_invoke else Ruling("done", "row-completed")


def _was_cancelled_after(job: Job, known: Known) -> bool:
    if not job.call or job.finished_at is None:
        return False
    return any(
        told.scope == job.scope and told.at >= job.finished_at
        for told in known.cancels[job.call]
        if not told.job
    )


def _judge_stored(job: Job, line: Line, known: Known) -> Ruling:
    if job.is_invoke and job.is_packed:
        return Ruling("scope.packed", "scope-unpacks")
    older = line.before(job.generation_number)
    if older is not None:
        return Ruling("reentry.fresh", "older-generation", older)
    if job.revoke_leaf is not None:
        return Ruling("fresh", "revoke-asked")
    if not job.has_key:
        return Ruling("fresh", "no-end-told")
    before = known.jobs.get(job.prev)
    return Ruling("fresh", "first-of-key" if before is None else "key-had-before", before)


def _age(one: Job) -> tuple[int, str]:
    return one.generation_number or 0, one.name


def judge_told(told: Told, known: Known) -> Ruling | None:
    """Judge a receipt about a call: an enqueue, a deliver, or a cancel that reached nothing."""
    line, number = known.line(told.call), _number(told, known)
    if told.kind == "enqueue":
        older = line.before(number)
        if older is not None:
            return Ruling("reentry.fresh", "older-generation", older)
        return Ruling("fresh", "first-of-key")
    if told.kind == "deliver":
        newer = line.stored_above(number, told.at)
        if newer is not None:
            return Ruling("delivery.stale_suspect", "newer-stored", newer)
        return Ruling("done", "kind")
    return _judge_cancel(told, known.calls[told.call].values())


def _number(told: Told, known: Known) -> int | None:
    """Return the generation that a receipt is about: its own, else its job's."""
    job = known.jobs.get(told.job)
    return told.number if told.number is not None or job is None else job.generation_number


def _judge_cancel(told: Told, jobs: Iterable[Job]) -> Ruling | None:
    if told.job or told.count is None:
        return None
    if told.count > 0:
        return Ruling("cancel.swept", "count")
    packed = [one for one in jobs if one.is_packed and _was_missed(one, told)]
    if packed:
        return Ruling("cancel.missed_packed", "scope-unpacks", max(packed, key=_age))
    running = [one for one in jobs if one.scope == told.scope and _was_running(one, told)]
    if running:
        return Ruling("cancel.noop_executing", "was-executing", max(running, key=_age))
    return Ruling("cancel.noop", "count")


def _was_missed(one: Job, told: Told) -> bool:
    """Tell whether a cancel of the plain scope passed a packed job by that was stored then."""
    is_later = one.inserted_at is not None and one.inserted_at > told.at
    return one.logical_scope == told.scope and not is_later


def _was_running(one: Job, told: Told) -> bool:
    return one.is_invoke and one.was_executing(told.at)


def judge_beginning(fact: Fact, known: Known) -> Ruling | None:
    """Judge a delivery or a start that another of the same attempt came before; None for a first.

    A start is another execution of the attempt, not a retry: that has an attempt of its own.
    """
    job = known.jobs.get(fact.job)
    if job is None or not is_ranked(fact):
        return None
    name = beginnings.name_of(RANKED[fact.kind], fact.attempt)
    first = beginnings.before(job.beginnings, name, fact.leaf)
    if first is None:
        return None
    code = "delivery.again" if fact.kind == "handover" else "start.again"
    attempt = 1 if fact.attempt is None else fact.attempt
    return Ruling(code, "not-first", detail=f"attempt {attempt:,}", leaf=first.leaf)


@dataclass(frozen=True, slots=True)
class Original:
    """The stored side of a skip: what it shares with the attempt, and what not."""

    call: Call | None
    timer: tuple[str, str]
    label: str


def judge_skip(attempt: Call, original: Original) -> Ruling | None:
    """Judge a skip that points at a stored job of a call (rules 3 to 6).

    None where the original is of another call or of none, or one side does not tell its generation.
    """
    stored = original.call
    if stored is None or not attempt.generation or not stored.generation:
        return None
    if (attempt.group, attempt.index) != (stored.group, stored.index):
        return None
    if _differ_in_generation(attempt, stored):
        detail = f"{attempt.generation} is not {stored.generation}"
        return Ruling("dedup.lost_reentry", "macrostep-differs", detail=detail)
    if attempt.element and stored.element and attempt.element != stored.element:
        detail = f"({attempt.element}) is not ({stored.element})"
        return Ruling("dedup.residual_collision", "element-differs", detail=detail)
    for name, mine, theirs in zip(
        ("handler", "type", "src"), attempt.work, stored.work, strict=True
    ):
        if mine and theirs and mine.removeprefix(MODULE) != theirs.removeprefix(MODULE):
            detail = f"{name} {mine} is not {theirs}"
            return Ruling("dedup.scope_reuse_suspect", "work-differs", detail=detail)
    is_known = bool(attempt.element and stored.element)
    return Ruling("dedup.replay", "same-key" if is_known else "same-key-element-unknown")


def _differ_in_generation(attempt: Call, stored: Call) -> bool:
    if attempt.number is not None and stored.number is not None:
        return attempt.number != stored.number
    return attempt.generation != stored.generation


def original_of(job: Job) -> Original:
    """Return the stored side of a skip that points at a job."""
    if not job.scope:
        return Original(None, ("", ""), job.number)
    call = Call(
        job.system, job.instance, job.scope, job.logical_scope, job.invoke, job.generation,
        job.generation_number, job.element, job.call_index, (job.handler, job.type, job.src),
    )  # fmt: skip
    timer = (job.scope, job.ordinal) if job.ordinal else ("", "")
    return Original(call if job.invoke else None, timer, job.number)
