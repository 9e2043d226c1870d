"""Each verdict of jobs in one sentence, which claims what the rule compared and no more."""

from __future__ import annotations

from collections.abc import Callable

from jobs.domain.judging import Ruling
from jobs.domain.state import Job

Words = Callable[[Ruling, str], str]


def _other(ruling: Ruling) -> str:
    return f"job {ruling.other.number}" if ruling.other is not None else "another job"


def _other_generation(ruling: Ruling) -> str:
    if ruling.other is None or not ruling.other.generation:
        return "another generation"
    return f"macrostep {ruling.other.generation} (job {ruling.other.number})"


def _window(ruling: Ruling) -> str:
    other = ruling.other
    if other is None or not other.was_cut_short:
        return ""
    return f" after {other.kept_s:,.0f} s of its period of {other.window_s:,.0f} s"


OF_RECEIPT: dict[str, Words] = {
    "fresh": lambda ruling, call: (
        f"{call} was stored together with others, and uniqueness was not checked."
        if ruling.rule == "not-checked"
        else f"The first job on record of {call} was stored."
    ),
    "reentry.fresh": lambda ruling, call: (
        f"A new generation of {call} was stored: {_other_generation(ruling)} came before it "
        "and is not a duplicate."
    ),
    "done": lambda ruling, call: f"The answer of {call} was delivered.",
    "delivery.stale_suspect": lambda ruling, call: (
        f"An answer of {call} came after {_other_generation(ruling)} was stored, so it may have "
        "been taken for the newer one's."
    ),
    "delivery.again": lambda ruling, call: (
        f"Handed out again: {ruling.detail} of {call} had been handed to a worker before, by "
        f"№{ruling.leaf:,}."
    ),
    "start.again": lambda ruling, call: (
        f"Started again: {ruling.detail} of {call} had been started before, by №{ruling.leaf:,}."
    ),
    "cancel.swept": lambda ruling, call: f"A cancel of {call} reached what was waiting.",
    "cancel.missed_packed": lambda ruling, call: (
        f"A cancel of {call} reached nothing, and {_other(ruling)} stands under a scope that "
        "carries the generation, which a plain scope does not match."
    ),
    "cancel.noop_executing": lambda ruling, call: (
        f"A cancel of {call} reached nothing: {_other(ruling)} was executing, and a cancel leaves "
        "what executes alone."
    ),
    "cancel.noop": lambda ruling, call: (
        f"A cancel of {call} reached nothing, which is normal when nothing waits."
    ),
    "dedup.replay": lambda ruling, call: (
        f"Skipped: {call} was asked for again, and {ruling.detail} already holds it."
    ),
    "dedup.lost_reentry": lambda ruling, call: (
        f"Lost: {call} was entered anew, and the start was taken for {ruling.detail}, an entry "
        "of another macrostep; the work never ran."
    ),
    "dedup.residual_collision": lambda ruling, call: (
        f"Lost: two elements share {call}; {ruling.detail} is the other element's, and this one's "
        "work never ran."
    ),
    "dedup.scope_reuse_suspect": lambda ruling, call: (
        f"Skipped: {call} is held by {ruling.detail}, which was to do something else; the scope "
        "may have been used again."
    ),
    "open.deferred": lambda ruling, call: (
        f"{call} was deferred: the answer is to come from outside, and is open."
    ),
    "open.fan_out": lambda ruling, call: (
        f"{call} was fanned out: it ends without an answer of its own, which is open."
    ),
    "fanout.child_started": lambda ruling, call: f"An item of {call} was started.",
    "guard.pruned": lambda ruling, call: ruling.detail,
}
"""Of a receipt; the second value names the call."""


def _begun(job: Job) -> str:
    """Say how far a job that has not ended came, empty where nothing tells."""
    if job.state == "retryable":
        return "It was tried and is to run again"
    if job.starts or job.state == "executing":
        return "It was started"
    if job.deliveries:
        return "It was handed to a worker"
    if job.row_leaf is not None:
        return "It was stored and waits"
    return "" if job.insert_leaf is None else "It was published"


def _no_end(ruling: Ruling, job: Job) -> str:
    begun = _begun(job)
    if not begun:
        return "Receipts name it, and none tells of its end."
    return f"{begun}, and nothing on record tells of its end."


def _revoke_asked(ruling: Ruling, job: Job) -> str:
    begun = f"{_begun(job)}. " if _begun(job) else ""
    return (
        f"{begun}A revoke was asked for by №{job.revoke_leaf:,}, and nothing on record tells that "
        "it took effect, nor how the job ended."
    )


