"""Attempts and keys as they come out of a log: whatever the order, the batches and the database."""

from __future__ import annotations

import json
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from jobs.domain import fixture, oban
from jobs.domain.recipes import Recipe
from jobs.models import Attempt, AttemptShape, KeyHolder
from jobs.projectors.attempts import AttemptsProjector
from jobs.projectors.keys import KeysProjector
from jobs.queries import lab
from ledger import rebuild
from ledger.queries.as_of import AsOf
from ledger.queries.lists import parse_query
from tests.architecture import ROOT
from tests.desk import Desk

FIXTURE = ROOT / "tests" / "data" / "oban_fixture.json"

NINE = datetime(2026, 10, 5, 9, tzinfo=UTC)
OBAN = {"system": "oban", "instance": "prod-1"}
WORKER = "StatifierOban.Invoke.Worker"


def at(seconds: float) -> str:
    return (NINE + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")


def enqueue(job: str, seconds: float, macrostep: int = 2, **more: Any) -> dict[str, Any]:
    fields = {"scope": "e1", "invoke_id": "resolve", "macrostep": macrostep}
    return {
        "kind": "enqueue",
        "occurred_at": at(seconds),
        "source": OBAN,
        "job": {"id": job, "task": WORKER, "queue": "q"},
        "key": {"recipe": "statifier.invoke", "version": "2", "fields": fields},
        **more,
    }


def row(job: str, state: str, seconds: float, **times: str) -> dict[str, Any]:
    named = {"id": job, "task": WORKER, "queue": "q", "state": state, "inserted_at": at(0)}
    return {"kind": "observe", "what": "row", "occurred_at": at(seconds),
            "source": {**OBAN, "via": "row"}, "job": {**named, **times},
            "invoke": {"scope": "e1", "id": "resolve", "generation": "2",
                       "element": [3, 0]}}  # fmt: skip


def attempts_of(desk: Desk) -> list[Attempt]:
    desk.catch_up()
    return list(Attempt.objects.filter(project_id=desk.project.id).order_by("leaf_index"))


def fields_of(desk: Desk, one: Attempt) -> dict[str, str]:
    shape = AttemptShape.objects.get(project_id=desk.project.id, shape=one.shape)
    return dict(zip(json.loads(shape.names), one.picked.split("\x1f"), strict=True))


@pytest.mark.parametrize("is_row_first", [True, False])
def test_an_enqueue_and_its_row_are_one_attempt_in_either_order(
    desk: Desk, is_row_first: bool
) -> None:
    told = [enqueue("101", 5), row("101", "completed", 9, completed_at=at(9))]
    for one in reversed(told) if is_row_first else told:
        desk.post(one)

    (attempt,) = attempts_of(desk)

    assert (attempt.outcome, attempt.state, attempt.rank) == ("r", "c", 3)
    assert attempt.at == int(NINE.timestamp()) * 1_000_000 + 5_000_000
    found = fields_of(desk, attempt)
    assert (found["macrostep"], found["element"]) == ("2", "[3,0]")


def test_a_row_whose_enqueue_was_never_seen_ran_when_it_was_inserted(desk: Desk) -> None:
    desk.post(row("102", "available", 60))
    desk.post(row("102", "executing", 70, attempted_at=at(70)))

    (attempt,) = attempts_of(desk)

    assert (attempt.outcome, attempt.at // 1_000_000) == ("r", int(NINE.timestamp()))
    assert attempt.gone_from is not None


def test_what_counterfoils_client_writes_of_one_claim_is_one_attempt(desk: Desk) -> None:
    token = uuid.uuid4()
    key = {"recipe": "once", "version": "1", "fields": {"payout": 1}}
    desk.post({"kind": "fail", "id": str(uuid.uuid5(token, "fail")), "occurred_at": at(3),
               "key": key})  # fmt: skip
    desk.post({"kind": "start", "id": str(token), "occurred_at": at(1), "key": key})
    desk.post({"kind": "done", "id": str(uuid.uuid5(token, "done")), "occurred_at": at(9),
               "key": key})  # fmt: skip

    (attempt,) = attempts_of(desk)

    assert (attempt.outcome, attempt.state) == ("r", "c")
    assert attempt.at // 1_000_000 == int(NINE.timestamp()) + 1


@pytest.mark.parametrize(
    ("skip", "outcome"),
    [
        ({"reason": "already_done"}, "s"),
        ({"reason": "in_flight"}, "s"),
        ({}, "s"),
        ({"reason": "lock_contended"}, "l"),
        ({"reason": "rate_limited", "rule": {"name": "limit"}}, "w"),
        ({"reason": "redelivery"}, "w"),
    ],
)
def test_a_skip_is_of_a_key_of_a_lost_lock_or_of_a_rule(
    desk: Desk, skip: dict[str, Any], outcome: str
) -> None:
    desk.post({"kind": "skip", "key": {"fields": {"k": 1}}, **skip})

    (attempt,) = attempts_of(desk)

    assert attempt.outcome == outcome


def test_pruned_jobs_lose_their_row_and_keep_their_attempt(desk: Desk) -> None:
    desk.post(enqueue("103", 0))
    desk.post({"kind": "prune", "occurred_at": at(30), "source": OBAN,
               "jobs": {"count": 2, "ids": ["103", "999"]}})  # fmt: skip

    (attempt,) = attempts_of(desk)

    assert attempt.gone_at == attempt.gone_from == int(NINE.timestamp()) * 1_000_000 + 30_000_000


def tell_much(desk: Desk) -> None:
    """Tell of jobs in all orders, with sweeps, heartbeats, claims without jobs, and odd names."""
    for number in range(12):
        job = str(number % 5)
        told: list[dict[str, Any]] = [
            enqueue(job, number, number % 3),
            row(job, ("executing", "completed", "cancelled")[number % 3], number + 20),
            {"kind": "start", "id": str(uuid.UUID(int=number)), "occurred_at": at(number),
             "key": {"fields": {"n": number % 4, "x\x1fy": "\ud800\x00"}}, "subjects": [
                 {"type": "payout", "id": f"PO-{number}"}]},
            {"kind": "fail", "id": str(uuid.uuid5(uuid.UUID(int=number + 1), "fail"))},
            {"kind": "heartbeat", "source": OBAN, "job": {"id": job}, "period_s": number + 1},
            {"kind": "skip", "reason": "already_done", "original": {"job": job}, "source": OBAN,
             "key": {"recipe": "oban.unique", "fields": {"args": {"r": 1}}, "window_s": 1e300,
                     "states": ["completed", "odd"]}},
            {"kind": ("prune", "cancel", "rescue")[number % 3], "source": OBAN,
             "occurred_at": at(number + 25), "jobs": {"ids": [job, "77"]}},
        ]  # fmt: skip
        for one in told[number % 2 :] if number % 2 else reversed(told):
            desk.post(one)


def test_the_rows_do_not_depend_on_how_the_log_was_cut(desk: Desk) -> None:
    tell_much(desk)
    desk.catch_up()

    projectors = [AttemptsProjector(), KeysProjector()]
    reports = [rebuild.rebuild(projectors, batch=batch) for batch in (1, 7, 2_000)]

    assert [(one.differing, one.first) for one in reports] == [(0, [])] * 3
    assert KeyHolder.objects.filter(project_id=desk.project.id).exists()


def test_the_two_part_key_would_have_lost_the_reentries_of_the_fixture(desk: Desk) -> None:
    history = fixture.merge_defaults(json.loads(FIXTURE.read_text()))
    told = [oban.event_receipt(one, instance="prod-1") for one in history.receipts]
    rows = [oban.row_receipt(one, instance="prod-1", seen_at=history.now) for one in history.rows]
    for one in (*told, *rows):
        desk.post(one)
    desk.catch_up()

    (found,) = lab.simulate(
        desk.project.id,
        [Recipe(("scope", "invoke_id"), None)],
        parse_query(""),
        AsOf(len(told) + len(rows) - 1, history.now, is_now=True),
        50,
    )

    lost = {
        one["fields"]["scope"] + " " + one["fields"]["macrostep"]
        for one in found["flips"]
        if any(each["field"] == "macrostep" for each in one["differs"])
    }
    assert lost == {"exec_b1 5", "exec_d2 2", "exec_d2 3", "exec_f3 6"}
    assert found["lost_reentries"] == 4
    assert "exec_a1" not in str([one["fields"] for one in found["flips"]]), "its guard was pruned"
