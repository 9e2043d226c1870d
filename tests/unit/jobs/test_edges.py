"""Odd generations, scopes that carry one, moments that coincide, and guards that went."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from jobs.domain import judging, oban, verdicts
from jobs.domain.evaluate import evaluate
from jobs.domain.judging import judge_job
from tests.unit.jobs.history import (
    DISCARDED,
    NOW,
    cancel,
    child,
    event,
    invoke,
    judged,
    known_of,
    pruned,
    row,
    statement,
    stored,
)
from tests.unit.jobs.history import bodies as bodies_of
from tests.unit.ledger.shelf import at

HUGE = 10**17


def ranks(*rows: dict[str, Any]) -> dict[str, Any]:
    found = evaluate({"now": NOW, "rows": list(rows)})["rows"]
    return {number: (one["verdict"], one["generation"]) for number, one in found.items()}


def test_generations_are_ranked_as_numbers_and_not_as_texts() -> None:
    found = ranks(invoke(1, 9), invoke(2, 10, clock="09:10"), invoke(3, 100, clock="09:20"))

    assert found == {"1": ("fresh", 1), "2": ("reentry.fresh", 2), "3": ("reentry.fresh", 3)}


def test_huge_generations_are_ranked_too() -> None:
    found = ranks(invoke(1, HUGE), invoke(2, HUGE + 1, clock="09:10"))

    assert found == {"1": ("fresh", 1), "2": ("reentry.fresh", 2)}


def test_leading_zeros_make_no_other_generation() -> None:
    found = ranks(invoke(1, "4"), invoke(2, "04", clock="09:10"), invoke(3, "007", clock="09:20"))

    assert found == {"1": ("fresh", 1), "2": ("fresh", 1), "3": ("reentry.fresh", 2)}


@pytest.mark.parametrize("step", ["abc", "", None, "-1", "1.5", 1.5, "²", 10**30, "1" * 40])
def test_a_generation_that_is_no_whole_number_has_no_rank_and_no_order(step: Any) -> None:
    found = ranks(invoke(1, 1), invoke(2, step, clock="09:10"))

    assert found == {"1": ("fresh", 1), "2": ("fresh", None)}


def test_generations_that_are_no_numbers_are_compared_as_texts() -> None:
    first = {**stored(1, "abc", "09:00"), "macrostep": "abc"}
    again = event("invoke.enqueued", "09:01", macrostep="abc", conflict=True, job_id=1)
    other = event("invoke.enqueued", "09:02", macrostep="abd", conflict=True, job_id=1)

    found = judged([], [first, again, other])

    assert (found["r1"], found["r2"]) == ("dedup.replay", "dedup.lost_reentry")


def test_two_jobs_of_one_generation_are_both_of_its_rank() -> None:
    found = ranks(invoke(1, 1), invoke(2, 4, clock="09:10"), invoke(3, 4, clock="09:20"))

    assert found == {"1": ("fresh", 1), "2": ("reentry.fresh", 2), "3": ("reentry.fresh", 2)}


@pytest.mark.parametrize(
    ("scope", "step", "logical"),
    [
        ("X#2", 2, "X"),
        ("X#2", 5, "X#2"),
        ("X#02", 2, "X"),
        ("a#1#2", 2, "a#1"),
        ("a#1#2", 1, "a#1#2"),
        ("#2", 2, "#2"),
        ("X#", 2, "X#"),
        ("X#2 ", 2, "X#2 "),
        ("X#²", 2, "X#²"),
        ("X\n#2", 2, "X\n"),
        (f"X#{HUGE}", HUGE, "X"),
        (f"X#{HUGE}9", HUGE, f"X#{HUGE}9"),
        ("X#2", None, "X#2"),
    ],
)
def test_a_scope_is_unpacked_only_by_its_own_generation(
    scope: str, step: Any, logical: str
) -> None:
    (found,) = evaluate({"now": NOW, "rows": [invoke(1, step, scope=scope)]})["rows"].values()

    assert found["logical_scope"] == logical
    assert found["verdict"] == ("fresh" if scope == logical else "scope.packed")


def test_a_cancel_of_a_packed_scope_is_no_cancel_of_its_other_generations() -> None:
    rows = [
        invoke(1, 2, "executing", scope="x1#2"),
        invoke(2, 6, "available", clock="09:10", scope="x1#6", ran=False),
    ]

    found = judged(rows, [cancel("10:00", scope="x1#2"), cancel("10:00", scope="x1#6")])

    assert (found["r0"], found["r1"]) == ("cancel.noop_executing", "cancel.noop")


def test_a_cancel_does_not_miss_what_was_stored_after_it() -> None:
    later = invoke(1, 2, "available", clock="10:01", scope="x1#2", ran=False)

    assert judged([later], [cancel("10:00")])["r0"] == "cancel.noop"


def test_a_cancel_that_does_not_count_is_not_judged() -> None:
    made = statement(
        0, {"kind": "cancel", "source": {"system": "oban"}, "invoke": {"scope": "x1", "id": "pay"}}
    )

    assert verdicts.judge(made, known_of([made]), None) is None


def test_a_cancel_that_names_the_jobs_it_reached_ends_them_without_their_rows() -> None:
    made = [
        statement(leaf, body)
        for leaf, body in enumerate(
            bodies_of([], [stored(1, 1, "09:00"), cancel("09:30", 1, rows=[1])])
        )
    ]

    known = known_of(made)

    (job,) = known.jobs.values()
    assert judge_job(job, known).code == "cancel.swept" and job.finished_at == at("09:30")


SAME = "09:10"


@pytest.mark.parametrize(
    ("off", "code", "newer"),
    [
        (-1, "fresh", "cancel.swept"),
        (0, "fresh", "cancel.swept"),
        (1, "delivery.stale_suspect", "cancel.swept_after_stale"),
    ],
)
def test_an_answer_at_the_very_moment_of_a_newer_generation_is_not_stale(
    off: int, code: str, newer: str
) -> None:
    ended = (at(SAME) + timedelta(microseconds=off)).isoformat()
    old = {**invoke(1, 1), "completed_at": ended}
    told = {**event("invoke.delivered", SAME, macrostep=1, job_id=1), "at": ended}

    found = judged([old, invoke(2, 2, "cancelled", SAME, "09:20", ran=False)], [told])

    assert (found["1"], found["2"]) == (code, newer)
    assert found["r0"] == ("done" if code == "fresh" else code)


@pytest.mark.parametrize(
    ("clock", "code"),
    [
        ("09:29:59", "fresh"),
        ("09:30", "cancel.lost_to_terminal"),
        ("09:31", "cancel.lost_to_terminal"),
    ],
)
def test_a_cancel_at_the_moment_of_the_end_came_too_late(clock: str, code: str) -> None:
    assert judged([invoke(1, 1, end="09:30")], [cancel(clock, 1)])["1"] == code


@pytest.mark.parametrize(
    ("clock", "code"),
    [
        ("09:00:00", "cancel.noop"),
        ("09:00:01", "cancel.noop_executing"),
        ("09:29:59", "cancel.noop_executing"),
        ("09:30", "cancel.noop"),
    ],
)
def test_a_job_executes_from_its_start_until_before_its_end(clock: str, code: str) -> None:
    assert judged([invoke(1, 1, end="09:30")], [cancel(clock)])["r0"] == code


def test_a_job_that_waits_to_be_tried_again_was_executing_until_its_error() -> None:
    failed = invoke(1, 1, "retryable", error="{:error, :x}")
    failed["errors"][0]["at"] = "2026-10-05T09:10:00Z"

    found = judged([failed], [cancel("09:05"), cancel("09:10")])

    assert (found["r0"], found["r1"]) == ("cancel.noop_executing", "cancel.noop")


@pytest.mark.parametrize(
    ("clock", "code"), [("09:29:59", "fresh"), ("09:30", "again"), ("09:31", "again")]
)
def test_a_row_put_in_anew_counts_as_a_duplicate_only_after_the_prune(
    clock: str, code: str
) -> None:
    again = invoke(2, 1, clock="09:30")
    again["inserted_at"] = at(clock).isoformat()

    found = judged([again], [stored(1, 1, "09:00"), pruned("09:30", 1)])

    assert found["2"] == ("fresh" if code == "fresh" else "replay.duplicated_after_prune")


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_prune_counts_also_where_it_arrives_before_what_it_deleted(
    order: tuple[int, int],
) -> None:
    told = [stored(1, 1, "09:00"), pruned("09:20", 1)]

    found = judged([invoke(2, 1, clock="09:30")], [told[place] for place in order])

    assert found["2"] == "replay.duplicated_after_prune"


def test_a_prune_of_another_generation_or_call_frees_no_key() -> None:
    told = [
        stored(1, 1, "09:00"), stored(3, 2, "09:01", invoke_id="other"),
        stored(4, 2, "09:01", scope="x2"), pruned("09:20", 1, 3, 4),
    ]  # fmt: skip

    assert judged([invoke(2, 2, clock="09:30")], told)["2"] == "reentry.fresh"


def test_a_row_that_a_reader_missed_long_after_freed_its_key_before() -> None:
    gone = oban.prune_receipt(
        [(1, "completed")], instance="prod-1", since=at("10:00"), seen_at=at("11:00")
    )
    made = [*bodies_of([invoke(1, 1), invoke(2, 1, clock="09:30")], []), gone]

    known = known_of(statement(leaf, body) for leaf, body in enumerate(made))

    codes = {job.number: judge_job(job, known).code for job in known.jobs.values()}
    assert codes == {"1": "fresh", "2": "replay.duplicated_after_prune"}


def test_an_ordinary_job_is_no_duplicate_though_its_key_was_there_before() -> None:
    unique = {"fields": ["args"], "period": 60}
    told = [
        {"event": "oban.insert_job.stop", "at": f"2026-10-05T{clock}:00Z", "worker": "W",
         "args": {"a": 1}, "unique": unique, "conflict": False, "job_id": number}
        for number, clock in ((1, "09:00"), (2, "09:30"))
    ]  # fmt: skip

    found = judged([row(2, "available", "09:30", worker="W")], [*told, pruned("09:20", 1)])

    assert found["2"] == "fresh"


@pytest.mark.parametrize(
    ("states", "became", "code"),
    [
        ("successful", "completed", "replay.duplicated_after_prune"),
        ("successful", "discarded", "fresh"),
        ("successful", "", "replay.duplicated_after_prune"),
        ("incomplete", "completed", "fresh"),
        ("incomplete", "", "fresh"),
        ("all", "discarded", "replay.duplicated_after_prune"),
    ],
)
def test_a_row_that_guarded_no_more_was_no_guard_to_lose(
    states: str, became: str, code: str
) -> None:
    unique = {"fields": ["args"], "period": "infinity", "states": states}
    told = [
        {"event": "oban.insert_job.stop", "at": f"2026-10-05T{clock}:00Z", "worker": "W",
         "args": {"a": 1}, "unique": unique, "conflict": False, "job_id": number}
        for number, clock in ((1, "09:00"), (2, "09:30"))
    ]  # fmt: skip
    rows = [row(2, "available", "09:30", worker="W", ran=False)]
    rows += [row(1, became, worker="W")] if became else []

    assert judged(rows, [*told, pruned("09:20", 1)])["2"] == code


def test_a_job_known_by_its_deletion_alone_says_so() -> None:
    made = [statement(leaf, body) for leaf, body in enumerate(bodies_of([], [pruned("09:00", 7)]))]

    known = known_of(made)

    (job,) = known.jobs.values()
    assert judge_job(job, known) == judging.Ruling("guard.pruned", "pruned")


@pytest.mark.parametrize("word", ["deferred", "fan_out"])
@pytest.mark.parametrize("place", ["what", "event"])
def test_what_telemetry_observed_is_told_by_what_or_by_the_event(word: str, place: str) -> None:
    named = {"what": word} if place == "what" else {"data": {"event": f"invoke.{word}"}}
    call = {"scope": "x1", "id": "pay", "generation": "1"}
    made = [
        statement(0, {"kind": "observe", "source": {"system": "oban", "instance": "prod-1"},
                      "job": {"id": "1"}, "invoke": call, **named}),
        statement(1, bodies_of([invoke(1, 1)], [])[0]),
    ]  # fmt: skip

    known = known_of(made)
    told = verdicts.judge(made[0], known, None)
    assert told is not None and told.code == f"open.{word}"
    job = known.jobs["oban/prod-1/1"]
    assert judge_job(job, known).code == ("open.deferred" if word == "deferred" else "fresh")


BOTH_WAYS = pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["row last", "row first"])


@BOTH_WAYS
def test_what_a_row_says_of_its_job_stands_over_what_its_insert_said(
    order: tuple[int, int],
) -> None:
    told = bodies_of(
        [invoke(1, 1, handler="A")],
        [stored(1, 1, "08:59:59", key_era="0.1", handler="B", queue="other")],
    )

    known = known_of(statement(leaf, told[place]) for leaf, place in enumerate(order))

    (job,) = known.jobs.values()
    assert (job.handler, job.queue, job.inserted_at) == ("A", "q", at("09:00"))
    assert job.key_digest == statement(0, told[1]).key_digest


@BOTH_WAYS
def test_of_one_moment_the_row_stands_over_what_others_say(order: tuple[int, int]) -> None:
    told = bodies_of(
        [invoke(1, 1, "cancelled", error=DISCARDED)],
        [event("invoke.delivered", "09:00:02", macrostep=1, job_id=1)],
    )

    known = known_of(statement(leaf, told[place]) for leaf, place in enumerate(order))

    (job,) = known.jobs.values()
    assert (job.state, job.last_error, job.deliveries) == ("cancelled", "cancel_discarded", 1)


@BOTH_WAYS
def test_a_row_that_was_read_before_an_answer_does_not_undo_it(order: tuple[int, int]) -> None:
    told = bodies_of(
        [invoke(1, 1, "executing")], [event("invoke.delivered", "09:05", macrostep=1, job_id=1)]
    )

    known = known_of(statement(leaf, told[place]) for leaf, place in enumerate(order))

    (job,) = known.jobs.values()
    assert (job.state, job.finished_at, job.attempt) == ("completed", at("09:05"), 1)


def test_of_several_generations_the_nearest_older_one_is_named() -> None:
    made = bodies_of([invoke(n, n, clock=f"09:0{n}") for n in (1, 2, 3)], [])

    known = known_of(statement(leaf, body) for leaf, body in enumerate(made))

    other = judge_job(known.jobs["oban/prod-1/3"], known).other
    assert other is not None and other.number == "2"


def test_items_of_a_fan_out_are_no_generations_of_the_call() -> None:
    found = judged([child(2, 0, step=1), invoke(3, 2, clock="09:10")], [stored(3, 2, "09:10")])

    assert (found["3"], found["r0"]) == ("fresh", "fresh")


def test_jobs_of_two_instances_are_never_one() -> None:
    rows = [invoke(101, 1, end="09:30"), invoke(102, 2, clock="09:10")]
    made = [
        *bodies_of(rows[:1], [stored(101, 1, "09:00")], "prod-1"),
        *bodies_of(rows[1:], [pruned("09:05", 101), cancel("09:40")], "prod-2"),
        *bodies_of([invoke(101, 1)], [], "prod-2"),
    ]

    known = known_of(statement(leaf, body) for leaf, body in enumerate(made))

    codes = {name: judge_job(job, known).code for name, job in known.jobs.items()}
    assert codes == {
        "oban/prod-1/101": "fresh",
        "oban/prod-2/101": "cancel.lost_to_terminal",
        "oban/prod-2/102": "cancel.lost_to_terminal",
    }
