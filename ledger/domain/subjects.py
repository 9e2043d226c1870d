"""What became of a business object, folded from every receipt that names it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ledger.domain.statement import Statement

ENDS: dict[str, str] = {
    "done": "done",
    "deliver": "done",
    "fail": "failed",
    "discard": "failed",
    "cancel": "cancelled",
    "revoke": "cancelled",
}
OPENS = frozenset({"enqueue", "start", "retry", "rescue"})
ROW_ENDS = {"completed": "done", "cancelled": "cancelled", "discarded": "failed"}


@dataclass(frozen=True, slots=True)
class Became:
    """What became of an object, by which rule, and the receipt that says so."""

    answer: str
    rule: str
    ref: str | None = None


def became(statements: Iterable[Statement]) -> Became:
    """Fold what became of an object from its receipts, in any order.

    The answer is that of the thread of work that moved last, a thread being a job or, without
    one, a key, a task, or the receipt alone. Rules, first match wins:

    1. `done`: any thread's last move is done and no thread moved to another end or opened after
       it; skips after it change nothing, for they say that the work was not run again.
    2. `in_progress`: the last move of any thread is an enqueue, start, retry or rescue.
    3. `failed`, `cancelled`: the last move of all is that.
    4. `skipped`: there are skips and nothing else happened.
    5. `nothing_recorded`: no receipt says anything of work.
    """
    ordered = sorted(statements, key=lambda each: (each.happened_at, each.leaf))
    known = [each for each in ordered if each.is_readable]
    return _became(known)


def _became(known: Sequence[Statement]) -> Became:
    threads: dict[tuple[str, ...], Statement] = {}
    skips = []
    for each in known:
        if each.kind == "skip":
            skips.append(each)
        elif move(each):
            threads[_thread(each)] = each
    if not threads:
        return _only_skips(skips)
    return _of_threads(sorted(threads.values(), key=lambda each: (each.happened_at, each.leaf)))


def _only_skips(skips: Sequence[Statement]) -> Became:
    if skips:
        return Became("skipped", "only-skips", skips[-1].ref)
    return Became("nothing_recorded", "nothing")


def _of_threads(last_moves: Sequence[Statement]) -> Became:
    last = last_moves[-1]
    if move(last) == "done":
        return Became("done", "last-done", last.ref)
    still_open = [each for each in last_moves if move(each) == "in_progress"]
    if still_open:
        return Became("in_progress", "thread-open", still_open[-1].ref)
    return Became(move(last), "last-end", last.ref)


def move(statement: Statement) -> str:
    """Return what a receipt says of the work: an end, `in_progress`, or the empty text."""
    if statement.is_row:
        return ROW_ENDS.get(statement.job_state, "in_progress")
    if statement.kind in OPENS:
        return "in_progress"
    return ENDS.get(statement.kind, "")


def _thread(statement: Statement) -> tuple[str, ...]:
    if statement.job is not None:
        return "job", statement.job.text()
    if statement.key_digest is not None:
        return "key", statement.key_digest
    if statement.task:
        return "task", statement.system, statement.instance, statement.task
    return "one", ""
