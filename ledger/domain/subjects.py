"""What became of a business object, folded from every receipt that names it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from ledger.domain.statement import Statement

ENDS: dict[str, str] = {
    "done": "done",
    "deliver": "done",
    "fail": "failed",
    "discard": "failed",
    "cancel": "cancelled",
    "revoke": "cancelled",
}
OPEN = "in_progress"
REVOKE_ASKED = "asked"
"""The reason of a revoke that was asked for: the task may run all the same."""

OPENS = frozenset({"enqueue", "start", "retry", "rescue"})
ROW_ENDS: dict[str, str] = {
    "completed": "done",
    "cancelled": "cancelled",
    "discarded": "failed",
}


RULE_WORDS: dict[str, str] = {
    "failed-since": "a failure came after the last done, and the same work was not taken up again",
    "opened-since": "other work on it was begun after the last done and has not ended",
    "done": "work on it is done, and nothing that was said later undoes that",
    "open": "work on it was begun and has neither ended nor been done",
    "last-end": "nothing is done and nothing is open, so the last end counts",
    "only-skips": "there are skips and nothing else",
    "nothing": "no receipt says anything of work on it",
}
"""The rules of `became`, and what each says."""


@dataclass(frozen=True, slots=True)
class Became:
    """What became of an object, by which rule, and the ref of the receipt that says so."""

    answer: str
    rule: str
    ref: str | None = None


@dataclass(frozen=True, slots=True)
class _Move:
    """What one receipt says of the work on the object, and in which thread of work."""

    at: datetime
    leaf: int
    ref: str
    thread: tuple[str, ...]
    answer: str


def became(statements: Iterable[Statement]) -> Became:
    """Fold what became of an object from its receipts, given in any order.

    Work is told apart by thread: a job, or without one a key, or without one a task. A message
    handed to a worker is no answer, and a revoke that was asked for is no end. The first rule
    that matches answers:

    1. `failed-since`: a fail or discard came after the last done, and its thread was neither
       opened again nor done.
    2. `opened-since`: a thread that has no done was opened after the last done and has not
       ended: `in_progress`.
    3. `done`: any thread is done. A skip, a cancel or another start of the same thread after it
       changes nothing.
    4. `open`: nothing is done, and some thread was opened and has not ended: `in_progress`.
    5. `last-end`: the last end of any thread, `failed`, `cancelled`, or `skipped` where the job
       itself ended so: it had expired, or its worker ignored it.
    6. `only-skips`: there are skips and nothing else: `skipped`.
    7. `nothing`: no receipt says anything of work: `nothing_recorded`.
    """
    known = sorted(
        (each for each in statements if each.is_readable),
        key=lambda each: (each.happened_at, each.leaf),
    )
    moves = [move for each in known if (move := _find_move(each)) is not None]
    if moves:
        return _of_moves(moves)
    skips = [each for each in known if each.kind == "skip"]
    return Became("skipped", "only-skips", skips[-1].ref) if skips else NOTHING


NOTHING = Became("nothing_recorded", "nothing")


def rule_words(rule: str) -> str:
    """Return what a rule of `became` says; a rule of a later release shows as itself."""
    return RULE_WORDS.get(rule, rule)


def _of_moves(moves: Sequence[_Move]) -> Became:
    states = _thread_states(moves)
    dones = [move for move in moves if move.answer == "done"]
    last_done = dones[-1] if dones else None
    since = [move for move in states if last_done is None or _order(move) > _order(last_done)]
    failed = [move for move in since if move.answer == "failed"]
    is_open = [move for move in since if move.answer == OPEN]
    if last_done is not None:
        if failed:
            return Became("failed", "failed-since", failed[-1].ref)
        if is_open:
            return Became(OPEN, "opened-since", is_open[-1].ref)
        return Became("done", "done", last_done.ref)
    if is_open:
        return Became(OPEN, "open", is_open[-1].ref)
    return Became(states[-1].answer, "last-end", states[-1].ref)


def _thread_states(moves: Sequence[_Move]) -> list[_Move]:
    """Return for each thread the move that tells its state, oldest first.

    A done is undone by a later fail only: clocks of two hosts may put a start after its own done.
    """
    states: dict[tuple[str, ...], _Move] = {}
    for move in moves:
        before = states.get(move.thread)
        is_settled = before is not None and before.answer == "done"
        if not is_settled or move.answer in ("done", "failed"):
            states[move.thread] = move
    return sorted(states.values(), key=_order)


def _order(move: _Move) -> tuple[datetime, int]:
    return move.at, move.leaf


def _find_move(statement: Statement) -> _Move | None:
    answer = answer_of(statement)
    if not answer:
        return None
    thread = thread_of(statement)
    return _Move(statement.happened_at, statement.leaf, statement.ref, thread, answer)


def answer_of(statement: Statement) -> str:
    """Return what one receipt says of work: OPEN, how it ended, or nothing."""
    if statement.is_row:
        return ROW_ENDS.get(statement.job_state, OPEN)
    if statement.is_end_of_job:
        return "skipped"
    if statement.kind == "revoke" and statement.reason == REVOKE_ASKED:
        return ""
    if statement.is_handover:
        return OPEN
    return OPEN if statement.kind in OPENS else ENDS.get(statement.kind, "")


def thread_of(statement: Statement) -> tuple[str, ...]:
    """Return what tells work on an object apart: a job, else a key, else a task."""
    if statement.job is not None:
        return "job", statement.job.text()
    if statement.key_digest is not None:
        return "key", statement.key_digest
    return "task", statement.system, statement.instance, statement.task
