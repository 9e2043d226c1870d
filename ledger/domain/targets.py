"""What a pointer may point to, and what became of it.

The last column of reference/jobs.md section 4a says which receipt each reason asks for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from ledger.domain.book import Inquiry
from ledger.domain.endings import ending_of
from ledger.domain.statement import JobName, Statement, done_id

SKEW = timedelta(seconds=30)
NO_JOB = frozenset({"heartbeat", "tally", "decide", "act"})
BEGINS = frozenset({"enqueue", "start"})
RUNS = BEGINS | {"retry", "rescue"}
ROW_ENDS = {"completed": "done", "cancelled": "cancelled", "discarded": "failed"}


def earliest(statements: Iterable[Statement]) -> Statement:
    """Return the first of some statements by when it happened, then by leaf."""
    return min(statements, key=_order)


def latest(statements: Iterable[Statement]) -> Statement:
    """Return the last of some statements by when it happened, then by leaf."""
    return max(statements, key=_order)


def _order(statement: Statement) -> tuple[datetime, int]:
    return statement.happened_at, statement.leaf


def first_of_job(found: Sequence[Statement]) -> Statement:
    """Return a job's earliest enqueue, start or row, else its earliest receipt of all."""
    begun = [each for each in found if each.kind in BEGINS or each.is_row]
    return earliest(begun or found)


def is_job_like(target: Statement) -> bool:
    """Tell whether a receipt is about a job at all; of observations only a row is."""
    return target.is_row if target.kind == "observe" else target.kind not in NO_JOB


def misfit(pointing: Statement, target: Statement, inquiry: Inquiry) -> str:
    """Return the rule that a target breaks for the reason given, or "" when it fits.

    A skip always fits: what it points to in turn decides.
    """
    if not is_job_like(target):
        return "kind"
    if target.kind == "skip" or pointing.kind != "skip":
        return ""
    if pointing.reason == "already_done" and not _can_be_done(pointing, target, inquiry):
        return "kind-for-reason"
    if pointing.reason == "in_flight" and not is_underway(target):
        return "kind-for-reason"
    if pointing.reason == "superseded" and pointing.happened_at - target.happened_at > SKEW:
        return "older-than-skip"
    return ""


def is_underway(target: Statement) -> bool:
    """Tell whether a receipt says that work was asked for or begun, or is a row of it."""
    return target.kind in RUNS or target.is_row or target.is_handover


def _can_be_done(pointing: Statement, target: Statement, inquiry: Inquiry) -> bool:
    if ending_of(target):
        return True
    if not is_underway(target):
        return False
    shares_key = target.key_digest is not None and target.key_digest == pointing.key_digest
    return target.job is not None or shares_key or _done_of(target, inquiry) is not None


def end_of(
    target: Statement,
    inquiry: Inquiry,
    run: Sequence[Statement] = (),
    job: JobName | None = None,
) -> tuple[Statement | None, str]:
    """Return the receipt that ended the work of a target, and the outcome.

    A done stands for itself: what happens to the job later does not undo it. Any other receipt
    of a numbered job walks on to the job's latest outcome, be that in a tally; a start without
    one, to the done whose id the client's `once` derives from the start's. `run` holds receipts
    that are known to be of the same run for another reason, `job` is whose a tally was found for.
    """
    if target.kind in ("done", "deliver") and ending_of(target):
        return target, "done"
    job = target.job or job
    found = [*run, *(inquiry.by_job(job) if job is not None else ())]
    paired = _done_of(target, inquiry)
    known = [*found, target, *([] if paired is None else [paired])]
    ends = [each for each in known if each.kind != "tally" and ending_of(each)]
    ends = [each for each in ends if not inquiry.is_redacted(each)]
    if job is not None:
        ends += [each.tally for each in inquiry.tallied(job) if each.is_done]
    if not ends:
        return None, _outcome_of_rows(known)
    end = latest(ends)
    return end, ending_of(end)


def _done_of(target: Statement, inquiry: Inquiry) -> Statement | None:
    """Return the done receipt whose id is UUIDv5(token, "done"), the token being the start's id."""
    identity = done_id(target.id_key) if target.kind == "start" else None
    if identity is None:
        return None
    found = [each for each in inquiry.by_id(identity) if each.is_readable]
    done = [each for each in found if each.kind == "done" and not inquiry.is_redacted(each)]
    return done[0] if done else None


def _outcome_of_rows(found: Sequence[Statement]) -> str:
    rows = [each for each in found if each.is_row and each.job_state]
    return ROW_ENDS.get(latest(rows).job_state, "running") if rows else "running"
