"""An application without Statifier: `unique: [period: 300, keys: [:payout_id]]`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from jobs.domain.evaluate import evaluate
from jobs.domain.facts import fact_of
from jobs.domain.judging import judge_job
from jobs.domain.oban import event_receipt
from jobs.domain.sentences import of_job
from jobs.domain.state import Known
from jobs.domain.verdicts import judge
from ledger.domain.statement import Statement, read_statement

DAY = "2026-10-05T"
NOON = datetime(2026, 10, 5, 12, tzinfo=UTC)
UNIQUE = {
    "period": 300,
    "keys": ["payout_id"],
    "fields": ["args", "worker", "queue"],
    "states": ["available", "scheduled", "executing", "retryable", "completed"],
}
Members = dict[str, Any]


def insert(name: str, clock: str, job: int | None, payout: str, **more: Any) -> Members:
    return {
        "r": name, "at": f"{DAY}{clock}Z", "event": "oban.insert_job.stop", "conflict": False,
        "worker": "Acme.Payout", "queue": "payouts", "args": {"payout_id": payout, "note": name},
        "unique": UNIQUE, "job_id": job, **more,
    }  # fmt: skip


def row(number: int, state: str, payout: str, clock: str, **more: Any) -> Members:
    at = f"{DAY}{clock}Z"
    return {
        "id": number, "worker": "Acme.Payout", "queue": "payouts", "state": state,
        "args": {"payout_id": payout}, "attempt": 1, "max_attempts": 3, "errors": [],
        "tags": None, "meta": None, "inserted_at": at, "scheduled_at": at, "attempted_at": at,
        **more,
    }  # fmt: skip


ROWS = [
    row(1, "completed", "P1", "09:00:00", completed_at=f"{DAY}09:00:02Z"),
    row(2, "executing", "P2", "09:00:00"),
    row(3, "discarded", "P3", "09:00:00", discarded_at=f"{DAY}09:01:00Z"),
    row(5, "completed", "P4", "09:03:00", completed_at=f"{DAY}09:03:02Z"),
]
TELEMETRY = [
    insert("first of 1", "09:00:00", 1, "P1"),
    insert("first of 2", "09:00:00", 2, "P2"),
    insert("first of 3", "09:00:00", 3, "P3"),
    insert("first of 4", "09:00:00", 4, "P4"),
    insert("completed original", "09:02:00", 1, "P1", conflict=True, state="completed"),
    insert("executing original", "09:02:00", 2, "P2", conflict=True, state="executing"),
    insert("discarded original", "09:02:00", 3, "P3", conflict=True, state="discarded"),
    insert("lock lost, holder stored", "09:00:00", None, "P1", conflict=True),
    insert("lock lost, holder rolled back", "09:00:00", None, "P9", conflict=True),
    {
        "r": "insert_all", "at": f"{DAY}09:04:00Z", "event": "oban.insert_all_jobs.stop",
        "job_id": 6, "worker": "Acme.Payout", "queue": "payouts",
    },
    {"r": "prune inside the period", "at": f"{DAY}09:01:30Z", "event": "oban.plugin.stop",
     "pruned": [4]},
    insert("after the prune", "09:03:00", 5, "P4"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("completed original", "skip.already_done"),
        ("executing original", "skip.in_flight"),
        ("discarded original", "skip.original_failed"),
        ("lock lost, holder stored", "dedup.lock_contended"),
        ("lock lost, holder rolled back", "dedup.lock_contended_lost"),
        ("insert_all", "fresh"),
        ("prune inside the period", "guard.pruned"),
        ("after the prune", "fresh"),
    ],
)
def test_telemetry_and_rows_together_say_what_became_of_each(name: str, verdict: str) -> None:
    answer = evaluate({"now": f"{DAY}12:00:00Z", "rows": ROWS, "receipts": TELEMETRY})

    assert answer["receipts"][name]["verdict"] == verdict


@pytest.mark.parametrize(
    ("number", "together", "alone"),
    [
        ("1", "done", "done"),
        ("2", "fresh", "fresh"),
        ("3", "failed.exhausted", "failed.exhausted"),
        ("5", "replay.duplicated_after_prune", "done"),
    ],
)
def test_rows_alone_do_not_know_what_telemetry_tells(
    number: str, together: str, alone: str
) -> None:
    document = {"now": f"{DAY}12:00:00Z", "rows": ROWS}

    assert evaluate({**document, "receipts": TELEMETRY})["rows"][number]["verdict"] == together
    assert evaluate({**document, "receipts": []})["rows"][number]["verdict"] == alone


def read(events: list[Members]) -> list[Statement]:
    bodies = [event_receipt(one, instance="prod-1") for one in events]
    statements = [
        read_statement(
            {name: one for name, one in body.items() if name != "data"},
            leaf=leaf, ref=f"r{leaf}", state="accepted", received_at=NOON,
        )
        for leaf, body in enumerate(bodies)
    ]  # fmt: skip
    return statements


def know(statements: list[Statement]) -> Known:
    known = Known()
    for one in statements:
        fact = fact_of(one)
        if fact is not None:
            known.take(fact)
    return known


def test_a_prune_inside_the_period_is_named_as_the_true_window() -> None:
    statements = read(TELEMETRY)
    known = know(statements)
    prune = next(one for one in statements if one.kind == "prune")

    found = judge(prune, known, None)

    assert found is not None
    assert found.sentence == (
        "1 job was deleted from the job table. Job 4 guarded its key for 90 s, not for the 300 s "
        "of its period."
    )


def test_what_ran_again_says_how_long_its_guard_stood() -> None:
    known = know(read(TELEMETRY))
    job = known.jobs["oban/prod-1/5"]

    sentence = of_job(judge_job(job, known), job)

    assert "the guard went with the row after 90 s of its period of 300 s" in sentence


def test_a_second_asking_after_the_period_is_no_duplicate() -> None:
    late = insert("late", "09:06:00", 7, "P4")

    known = know(read([*TELEMETRY[:4], TELEMETRY[10], late]))

    job = known.jobs["oban/prod-1/7"]
    assert judge_job(job, known).code == "fresh"


def test_insert_all_says_that_uniqueness_was_not_checked() -> None:
    statements = read(TELEMETRY)
    known = know(statements)

    found = judge(statements[9], known, None)

    assert found is not None
    assert "uniqueness was not checked" in found.sentence
