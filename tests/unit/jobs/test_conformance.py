"""The conformance cases of statifier_oban, as far as an observer of rows and telemetry sees them.

Not seen from outside, and so without a case: 15 and 16 (no row is written, and no event of ours
tells of it), 28 (refused before an insert), 33's failure for a fan-out that is too long, and what
a run then does with an answer.
"""

from __future__ import annotations

from typing import Any

import pytest

from jobs.domain.evaluate import evaluate
from tests.unit.jobs.history import (
    CANCELLED,
    CHILD,
    DISCARDED,
    FAILED,
    NOW,
    cancel,
    child,
    event,
    invoke,
    judged,
    known_of,
    skipped,
    statement,
    stored,
    timer,
)
from tests.unit.jobs.history import bodies as bodies_of

ELEMENT = {"state_index": 3, "invoke_index": 0}
WAITING = ("suspended", "scheduled", "available", "retryable")


def scheduled(number: int, ordinal: int, clock: str = "10:00", **more: Any) -> dict[str, Any]:
    """Give the insert of a timer that was declined for a job."""
    return event("timer.scheduled", clock, ordinal=ordinal, conflict=True, job_id=number, **more)


def test_case_1_the_same_start_again_is_a_replay_of_one_job() -> None:
    found = judged([invoke(1, 1, **ELEMENT)], [stored(1, 1, "09:00"), skipped(1, 1, "09:01")])

    assert found == {"1": "fresh", "r0": "fresh", "r1": "dedup.replay"}


def test_case_2_the_same_id_at_a_later_macrostep_is_a_second_job() -> None:
    found = judged([invoke(1, 1), invoke(2, 2, clock="09:10")])

    assert found == {"1": "fresh", "2": "reentry.fresh"}


def test_case_3_one_cancel_reaches_two_generations() -> None:
    rows = [invoke(n, n, "cancelled", end="09:30", ran=False) for n in (1, 2)]

    found = judged(rows, [cancel("09:30", 2, rows=[1, 2])])

    assert found == {"1": "cancel.swept", "2": "cancel.swept", "r0": "cancel.swept"}


def test_case_4_a_cancel_of_what_was_never_started_changes_nothing() -> None:
    assert judged([], [cancel("09:30")]) == {"r0": "cancel.noop"}


def test_case_5_an_executing_job_stays_executing() -> None:
    found = judged([invoke(1, 1, "executing")], [cancel("09:30")])

    assert found == {"1": "fresh", "r0": "cancel.noop_executing"}


def test_case_6_a_job_that_cancels_its_own_call_survives_it() -> None:
    found = judged([invoke(1, 1, end="09:30")], [cancel("09:20")])

    assert found == {"1": "fresh", "r0": "cancel.noop_executing"}


def test_case_7_the_pending_twin_in_another_queue_is_swept_and_the_runner_completes() -> None:
    twin = {**invoke(2, 2, "cancelled", "09:10", "09:20", ran=False), "queue": "other"}

    found = judged([invoke(1, 1, end="09:20"), twin], [cancel("09:20", 1, rows=[2])])

    assert found["2"] == "cancel.swept_after_stale" and found["r0"] == "cancel.swept"


@pytest.mark.parametrize("state", WAITING)
def test_case_8_a_waiting_row_is_cancelled(state: str) -> None:
    before = invoke(1, 1, state, ran=False)
    after = invoke(1, 1, "cancelled", end="09:30", ran=False)

    found = judged([before, after], [cancel("09:30", 1, rows=[1])])

    assert found == {"1": "cancel.swept", "r0": "cancel.swept"}


def test_case_9_a_state_exit_before_the_job_ran_cancels_it() -> None:
    found = judged([], [stored(1, 1, "09:00"), cancel("09:30", 1, rows=[1])])

    assert found == {"r0": "fresh", "r1": "cancel.swept"}


@pytest.mark.parametrize("reason", ["terminated", "done", "cancelled", "budget_exhausted"])
def test_cases_10_and_11_an_answer_to_a_run_that_is_over_is_discarded(reason: str) -> None:
    error = f"{{:cancel, {{:discarded, :{reason}}}}}"
    told = event("invoke.discarded", "09:00:02", macrostep=1, job_id=1, reason=reason)

    found = judged([invoke(1, 1, "cancelled", error=error)], [told])

    assert found == {"1": "discard.run_dead", "r0": "discard.run_dead"}


