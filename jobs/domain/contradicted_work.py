"""Receipts about work that cannot all be true: dones, acts, rows, and numbers with holes."""

from __future__ import annotations

from datetime import datetime

from jobs.domain.contradictions import Finding, no
from ledger.domain import plain
from ledger.domain.statement import Statement
from ledger.domain.targets import SKEW


def find_second_done(
    done: Statement,
    earlier: Statement,
    begun: tuple[datetime | None, datetime | None] = (None, None),
) -> Finding | None:
    """Find two dones of one key in its window; `begun` is when each was asked for, if known."""
    if done.key_digest is None or done.key_digest != earlier.key_digest:
        return None
    is_retry = done.job is not None and done.job == earlier.job
    if is_retry or done.id_key == earlier.id_key or not (done.is_readable and earlier.is_readable):
        return None
    if not _is_within_window(done, earlier, begun):
        return None
    sentence = f"Two dones of one key, {no(earlier)} and {no(done)}: the work ran again."
    return Finding("one_done", "same-key", done.leaf, earlier.leaf, sentence)


def _is_within_window(
    done: Statement, earlier: Statement, begun: tuple[datetime | None, datetime | None]
) -> bool:
    told = [one for one in (done.window_s, earlier.window_s) if one is not None]
    if not told:
        return True
    pairs = [(done.occurred_at, earlier.occurred_at), begun]
    apart = [abs((a - b).total_seconds()) for a, b in pairs if a is not None and b is not None]
    is_known = done.occurred_at is not None and earlier.occurred_at is not None
    return is_known and max(apart) <= min(told)


def find_no_actor(act: Statement) -> Finding | None:
    """Find a mutation that names nobody."""
    if act.kind != "act" or act.actor_id or act.actor_label:
        return None
    target = f" of {act.act_target}" if act.act_target else ""
    sentence = f"{no(act)} tells of a {act.act_verb or 'mutation'}{target}, and of nobody who did."
    return Finding("mutation_has_actor", "no-actor", act.leaf, None, sentence)


def no_start(done: Statement) -> Finding:
    """Say that nothing tells of a done's start."""
    sentence = (
        f"{no(done)} tells that {done.task or 'the work'} was done, and nothing tells that it was "
        "begun, though starts are sent of such work."
    )
    return Finding("done_has_start", "no-start", done.leaf, None, sentence)


def find_hole(line: str, before: tuple[int, int], after: tuple[int, int]) -> Finding | None:
    """Find the hole between two neighbours, each given as (number, leaf)."""
    first, last = before[0] + 1, after[0] - 1
    if first > last:
        return None
    many = f"number {first:,} is" if first == last else f"numbers {first:,} to {last:,} are"
    sentence = f"In {line} {many} missing between №{before[1]:,} and №{after[1]:,}."
    return Finding("no_holes", "hole", after[1], before[1], sentence)


def find_denied_done(done: Statement, row: Statement) -> Finding | None:
    """Find a done whose row says that the same attempt was discarded or cancelled."""
    if row.job_state not in ("discarded", "cancelled") or not _is_one_attempt(done, row):
        return None
    job = plain.object_of(row.body.get("job"))
    ended_at = plain.time_of(job.get(f"{row.job_state}_at"))
    # A job that was set going again and then cancelled keeps its attempt's number.
    if row.job_state == "cancelled" and not _is_by(ended_at, done.occurred_at):
        return None
    sentence = f"{no(done)} tells that the job was done, and its row {no(row)} is {row.job_state}."
    return Finding("row_agrees", "row-ended-otherwise", done.leaf, row.leaf, sentence)


def _is_one_attempt(done: Statement, row: Statement) -> bool:
    if done.attempt is None or row.attempt is None:
        return row.attempt == 1
    return done.attempt == row.attempt


def _is_by(ended_at: datetime | None, at: datetime | None) -> bool:
    return ended_at is not None and at is not None and ended_at - at <= SKEW


def missing_row(number: str, leaf: int, passed: int) -> Finding:
    """Say that a reader of the job table passed a job and never saw it."""
    sentence = (
        f"№{leaf:,} tells that job {number} was stored; the reader saw a later job in №{passed:,}, "
        "and never this one."
    )
    return Finding("row_agrees", "row-never-came", leaf, passed, sentence)