_OPEN: dict[str, Callable[[Ruling, Job], str]] = {
    "first-of-key": lambda ruling, job: "The first job on record of its key.",
    "key-had-before": lambda ruling, job: f"New work: {_other(ruling)} had its key before it.",
    "no-end-told": _no_end,
    "revoke-asked": _revoke_asked,
}
"""Of a job that is new, by the rule that spoke."""


OF_JOB: dict[str, Callable[[Ruling, Job], str]] = {
    "guard.pruned": lambda ruling, job: (
        "It was deleted from the job table, and nothing else of it is on record."
    ),
    "fresh": lambda ruling, job: _OPEN[ruling.rule](ruling, job),
    "reentry.fresh": lambda ruling, job: (
        f"A new generation of its call: {_other_generation(ruling)} came before it, so this is no "
        "duplicate."
    ),
    "scope.packed": lambda ruling, job: (
        f"Its scope {job.scope} carries the generation; the run is {job.logical_scope}."
    ),
    "replay.duplicated_after_prune": lambda ruling, job: (
        f"{_other(ruling).capitalize()} held the same key and was deleted before this one was "
        f"stored: the guard went with the row{_window(ruling)}, and the work was asked for again."
    ),
    "rerun.same_row": lambda ruling, job: (
        f"It {'had ended' if job.ended_at else 'was cancelled'} and was set going again in the "
        "same row: the same generation, the next attempt."
    ),
    "discard.run_dead": lambda ruling, job: (
        "Its last error says that the run was no longer there, so its outcome was dropped."
    ),
    "cancel.swept": lambda ruling, job: "It was cancelled before it ended.",
    "cancel.swept_after_stale": lambda ruling, job: (
        f"It was cancelled, and {_other_generation(ruling)} had completed after it was stored: an "
        "old answer may have moved the run on and swept the live generation."
    ),
    "failed.exhausted": lambda ruling, job: (
        f"It was discarded after {job.attempt or 'its'} attempts."
        if job.attempt != 1
        else "It was discarded after 1 attempt."
    ),
    "delivery.stale_suspect": lambda ruling, job: (
        f"It completed after {_other_generation(ruling)} was stored, so its answer may have been "
        "taken for the newer one's."
    ),
    "cancel.lost_to_terminal": lambda ruling, job: (
        "It had completed when a cancel of its call came, and keeps its outcome."
    ),
    "open.fan_out": lambda ruling, job: (
        "It completed by starting items; the answer comes when they have settled."
    ),
    "open.deferred": lambda ruling, job: (
        "It completed without an answer, which is to come from outside."
    ),
    "fanout.child_started": lambda ruling, job: f"Item {job.call_index} was started.",
    "fanout.child_pending": lambda ruling, job: f"Item {job.call_index} is not started.",
    "timer.pending": lambda ruling, job: "The timer waits for its time.",
    "timer.snoozed": lambda ruling, job: (
        "The timer came due and was put off without an error; it waits again."
    ),
    "done": lambda ruling, job: (
        "It was done, as a tally tells." if job.tallied_leaf is not None else "It completed."
    ),
    "retry.swallowed": lambda ruling, job: (
        "It asked to run again and nothing was published, so it will not run."
    ),
    "fail.worker_lost": lambda ruling, job: "It failed: its worker was lost.",
    "fail.time_limit": lambda ruling, job: "It failed: it took longer than it may.",
    "fail.rejected": lambda ruling, job: "It failed: its own code rejected it.",
    "discard.rejected": lambda ruling, job: "Its own code rejected it.",
    "discard.unknown_task": lambda ruling, job: "It was dropped: no worker knew its task.",
    "discard.undecodable": lambda ruling, job: "It was dropped: its message could not be read.",
    "revoke.effected": lambda ruling, job: "It was revoked.",
    "skip.expired": lambda ruling, job: "It expired before a worker took it up.",
    "skip.unexplained": lambda ruling, job: (
        "Its own code had it ignored, and gave no reason; whether the work was done is not known."
    ),
}
"""Of a job."""


def of_receipt(ruling: Ruling, call: str) -> str:
    """Return the sentence of a receipt's verdict; `call` names what it is about."""
    text = OF_RECEIPT[ruling.code](ruling, call)
    return text[0].upper() + text[1:]


def of_job(ruling: Ruling, job: Job) -> str:
    """Return the sentence of a job's verdict."""
    return OF_JOB[ruling.code](ruling, job)