def test_case_12_a_live_run_is_answered() -> None:
    told = event("invoke.delivered", "09:00:02", macrostep=1, job_id=1)

    assert judged([invoke(1, 1)], [told]) == {"1": "fresh", "r0": "done"}


def test_case_13_opaque_bytes_that_differ_are_no_part_of_the_key() -> None:
    first, again = ({"params": {"t2b64": text, "codec": "C"}} for text in ("QUJD", "WFla"))

    found = judged([invoke(1, 1, **ELEMENT, **first)], [skipped(1, 1, **ELEMENT, **again)])

    assert found["r0"] == "dedup.replay"


def test_case_14_a_cancel_reaches_a_job_whose_values_are_coded() -> None:
    coded = invoke(1, 1, "cancelled", params={"t2b64": "QUJD", "codec": "C"}, ran=False)

    assert judged([coded], [cancel("09:30", 1)])["1"] == "cancel.swept"


def test_case_17_a_run_that_gives_an_error_waits_to_be_tried_again() -> None:
    assert judged([invoke(1, 1, "retryable", error=FAILED)])["1"] == "fresh"


def test_case_18_an_undecodable_row_is_cancelled_and_an_unknown_module_retried() -> None:
    rows = [
        invoke(1, 1, "cancelled", error=CANCELLED),
        invoke(2, 1, "retryable", error=FAILED, name="other"),
    ]

    assert judged(rows) == {"1": "cancel.swept", "2": "fresh"}


def test_case_19_a_row_of_before_a_member_existed_is_read() -> None:
    old = invoke(1, 1)
    new = invoke(2, 2, clock="09:10", caller_context=None)

    assert judged([old, new]) == {"1": "fresh", "2": "reentry.fresh"}


def test_case_20_a_timer_scheduled_again_gives_the_same_job() -> None:
    found = judged([timer(113, 7, ran=False)], [scheduled(113, 7)])

    assert found == {"113": "timer.pending", "r0": "dedup.replay"}


def test_case_21_another_ordinal_is_another_timer() -> None:
    rows = [timer(1, 7, ran=False), timer(2, 8, ran=False)]

    found = judged(rows, [scheduled(1, 8)])

    assert (found["1"], found["2"]) == ("timer.pending", "timer.pending")
    assert found["r0"] != "dedup.replay"


def test_case_22_two_scopes_are_two_timers_and_a_cancel_of_one_leaves_the_other() -> None:
    rows = [timer(1, 1, "cancelled", ran=False), timer(2, 1, ran=False, scope="x2")]
    swept = event("timer.cancelled", "09:00:02", send_id="s", count=1)

    found = judged(rows, [swept, scheduled(1, 1, scope="x2")])

    assert (found["1"], found["2"], found["r0"]) == (
        "cancel.swept",
        "timer.pending",
        "cancel.swept",
    )
    assert found["r1"] != "dedup.replay"


@pytest.mark.parametrize(
    ("state", "error"), [("completed", ""), ("cancelled", ""), ("cancelled", DISCARDED)]
)
def test_case_23_a_replayed_timer_is_skipped_whatever_became_of_the_first(
    state: str, error: str
) -> None:
    assert judged([timer(1, 7, state, error=error)], [scheduled(1, 7)])["r0"] == "dedup.replay"


def test_case_24_a_cancel_by_send_id_reaches_two_timers_and_leaves_the_third() -> None:
    rows = [timer(n, n, "cancelled", ran=False) for n in (1, 2)]
    rows.append(timer(3, 3, ran=False, send_id="t"))

    found = judged(rows, [event("timer.cancelled", "09:00:02", send_id="s", count=2)])

    assert list(found.values()) == ["cancel.swept", "cancel.swept", "timer.pending", "cancel.swept"]


def test_case_25_after_a_restart_the_replayed_drive_fires_once() -> None:
    fired = event("timer.fired", "09:00:02", ordinal=7, job_id=1)

    found = judged([timer(1, 7, "completed")], [scheduled(1, 7, "09:00"), fired])

    assert found == {"1": "done", "r0": "dedup.replay", "r1": "done"}


def test_case_26_without_the_run_the_fire_is_discarded_as_data_on_the_row() -> None:
    assert judged([timer(1, 7, "cancelled", error=DISCARDED)])["1"] == "discard.run_dead"


def test_case_27_all_but_the_ordinal_may_change() -> None:
    changed = scheduled(1, 7, send_id="other", macrostep=9, microstep=8, round=7, c_index=6)

    assert judged([timer(1, 7, ran=False)], [changed])["r0"] == "dedup.replay"


