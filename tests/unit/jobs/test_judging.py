"""What jobs and receipts come to: one case for each code and each pair of rules that may meet.

The histories stand in the form of the fixture, so that a case goes the way that a real one goes.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from jobs.domain import judging, sentences, verdicts
from ledger.domain import pointers, words
from ledger.domain.sentences import CLAUSES, PLAIN
from ledger.domain.statement import Statement
from ledger.domain.whole_book import WholeBook
from tests.unit.jobs import test_celery_jobs as celery
from tests.unit.jobs.history import (
    CANCELLED,
    DISCARDED,
    FAILED,
    Event,
    Row,
    bodies,
    cancel,
    child,
    event,
    invoke,
    judged,
    known_of,
    pruned,
    row,
    skipped,
    statement,
    stored,
    timer,
)
from tests.unit.ledger import test_verdicts as ledger

Case = tuple[list[Row], list[Event], str, str]
"""Rows, receipts, the number or name of what is judged, and its verdict."""

OF_JOBS: dict[str, Case] = {
    "the first of its key is fresh": ([invoke(1, 4, "available", ran=False)], [], "1", "fresh"),
    "one that completed is fresh still": ([invoke(1, 4)], [], "1", "fresh"),
    "a later generation is a re-entry": (
        [invoke(1, 2), invoke(2, 5, clock="09:10")], [], "2", "reentry.fresh",
    ),
    "the earlier of two generations is no re-entry": (
        [invoke(1, 2), invoke(2, 5, clock="09:10")], [], "1", "fresh",
    ),
    "a scope that ends in its own generation is packed": (
        [invoke(1, 2, scope="x1#2")], [], "1", "scope.packed",
    ),
    "a timer that waits": ([timer(1, ran=False)], [], "1", "timer.pending"),
    "a timer that is due": ([timer(1, state="available", ran=False)], [], "1", "timer.pending"),
    "a timer that fires just now": ([timer(1, state="executing")], [], "1", "timer.pending"),
    "a timer that failed and waits to be tried again": (
        [timer(1, state="scheduled", error=FAILED)], [], "1", "timer.pending",
    ),
    "a timer that was put off": ([timer(1)], [], "1", "timer.snoozed"),
    "a timer that fired": ([timer(1, state="completed")], [], "1", "done"),
    "a timer that was cancelled": ([timer(1, state="cancelled")], [], "1", "cancel.swept"),
    "a timer whose run was dead": (
        [timer(1, state="cancelled", error=DISCARDED)], [], "1", "discard.run_dead",
    ),
    "a timer that spent its attempts": (
        [timer(1, state="discarded", error=FAILED)], [], "1", "failed.exhausted",
    ),
    "an item that was started": ([child(1, 0)], [], "1", "fanout.child_started"),
    "an item that waits": ([child(1, 0, "retryable")], [], "1", "fanout.child_pending"),
    "an item whose start was cancelled": ([child(1, 0, "cancelled")], [], "1",
                                          "fanout.child_pending"),
    "a call that started items": ([invoke(1), child(2, 0)], [], "1", "open.fan_out"),
    "a call whose items are another generation's": (
        [invoke(1, 1), child(2, 0, step=2)], [], "1", "fresh",
    ),
    "a call that was deferred": (
        [invoke(1)], [event("invoke.deferred", "09:00:02", macrostep=1, job_id=1)], "1",
        "open.deferred",
    ),
    "a call that was cancelled before it ended": (
        [invoke(1, state="cancelled", ran=False)], [], "1", "cancel.swept",
    ),
    "a call whose run was dead": (
        [invoke(1, state="cancelled", error=DISCARDED)], [], "1", "discard.run_dead",
    ),
    "a call that spent its attempts": (
        [invoke(1, state="discarded", error=FAILED)], [], "1", "failed.exhausted",
    ),
    "a call that completed before the cancel": (
        [invoke(1)], [cancel("09:30", 1)], "1", "cancel.lost_to_terminal",
    ),
    "an answer after a newer generation was stored": (
        [invoke(1, 1, end="09:20"), invoke(2, 2, clock="09:10")], [], "1", "delivery.stale_suspect",
    ),
    "a live generation that an old answer swept": (
        [invoke(1, 1, end="09:20"), invoke(2, 2, "cancelled", "09:10", "09:21", ran=False)], [],
        "2", "cancel.swept_after_stale",
    ),
    "a cancelled row that an operator set going again": (
        [invoke(1, state="available", error=CANCELLED)], [], "1", "rerun.same_row",
    ),
    "a row put into the queue anew after its guard was deleted": (
        [invoke(2, 1, clock="09:30")], [stored(1, 1, "09:00"), pruned("09:20", 1)], "2",
        "replay.duplicated_after_prune",
    ),
    "an ordinary job that completed": ([row(1, worker="W")], [], "1", "done"),
    "an ordinary job that waits": ([row(1, "available", worker="W")], [], "1", "fresh"),
    "an ordinary job that was cancelled": (
        [row(1, "cancelled", worker="W")], [], "1", "cancel.swept",
    ),
    "an ordinary job that spent its attempts": (
        [row(1, "discarded", worker="W")], [], "1", "failed.exhausted",
    ),
}  # fmt: skip

KEYED = {"unique": {"fields": ["args"], "period": 300}, "worker": "W", "args": {"a": 1}}
ELEMENT = {"state_index": 3, "invoke_index": 0}
WORK = {"handler": "Elixir.Acme.A", "type": "acme:a", "src": "a"}

OF_RECEIPTS: dict[str, Case] = {
    "the first enqueue": ([], [stored(1, 1, "09:00")], "r0", "fresh"),
    "the enqueue of a later generation": (
        [invoke(1, 1)], [stored(2, 4, "09:10")], "r0", "reentry.fresh",
    ),
    "the enqueue of a later generation, known by receipts": (
        [], [stored(1, 1, "09:00"), stored(2, 4, "09:10")], "r1", "reentry.fresh",
    ),
    "a replay of the same element": (
        [invoke(1, 4, **ELEMENT)], [skipped(1, 4, **ELEMENT)], "r0", "dedup.replay",
    ),
    "a re-entry under a key without the generation": (
        [invoke(1, 2)], [skipped(1, 5, key_era="0.1")], "r0", "dedup.lost_reentry",
    ),
    "two elements of one id": (
        [invoke(1, 4, **ELEMENT)], [skipped(1, 4, state_index=7, invoke_index=0)], "r0",
        "dedup.residual_collision",
    ),
    "two invokes of one state": (
        [invoke(1, 4, **ELEMENT)], [skipped(1, 4, state_index=3, invoke_index=1)], "r0",
        "dedup.residual_collision",
    ),
    "a scope that was used again": (
        [invoke(1, 4, **ELEMENT, **WORK)], [skipped(1, 4, **ELEMENT, **{**WORK, "src": "b"})], "r0",
        "dedup.scope_reuse_suspect",
    ),
    "a lock whose holder stored a row": (
        [invoke(1, 1, clock="11:55:01")], [skipped(None, 1, "11:55")], "r0", "dedup.lock_contended",
    ),
    "a lock whose holder is looked for still": (
        [], [skipped(None, 1, "11:51")], "r0", "dedup.lock_contended",
    ),
    "a lock whose holder never appeared": (
        [], [skipped(None, 1, "11:49")], "r0", "dedup.lock_contended_lost",
    ),
    "a cancel that reached some": ([], [cancel("10:00", 2)], "r0", "cancel.swept"),
    "a cancel of what never was": ([], [cancel("10:00")], "r0", "cancel.noop"),
    "a cancel of what has ended": ([invoke(1)], [cancel("10:00")], "r0", "cancel.noop"),
    "a cancel while it ran": (
        [invoke(1, end="10:30")], [cancel("10:00")], "r0", "cancel.noop_executing",
    ),
    "a cancel while it runs still": (
        [invoke(1, state="executing")], [cancel("10:00")], "r0", "cancel.noop_executing",
    ),
    "a cancel before it ran": ([invoke(1, clock="10:30")], [cancel("10:00")], "r0", "cancel.noop"),
    "a cancel of the plain scope": (
        [invoke(1, 2, "available", scope="x1#2", ran=False)], [cancel("10:00")], "r0",
        "cancel.missed_packed",
    ),
    "a cancel of unstarted items": (
        [], [event("invoke.unstarted_cancelled", "10:00", count=2)], "r0", "cancel.swept",
    ),
    "a cancel of unstarted items where all had started": (
        [], [event("invoke.unstarted_cancelled", "10:00", count=0)], "r0", "cancel.noop",
    ),
    "an answer": (
        [invoke(1)], [event("invoke.delivered", "09:00:02", macrostep=1, job_id=1)], "r0", "done",
    ),
    "an answer of an old generation": (
        [invoke(1, 1), invoke(2, 2, clock="09:10")],
        [event("invoke.delivered", "09:20", macrostep=1, job_id=1)], "r0", "delivery.stale_suspect",
    ),
    "an answer that names its job alone": (
        [invoke(1, 1), invoke(2, 2, clock="09:10")],
        [event("invoke.delivered", "09:20", job_id=1)], "r0", "delivery.stale_suspect",
    ),
    "a timer that fired": (
        [timer(1, state="completed")], [event("timer.fired", "09:01", ordinal=1, job_id=1)], "r0",
        "done",
    ),
    "what a dead run did not take": (
        [], [event("invoke.discarded", "09:01", macrostep=1, job_id=1, reason="terminated")], "r0",
        "discard.run_dead",
    ),
    "an answer that will come from outside": (
        [invoke(1)], [event("invoke.deferred", "09:01", macrostep=1, job_id=1)], "r0",
        "open.deferred",
    ),
    "a call that was fanned out": (
        [], [event("invoke.fan_out", "09:01", macrostep=1, job_id=1, count=3)], "r0",
        "open.fan_out",
    ),
    "an item that was started": (
        [], [event("invoke.child_started", "09:01", macrostep=1, job_id=2, index=0)], "r0",
        "fanout.child_started",
    ),
    "a prune": ([], [pruned("09:00", 1, 2)], "r0", "guard.pruned"),
    "a prune that says only how many": (
        [], [{**pruned("09:00"), "count": 5}], "r0", "guard.pruned",
    ),
    "one of many that were stored together, unchecked": (
        [], [{"event": "oban.insert_all_jobs.stop", "worker": "W", "job_id": 1}], "r0", "fresh",
    ),
    "a prune of nothing": ([], [pruned("09:00")], "r0", "unknown"),
    "a timer asked for again": (
        [timer(1, 7)], [event("timer.scheduled", "10:00", ordinal=7, conflict=True, job_id=1)],
        "r0", "dedup.replay",
    ),
    "an item asked for again": (
        [child(1, 0, "executing")],
        [skipped(1, 1, index=0, worker="StatifierOban.Invoke.ChildStartWorker", queue="q")], "r0",
        "dedup.replay",
    ),
}  # fmt: skip

PRECEDENCE: dict[str, Case] = {
    # Timers
    "dead run before swept, of a timer": (
        [timer(1, state="cancelled", error=DISCARDED)],
        [event("timer.cancelled", "09:00:02", send_id="s", count=1)], "1", "discard.run_dead",
    ),
    "snoozed before pending, and an error tells them apart": (
        [timer(1, max_attempts=22)], [], "1", "timer.snoozed",
    ),
    # Invoke rows: (1) before (2) to (7)
    "guard gone before operator retry": (
        [invoke(2, 1, "available", "09:30", error=CANCELLED)],
        [stored(1, 1, "09:00"), pruned("09:20", 1)], "2", "replay.duplicated_after_prune",
    ),
    "guard gone before cancelled": (
        [invoke(2, 1, "cancelled", "09:30", error=DISCARDED)],
        [stored(1, 1, "09:00"), pruned("09:20", 1)], "2", "replay.duplicated_after_prune",
    ),
    "guard gone before exhausted": (
        [invoke(2, 1, "discarded", "09:30", error=FAILED)],
        [stored(1, 1, "09:00"), pruned("09:20", 1)], "2", "replay.duplicated_after_prune",
    ),
    "guard gone before stale": (
        [invoke(2, 1, clock="09:30", end="09:50"), invoke(3, 2, clock="09:40")],
        [stored(1, 1, "09:00"), pruned("09:20", 1)], "2", "replay.duplicated_after_prune",
    ),
    "guard gone before deferred": (
        [invoke(2, 1, clock="09:30")],
        [stored(1, 1, "09:00"), pruned("09:20", 1),
         event("invoke.deferred", "09:30:02", macrostep=1, job_id=2)], "2",
        "replay.duplicated_after_prune",
    ),
    "guard gone before packed": (
        [invoke(2, 1, clock="09:30", scope="x1#1")],
        [stored(1, 1, "09:00", scope="x1#1"), pruned("09:20", 1)], "2",
        "replay.duplicated_after_prune",
    ),
    "guard gone before re-entry": (
        [invoke(2, 2, clock="09:30"), invoke(3, 1)],
        [stored(1, 2, "09:00"), pruned("09:20", 1)], "2", "replay.duplicated_after_prune",
    ),
    # (2) before (6) and (7); a row that waits is in no state of (3) to (5)
    "operator retry before packed": (
        [invoke(1, 2, "scheduled", error=CANCELLED, scope="x1#2")], [], "1", "rerun.same_row",
    ),
    "operator retry before re-entry": (
        [invoke(1, 1), invoke(2, 2, "available", error=DISCARDED)], [], "2", "rerun.same_row",
    ),
    # (3) within itself, and before (6) and (7)
    "dead run before swept after stale": (
        [invoke(1, 1, end="09:20"), invoke(2, 2, "cancelled", "09:10", "09:21", DISCARDED)], [],
        "2", "discard.run_dead",
    ),
    "swept after stale before swept": (
        [invoke(1, 1, end="09:20"), invoke(2, 2, "cancelled", "09:10", "09:21")],
        [cancel("09:21", 1, rows=[2])], "2", "cancel.swept_after_stale",
    ),
    "swept after stale before packed": (
        [invoke(1, 1, end="09:20", scope="x1#1"),
         invoke(2, 2, "cancelled", "09:10", "09:21", scope="x1#2")], [], "2",
        "cancel.swept_after_stale",
    ),
    "swept before packed": ([invoke(1, 2, "cancelled", scope="x1#2")], [], "1", "cancel.swept"),
    "swept before re-entry": (
        [invoke(1, 1), invoke(2, 2, "cancelled", "09:10")], [], "2", "cancel.swept",
    ),
    # (4) before (6) and (7)
    "exhausted before packed": (
        [invoke(1, 2, "discarded", scope="x1#2")], [], "1", "failed.exhausted",
    ),
    "exhausted before re-entry": (
        [invoke(1, 1), invoke(2, 2, "discarded", "09:10")], [], "2", "failed.exhausted",
    ),
    # (5) within itself, and before (6) and (7)
    "stale before lost to terminal": (
        [invoke(1, 1, end="09:20"), invoke(2, 2, clock="09:10")], [cancel("09:30")], "1",
        "delivery.stale_suspect",
    ),
    "stale before fan-out": (
        [invoke(1, 1, end="09:20"), invoke(2, 2, clock="09:10"), child(3, 0)], [], "1",
        "delivery.stale_suspect",
    ),
    "stale before packed": (
        [invoke(1, 1, end="09:20", scope="x1#1"), invoke(2, 2, clock="09:10", scope="x1#2")], [],
        "1", "delivery.stale_suspect",
    ),
    "stale before re-entry": (
        [invoke(0, 0, "available"), invoke(1, 1, end="09:20"), invoke(2, 2, clock="09:10")], [],
        "1", "delivery.stale_suspect",
    ),
    "lost to terminal before fan-out": (
        [invoke(1, 1), child(2, 0)], [cancel("09:30")], "1", "cancel.lost_to_terminal",
    ),
    "lost to terminal before deferred": (
        [invoke(1, 1)],
        [cancel("09:30"), event("invoke.deferred", "09:00:02", macrostep=1, job_id=1)], "1",
        "cancel.lost_to_terminal",
    ),
    "lost to terminal before packed": (
        [invoke(1, 2, scope="x1#2")], [cancel("09:30", scope="x1#2")], "1",
        "cancel.lost_to_terminal",
    ),
    "lost to terminal before re-entry": (
        [invoke(1, 1, "cancelled"), invoke(2, 2, clock="09:10")], [cancel("09:30")], "2",
        "cancel.lost_to_terminal",
    ),
    "fan-out before deferred": (
        [invoke(1, 1), child(2, 0)],
        [event("invoke.deferred", "09:00:02", macrostep=1, job_id=1)], "1", "open.fan_out",
    ),
    "fan-out before packed": (
        [invoke(1, 2, scope="x1#2"), child(2, 0, step=2, scope="x1#2")], [], "1", "open.fan_out",
    ),
    "deferred before packed": (
        [invoke(1, 2, scope="x1#2")],
        [event("invoke.deferred", "09:01", macrostep=2, job_id=1, scope="x1#2")], "1",
        "open.deferred",
    ),
    "deferred before re-entry": (
        [invoke(1, 1, "cancelled"), invoke(2, 2)],
        [event("invoke.deferred", "09:01", macrostep=2, job_id=2)], "2", "open.deferred",
    ),
    # (6) before (7)
    "packed before re-entry": (
        [invoke(1, 1, scope="x1#1"), invoke(2, 2, clock="09:10", scope="x1#2")], [], "2",
        "scope.packed",
    ),
    # Receipts
    "lost re-entry before residual collision": (
        [invoke(1, 2, **ELEMENT)], [skipped(1, 5, state_index=7, invoke_index=0)], "r0",
        "dedup.lost_reentry",
    ),
    "residual collision before scope reuse": (
        [invoke(1, 4, **ELEMENT, **WORK)],
        [skipped(1, 4, state_index=7, invoke_index=0, handler="Elixir.Acme.B")], "r0",
        "dedup.residual_collision",
    ),
    "lock before lost re-entry": (
        [invoke(1, 2, clock="11:00")], [skipped(None, 5, "11:55")], "r0", "dedup.lock_contended",
    ),
    "a count before a packed row": (
        [invoke(1, 2, "available", scope="x1#2")], [cancel("10:00", 1)], "r0", "cancel.swept",
    ),
    "a packed row before one that executed": (
        [invoke(1, 2, "executing", scope="x1#2"), invoke(2, 3, "executing")], [cancel("10:00")],
        "r0", "cancel.missed_packed",
    ),
}  # fmt: skip


def check(case: Case) -> None:
    rows, receipts, which, code = case

    assert judged(rows, receipts)[which] == code


@pytest.mark.parametrize("case", OF_JOBS.values(), ids=list(OF_JOBS))
def test_a_job_is_judged(case: Case) -> None:
    check(case)


@pytest.mark.parametrize("case", OF_RECEIPTS.values(), ids=list(OF_RECEIPTS))
def test_a_receipt_is_judged(case: Case) -> None:
    check(case)


@pytest.mark.parametrize("case", PRECEDENCE.values(), ids=list(PRECEDENCE))
def test_of_two_rules_that_match_the_first_speaks(case: Case) -> None:
    check(case)


ALL = {**OF_JOBS, **OF_RECEIPTS, **PRECEDENCE}


def test_every_verdict_of_jobs_has_a_case() -> None:
    told = {code for *_, code in ALL.values()}
    told |= {code for _, code, _ in (*celery.JOBS.values(), *celery.RECEIPTS.values()) if code}

    assert {*sentences.OF_JOB, *sentences.OF_RECEIPT} - told == set()
    assert told <= {*words.VERDICT_CODES}


def told_of(case: Case) -> list[tuple[str, str, str]]:
    """Give code, rule and sentence of all jobs and receipts of a case."""
    rows, receipts, _, _ = case
    made = [statement(leaf, body) for leaf, body in enumerate(bodies(rows, receipts))]
    known, book = known_of(made), WholeBook(made)
    rulings = [(judging.judge_job(job, known), job) for job in known.jobs.values()]
    findings = [(one, pointers.find_pointer(one, book)) for one in made]
    judged = [
        verdicts.judge(one, known, book.find(found.target_leaf) if found else None)
        for one, found in findings
    ]
    return [
        *((ruling.code, ruling.rule, sentences.of_job(ruling, job)) for ruling, job in rulings),
        *((one.code, one.rule, one.sentence) for one in judged if one is not None),
    ]


def told_of_celery(log: list[Statement]) -> list[tuple[str, str, str]]:
    """Give code, rule and sentence of the job of a history of Celery, and of its last receipt."""
    known = celery.known_of(log)
    job, last = known.jobs[celery.NAME], verdicts.judge(log[-1], known, None)
    ruling = judging.judge_job(job, known)
    told = [(ruling.code, ruling.rule, sentences.of_job(ruling, job))]
    return told if last is None else [*told, (last.code, last.rule, last.sentence)]


TOLD = {name: told_of(case) for name, case in ALL.items()}
TOLD |= {
    name: told_of_celery(log) for name, (log, *_) in {**celery.JOBS, **celery.RECEIPTS}.items()
}


@pytest.mark.parametrize("told", TOLD.values(), ids=list(TOLD))
def test_every_verdict_has_a_sentence_and_a_rule_in_words(told: list[tuple[str, str, str]]) -> None:
    lines = [sentence for _, _, sentence in told]

    assert {rule for _, rule, _ in told} <= {*words.RULE_WORDS}
    assert [line for line in lines if line[0].islower() or line[-1] != "." or "None" in line] == []


def test_every_code_and_every_rule_is_the_ledgers_or_that_of_a_case_of_jobs() -> None:
    codes = {code for told in TOLD.values() for code, _, _ in told}
    rules = {rule for told in TOLD.values() for _, rule, _ in told}
    ledgers = {ledger.verdict_of(*log, now=now).rule for log, now, _, _ in ledger.CASES.values()}

    assert codes | {*CLAUSES, *PLAIN} == {*words.VERDICT_CODES}
    assert {*words.RULE_WORDS} - rules - ledgers == {"not-derived"}


@pytest.mark.parametrize("code", sorted({*words.VERDICT_CODES} - {*CLAUSES, *PLAIN}))
def test_the_reference_quotes_a_sentence_of_each_verdict_of_jobs(code: str) -> None:
    text = Path("docs/reference/verdicts.md").read_text(encoding="utf-8")
    quote = text.split(f"### `{code}`\n\n> ", 1)[1].split("\n", 1)[0]
    form = re.compile(".*".join(re.escape(part.strip()) for part in quote.split("…")))

    said = {sentence for told in TOLD.values() for one, _, sentence in told if one == code}

    assert [line for line in said if form.fullmatch(line)] != []
