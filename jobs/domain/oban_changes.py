"""What may have happened to a job between two sightings of its row, and what no reader saw."""

from __future__ import annotations

from jobs.domain.oban_known import TERMINAL, Seen

NEW = "new"
MOVED = "moved on"
NAMES = (NEW, MOVED, "retried", "snoozed", "rescued", "cancelled", "rewritten")


def change_between(before: Seen | None, after: Seen) -> str:
    """Name the last step that leads from one sighting to the next.

    A snooze up to Oban 2.23 raises max_attempts; from 2.24 on it gives the attempt back and counts
    in meta. A rescue by Lifeline writes no error. What only a person or the host's own code can
    have done is named before what Oban does by itself.
    """
    if before is None:
        return NEW
    if _is_snoozed(before, after):
        return "snoozed"
    if before.state in TERMINAL:
        return "retried" if _ran_again(before, after) else "rewritten"
    if after.state == "cancelled":
        return "cancelled"
    if _is_rescued(before, after):
        return "rescued"
    return "rewritten" if before[1:] == after[1:] else MOVED


def has_unseen_steps(before: Seen | None, after: Seen) -> bool:
    """Tell whether more than one step must lie between two sightings."""
    if before is None:
        return after.attempt > 1 or after.state in TERMINAL
    steps = after.attempt - before.attempt
    ended_again = before.state in TERMINAL and after.state in TERMINAL and steps > 0
    skipped_run = before.state != "executing" and after.state in ("completed", "discarded")
    return steps > 1 or ended_again or (skipped_run and steps > 0)


def _is_snoozed(before: Seen, after: Seen) -> bool:
    if after.snoozed > before.snoozed:
        return True
    grew = after.max_attempts > before.max_attempts and after.errors == before.errors
    return grew and before.is_open and before.state != "retryable"


def _ran_again(before: Seen, after: Seen) -> bool:
    return after.is_open or after.attempt > before.attempt


def _is_rescued(before: Seen, after: Seen) -> bool:
    if before.state != "executing" or after.errors != before.errors:
        return False
    return after.state == "discarded" or (
        after.state == "available" and after.attempt == before.attempt
    )