def test_case_29_a_timer_that_spent_its_attempts_holds_its_key_until_an_operator_retries() -> None:
    spent = timer(1, 7, "discarded", error=FAILED)
    delivered = timer(1, 7, "completed", end="09:30", error=FAILED)

    assert judged([spent], [scheduled(1, 7)]) == {"1": "failed.exhausted", "r0": "dedup.replay"}
    assert judged([spent, delivered])["1"] == "done"


@pytest.mark.parametrize("form", [{"max_attempts": 22, "attempt": 2}, {"meta": {"snoozed": 2}}])
def test_case_30_a_snooze_costs_nothing_and_can_be_cancelled(form: dict[str, Any]) -> None:
    snoozed = timer(1, 7, **form)
    swept = timer(1, 7, "cancelled", end="09:30", **form)

    assert judged([snoozed])["1"] == "timer.snoozed"
    assert judged([snoozed, swept])["1"] == "cancel.swept"


def test_case_30_a_snooze_that_raises_costs_an_attempt() -> None:
    assert judged([timer(1, 7, "retryable", error=FAILED)])["1"] == "timer.pending"


def test_case_31_two_indices_are_two_jobs_and_one_twice_is_one() -> None:
    rows = [invoke(1, 1), child(2, 0), child(3, 1)]

    found = judged(rows, [skipped(2, 1, index=0, worker=CHILD)])

    assert list(found.values()) == [
        "open.fan_out", "fanout.child_started", "fanout.child_started", "dedup.replay",
    ]  # fmt: skip


def test_case_32_a_fan_out_run_twice_has_each_index_once() -> None:
    again = [skipped(n + 2, 1, index=n, worker=CHILD) for n in range(3)]

    found = judged([invoke(1, 1), *(child(n + 2, n) for n in range(3))], again)

    assert [found[f"r{n}"] for n in range(3)] == ["dedup.replay"] * 3


def test_case_34_a_cancel_of_unstarted_items_leaves_those_that_execute() -> None:
    rows = [child(2, 0, "executing"), child(3, 1, "cancelled", ran=False)]

    found = judged(rows, [event("invoke.unstarted_cancelled", "09:02", count=1, rows=[3])])

    assert (found["2"], found["r0"]) == ("fanout.child_pending", "cancel.swept")


def test_case_35_a_replay_tells_again_and_a_cancel_that_matches_nothing_counts_none() -> None:
    rejected = event("invoke.enqueue_rejected", "10:00", reason="no_queue")
    no_scope = {**event("timer.schedule_rejected", "10:01"), "scope": None}

    found = judged(
        [invoke(1, 1, **ELEMENT)],
        [skipped(1, 1, **ELEMENT), cancel("10:00"), rejected, no_scope],
    )

    assert [found[f"r{n}"] for n in range(4)] == [
        "dedup.replay", "cancel.noop", "unknown", "unknown",
    ]  # fmt: skip


def test_scope_reuse_that_the_key_cannot_tell_is_suspected_by_the_work() -> None:
    first = invoke(1, 1, **ELEMENT, handler="Elixir.A", type="a", src="s")

    found = judged([first], [skipped(1, 1, **ELEMENT, handler="B", type="a", src="s")])

    assert found["r0"] == "dedup.scope_reuse_suspect"


def test_an_operator_retry_of_a_call_goes_on_in_the_same_row_and_generation() -> None:
    gone = invoke(1, 4, "cancelled", error=CANCELLED)
    again = {
        **invoke(1, 4, "available", error=CANCELLED), "scheduled_at": "2026-10-05T09:30:00Z",
    }  # fmt: skip
    done = invoke(1, 4, end="09:40", error=CANCELLED)

    assert judged([gone])["1"] == "cancel.swept"
    answer = evaluate({"now": NOW, "rows": [gone, again]})["rows"]["1"]
    assert (answer["verdict"], answer["generation"]) == ("rerun.same_row", 1)
    assert judged([gone, again, done])["1"] == "fresh"


def test_a_row_and_its_receipts_are_one_job() -> None:
    made = bodies_of([invoke(1, 1)], [stored(1, 1, "09:00"), skipped(1, 1, "09:01")])

    known = known_of(statement(leaf, body) for leaf, body in enumerate(made))

    (job,) = known.jobs.values()
    assert (job.insert_leaf, job.row_leaf) == (0, 2)
