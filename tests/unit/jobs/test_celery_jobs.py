"""Jobs of Celery: what each comes to, and how deliveries and executions are ranked."""

from __future__ import annotations

import pytest

from jobs.domain import beginnings, judging, sentences, verdicts
from jobs.domain.facts import Fact, fact_of, tallied_fact
from jobs.domain.state import Job, Known
from ledger.domain import tallies
from ledger.domain.statement import Statement
from tests.unit.ledger.celery import EXPIRES, tally, told
from tests.unit.ledger.shelf import at

NAME = "celery/shop/3f0c"
HANDED = {"redelivered": False}
ONCE = {"recipe": "celery.once", "fields": {"task": "mail.send"}}

JOBS: dict[str, tuple[list[Statement], str, str]] = {
    "asked to run again, and nothing was published": (
        [told(0, "start"), told(1, "retry", reason="swallowed")], "retry.swallowed",
        "It asked to run again and nothing was published, so it will not run.",
    ),
    "its worker was lost": (
        [told(0, "start"), told(1, "fail", reason="worker_lost")], "fail.worker_lost",
        "It failed: its worker was lost.",
    ),
    "it took too long": (
        [told(0, "fail", reason="time_limit")], "fail.time_limit",
        "It failed: it took longer than it may.",
    ),
    "it failed by its own rejection": (
        [told(0, "fail", reason="rejected")], "fail.rejected",
        "It failed: its own code rejected it.",
    ),
    "it was rejected": (
        [told(0, "discard", reason="rejected")], "discard.rejected", "Its own code rejected it.",
    ),
    "nobody knew its task": (
        [told(0, "discard", reason="unknown_task")], "discard.unknown_task",
        "It was dropped: no worker knew its task.",
    ),
    "nobody could read its message": (
        [told(0, "discard", reason="undecodable")], "discard.undecodable",
        "It was dropped: its message could not be read.",
    ),
    "it was revoked": (
        [told(0, "revoke", reason="asked"), told(1, "revoke", reason="effected")],
        "revoke.effected", "It was revoked.",
    ),
    "it expired": (
        [told(0, "enqueue"), told(1, "skip", reason="expired", rule=EXPIRES)], "skip.expired",
        "It expired before a worker took it up.",
    ),
    "it was ignored": (
        [told(0, "start"), told(1, "skip")], "skip.unexplained",
        "Its own code had it ignored, and gave no reason; whether the work was done is not known.",
    ),
    "it is to be revoked, and nobody has heeded that": (
        [told(0, "start"), told(1, "revoke", reason="asked")], "fresh",
        "It was started. A revoke was asked for by №1, and nothing on record tells that it took "
        "effect, nor how the job ended.",
    ),
    "a revoke was asked for, and nothing else is known": (
        [told(0, "revoke", reason="asked")], "fresh",
        "A revoke was asked for by №0, and nothing on record tells that it took effect, nor how "
        "the job ended.",
    ),
    "a revoke was asked for, and it was done before": (
        [told(0, "done"), told(1, "revoke", reason="asked")], "done", "It completed.",
    ),
    "it has no key, and was published": (
        [told(0, "enqueue")], "fresh",
        "It was published, and nothing on record tells of its end.",
    ),
    "it has no key, and was handed out": (
        [told(0, "enqueue"), told(1, "deliver", job=HANDED)], "fresh",
        "It was handed to a worker, and nothing on record tells of its end.",
    ),
    "it has no key, and was started before its worker was killed": (
        [told(0, "enqueue"), told(1, "deliver", job=HANDED), told(2, "start")], "fresh",
        "It was started, and nothing on record tells of its end.",
    ),
    "it has no key, and is to run again": (
        [told(0, "start"), told(1, "retry")], "fresh",
        "It was tried and is to run again, and nothing on record tells of its end.",
    ),
    "it is the first of its key": (
        [told(0, "enqueue", key=ONCE), told(1, "start")], "fresh",
        "The first job on record of its key.",
    ),
    "another had its key before it": (
        [told(0, "enqueue", key=ONCE, job={"id": "before"}), told(1, "enqueue", key=ONCE)],
        "fresh", "New work: job before had its key before it.",
    ),
    "it was retried and is done": (
        [told(0, "start"), told(1, "retry"), told(2, "start", job={"attempt": 2}), told(3, "done")],
        "done", "It completed.",
    ),
    "it failed once its worker was lost, and another worker did it": (
        [told(0, "fail", reason="worker_lost"), told(1, "start"), told(2, "done")], "done",
        "It completed.",
    ),
}  # fmt: skip

