"""Whether a receipt tells that work has ended, and how."""

from __future__ import annotations

from ledger.domain.statement import Statement

BY_KIND: dict[str, str] = {
    "done": "done",
    "deliver": "done",
    "fail": "failed",
    "cancel": "cancelled",
    "discard": "failed",
    "tally": "done",
}
BY_REASON: dict[tuple[str, str], str] = {
    ("revoke", "effected"): "cancelled",
    ("retry", "swallowed"): "failed",
    ("skip", "expired"): "cancelled",
    ("skip", ""): "skipped",
}
"""What a kind with a reason says; a skip of a numbered job is that job's own end."""


def ending_of(statement: Statement) -> str:
    """Return done, failed, cancelled or skipped, or the empty text for no end.

    A retry that was swallowed ends the work: it was to run again, and nothing was published. A
    skip ends a job only when it is the job's own: it has a number and points to no other.
    """
    if statement.kind == "deliver" and statement.is_handover:
        return ""
    found = BY_KIND.get(statement.kind)
    if found is not None:
        return found
    if statement.kind == "skip" and not statement.is_end_of_job:
        return ""
    return BY_REASON.get((statement.kind, statement.reason or ""), "")