RECEIPTS: dict[str, tuple[list[Statement], str | None, str]] = {
    "the first delivery is left to the ledger": ([told(0, "deliver", job=HANDED)], None, ""),
    "the second delivery of one attempt": (
        [told(0, "deliver", job=HANDED), told(1, "deliver", job=HANDED)], "delivery.again",
        "Handed out again: attempt 1 of job 3f0c had been handed to a worker before, by №0.",
    ),
    "a delivery of the next attempt is a first": (
        [told(0, "deliver", job=HANDED), told(1, "deliver", job={**HANDED, "attempt": 2})],
        None, "",
    ),
    "the first start is left to the ledger": ([told(0, "start")], None, ""),
    "the second start of one attempt": (
        [told(0, "start"), told(1, "start")], "start.again",
        "Started again: attempt 1 of job 3f0c had been started before, by №0.",
    ),
    "a start that came first and was told last": (
        [told(0, "start", "09:30"), told(1, "start", "09:10")], None, "",
    ),
    "a start of which no attempt is told": (
        [told(0, "start"), told(1, "start", job={"attempt": None})], None, "",
    ),
}  # fmt: skip


def known_of(statements: list[Statement]) -> Known:
    known = Known()
    for one in statements:
        fact = fact_of(one)
        assert fact is not None
        known.take(fact)
    return known


def job_of(statements: list[Statement]) -> Job:
    return known_of(statements).jobs[NAME]


@pytest.mark.parametrize(("log", "code", "sentence"), JOBS.values(), ids=JOBS)
def test_what_a_job_comes_to(log: list[Statement], code: str, sentence: str) -> None:
    known = known_of(log)

    ruling = judging.judge_job(known.jobs[NAME], known)

    assert (ruling.code, sentences.of_job(ruling, known.jobs[NAME])) == (code, sentence)


@pytest.mark.parametrize(("log", "code", "sentence"), RECEIPTS.values(), ids=RECEIPTS)
def test_what_the_last_receipt_comes_to(
    log: list[Statement], code: str | None, sentence: str
) -> None:
    verdict = verdicts.judge(log[-1], known_of(log), None)

    # A first start is new work, by the ledger's own rules.
    assert (verdict and verdict.code, verdict.sentence if verdict else "") == (code, sentence)


def test_an_earlier_start_overtakes_the_one_that_was_the_first() -> None:
    known = known_of([told(0, "start", "09:30"), told(1, "start", "09:10")])

    assert known.overtaken == {0}
    assert verdicts.judge(told(0, "start", "09:30"), known, None) is not None


def test_deliveries_and_executions_are_counted_apart() -> None:
    job = job_of([told(0, "deliver"), told(1, "start"), told(2, "deliver"), told(3, "deliver")])

    assert (job.deliveries, job.starts, job.state) == (3, 1, "executing")


def test_a_message_that_is_handed_out_is_no_end() -> None:
    assert job_of([told(0, "enqueue"), told(1, "deliver")]).state == ""


def test_only_so_many_attempts_are_told_apart() -> None:
    text = ""
    for attempt in range(beginnings.MOST + 5):
        text, _ = beginnings.note(text, beginnings.name_of("s", attempt), at("09:00"), attempt)

    assert len(beginnings.read(text)) == beginnings.MOST
    assert beginnings.before(text, beginnings.name_of("s", beginnings.MOST + 1), 9_999) is None


LISTED = [["mail.send", "3f0c", "done", 12], ["mail.send", "other", "done", 3]]


def rows_of(leaf: int, clock: str, *rows: object) -> dict[str, list[Fact]]:
    made = tally(leaf, clock)
    listed = tallies.listing(made, tallies.outcomes_of(rows))
    return {name: [tallied_fact(each, name)] for name, each in listed.items()}


def test_a_tally_ends_a_job_that_has_receipts_and_keeps_nothing_of_another() -> None:
    known = known_of([told(0, "enqueue")])

    for told_of_one in rows_of(1, "09:10", *LISTED).values():
        known.take_tallied(told_of_one[0])

    assert list(known.jobs) == [NAME]
    assert (known.jobs[NAME].state, known.jobs[NAME].tallied_leaf) == ("completed", 1)


def test_a_tally_that_came_before_the_first_receipt_of_a_job_counts_then() -> None:
    known = Known()
    known.tallied = rows_of(0, "09:10", *LISTED)
    fact = fact_of(told(1, "enqueue", "09:05"))
    assert fact is not None

    known.take(fact)

    assert known.jobs[NAME].state == "completed"
