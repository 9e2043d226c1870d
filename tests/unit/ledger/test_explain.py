from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from ledger.domain import ticket, words
from ledger.domain.explain import explain, near_matches, not_derived
from ledger.domain.pointers import find_pointer
from ledger.domain.statement import Statement
from tests.unit.ledger.shelf import Shelf, at, key, make, skip

JOB = {"job": {"id": "101"}}
FIELDS = key(scope="exec_a1", invoke_id="resolve", macrostep=4)
IGNORED = {**FIELDS, "ignored": {"params": "opaque, 38 bytes"}}
INVOKE = {"scope": "exec_a1", "id": "resolve", "generation": "4", "element": [3, 0]}
START = make(17, "enqueue", "09:00:00.412", key=IGNORED, invoke=INVOKE, **JOB)
DONE = make(19, "done", "09:00:03", **JOB)
ATTEMPT = skip(
    41,
    "09:00:30",
    of_job="101",
    reason="already_done",
    original_state="executing",
    key=IGNORED,
    invoke=INVOKE,
    job={"task": "Worker", "queue": "invokes"},
    subjects=[{"type": "payout", "id": "PO-88213"}],
)


def tell(*log: Statement, now: Any = None, **more: Any) -> dict[str, Any]:
    """Explain the last receipt given by all of them, as a reader of the JSON gets it."""
    shelf, one = Shelf(log), log[-1]
    found = find_pointer(one, shelf)
    original = shelf.at_leaf(found.target_leaf) if found else None
    terminal = shelf.at_leaf(found.terminal_leaf) if found else None
    candidates = [shelf.at_leaf(leaf) for leaf in found.candidates] if found else []
    clock = now or at("09:05")
    document = explain(
        one,
        found,
        original,
        terminal,
        more.pop("near", []),
        now=clock,
        as_of=(one.leaf, clock),
        candidates=candidates,
        **more,
    )
    return json.loads(json.dumps(document))


def test_the_case_of_the_mock_is_told_as_the_mock_tells_it():
    told = tell(START, DONE, ATTEMPT)

    assert told["verdict"]["sentence"] == (
        "Skipped because it was asked for twice: the same start was stored as job 101, and job "
        "101 is done."
    )
    assert told["verdict"]["decisive"] == "Because macrostep is equal: 4 and 4."
    assert told["verdict"]["level_words"] == "recorded when it was skipped"
    assert told["apart"] == "29.6 s later"
    assert [
        (hop["ref"], hop["kind"], hop["text"], hop["state"]) for hop in told["pointer"]["hops"]
    ] == [
        ("r41", "skip", "names job 101", "as sent"),
        ("r17", "enqueue", "stored as job 101", "found"),
        ("r19", "done", "", "found, done"),
    ]
    assert (told["pointer"]["state"], told["pointer"]["chip"]) == ("resolved", "found, done")
    assert told["pointer"]["terminal"] == "r19"
    assert told["original"]["ref"] == "r17"
    assert (told["original"]["state_then"], told["original"]["state_now"]) == ("executing", "done")
    assert told["will_run"]["answer"] == "no"
    assert told["attempt"]["subjects"] == [{"type": "payout", "id": "PO-88213"}]


def test_the_two_sides_are_aligned_on_the_key_fields():
    sides = tell(START, DONE, ATTEMPT)["attempt"]["key"]

    assert sides["used"] == [
        {"field": "invoke_id", "attempted": "resolve", "original": "resolve", "equal": True},
        {"field": "macrostep", "attempted": "4", "original": "4", "equal": True},
        {"field": "scope", "attempted": "exec_a1", "original": "exec_a1", "equal": True},
    ]
    assert sides["ignored"] == [
        {"field": "params", "attempted": "opaque, 38 bytes", "original": "opaque, 38 bytes"}
    ]
    assert {"field": "element", "attempted": "3, 0", "original": "3, 0", "equal": True} in sides[
        "context"
    ]


def test_a_field_that_only_one_side_has_is_shown_with_its_gap():
    original = make(0, "done", id="a", key=key(n=1, old=True))

    used = tell(original, skip(1, of="a", key=key(n=1, new=True)))["attempt"]["key"]["used"]

    assert [(row["field"], row["attempted"], row["original"], row["equal"]) for row in used] == [
        ("n", "1", "1", True),
        ("new", "true", None, False),
        ("old", None, "true", False),
    ]


def test_without_an_original_nothing_is_said_to_be_unequal():
    used = tell(skip(0, key=key(n=1)))["attempt"]["key"]["used"]

    assert used == [{"field": "n", "attempted": "1", "original": None, "equal": None}]


CONTRACT = {
    "ref",
    "leaf_index",
    "as_of",
    "verdict",
    "attempt",
    "pointer",
    "original",
    "near_matches",
    "will_run",
    "rule",
    "times",
    "evidence",
    "contradictions",
    "feed",
    "cannot_know",
}


@pytest.mark.parametrize(
    "log",
    [[START, DONE, ATTEMPT], [skip(0)], [make(0, "done")], [skip(0, of="a")], [make(0, "beheld")]],
    ids=["resolved", "unexplained", "a done", "pending", "unknown"],
)
def test_every_explanation_has_all_members_of_the_contract(log):
    told = tell(*log)

    assert set(told) >= CONTRACT
    assert set(told["verdict"]) >= {"code", "sentence", "decisive", "rule", "level"}
    assert set(told["attempt"]) >= {"job", "subjects", "invoke", "key"}
    assert set(told["rule"]) >= {"recipe", "code", "decision_then", "decision_now"}
    assert set(told["times"]) == {"occurred", "received", "recorded_by"}


def test_integers_of_64_bits_are_text_and_times_have_microseconds_and_a_zone():
    told = tell(START, DONE, ATTEMPT)

    assert (told["leaf_index"], told["as_of"]["leaf_index"]) == ("41", "41")
    assert told["times"]["occurred"] == {"at": "2026-10-05T09:00:30.000000Z", "by": "producer"}
    assert told["times"]["received"]["by"] == "ledger"
    assert told["times"]["recorded_by"] is None


def test_what_no_check_has_looked_at_is_said_not_to_be_checked():
    assert tell(ATTEMPT)["evidence"] == {
        "content_intact": "not_checked",
        "position_intact": "not_checked",
        "witnessed": "not_checked",
    }


def test_a_receipt_that_points_nowhere_has_no_pointer_and_no_original():
    told = tell(make(0, "done"))

    assert told["pointer"] is None
    assert told["original"] is None
    assert told["attempt"]["reason_words"] is None


def test_null_and_silence_are_told_apart():
    stated, silent = skip(0, original=None), skip(0)

    assert tell(stated)["pointer"]["stated"] == "stated that there is none"
    assert tell(stated)["pointer"]["said"] == "The producer stated that there is none."
    assert tell(silent)["pointer"]["stated"] == "did not say"
    assert tell(skip(0, of="a"))["pointer"]["stated"] is None


def test_a_pointer_is_read_at_the_clock_of_the_answer():
    one = skip(0, "09:00", of="a")
    due = at("09:00") + timedelta(hours=24)

    before = tell(one, now=due - timedelta(seconds=1))
    after = tell(one, now=due)

    assert (before["pointer"]["state"], before["pointer"]["unresolved"]) == ("pending", False)
    assert (after["pointer"]["state"], after["pointer"]["unresolved"]) == ("dangling", True)
    assert before["pointer"]["due_at"] == "2026-10-06T09:00:00.000000Z"
    assert after["verdict"]["code"] == "skip.original_missing"


def test_what_the_pointer_names_is_told_also_when_it_is_not_found():
    told = tell(skip(0, original={"receipt": "a", "job": "7"}))

    assert told["pointer"]["named"] == "a and oban/prod-1/7"


def test_candidates_are_listed_with_their_jobs():
    one, two = make(0, "done", id="a", **JOB), make(1, "fail", id="a", state="conflict")

    told = tell(one, two, skip(2, of="a"))

    assert [(each["ref"], each["kind"], each["job"]) for each in told["pointer"]["candidates"]] == [
        ("r0", "done", "101"),
        ("r1", "fail", None),
    ]


def test_the_rule_and_the_switch_are_told_as_sent():
    rule = {
        "name": "unique",
        "version": "7",
        "decision": "sob-ADR-0003",
        "repo": "statifier_oban",
        "path": "lib/worker.ex",
        "line": 12,
        "commit": "4a6a748",
    }
    one = skip(
        0,
        reason="paused",
        rule=rule,
        switch={"name": "p", "set_at": "2026-10-05T08:00:00Z", "actor": {"label": "Ann"}},
        condition={"result": False, "inputs": {"n": 2**60}},
    )

    told = tell(one)

    assert told["rule"]["code"] == {
        "repo": "statifier_oban",
        "path": "lib/worker.ex",
        "line": 12,
        "symbol": "",
        "commit": "4a6a748",
        "url": None,
    }
    assert told["rule"]["decision_then"] == {"id": "sob-ADR-0003"}
    assert told["switch"] == {
        "name": "p",
        "set_at": "2026-10-05T08:00:00.000000Z",
        "actor": {"label": "Ann"},
    }
    assert told["condition"] == {"result": False, "inputs": {"n": str(2**60)}}


def test_however_long_a_chain_is_its_hops_are_few_and_end_with_its_end():
    log = [skip(n, id=str(n), of=str(n - 1)) for n in range(1, 101)]

    hops = [hop["ref"] for hop in tell(*log)["pointer"]["hops"]]

    assert hops == [*(f"r{n}" for n in range(100, 84, -1)), "r1"]


RUNS: dict[str, tuple[list[Statement], str, str]] = {
    "the original is done": (
        [START, DONE, ATTEMPT],
        "no",
        "job 101 is done, and this attempt did not run",
    ),
    "the original has not ended": (
        [START, ATTEMPT],
        "unknown",
        "job 101 has no done, fail, cancel or discard receipt so far",
    ),
    "the original failed": (
        [START, make(19, "fail", **JOB), ATTEMPT],
        "unknown",
        "job 101 failed; whether it is tried again is not recorded",
    ),
    "the original was cancelled": (
        [START, make(19, "cancel", **JOB), ATTEMPT],
        "no",
        "job 101 was cancelled, and this attempt did not run",
    ),
    "the original is not known": (
        [skip(0)],
        "unknown",
        "its original is not known, so nobody can say what became of the work",
    ),
    "a circle": (
        [skip(0, id="a", of="b"), skip(1, id="b", of="a")],
        "unknown",
        "its original is not known, so nobody can say what became of the work",
    ),
    "an expired skip": (
        [skip(0, reason="expired", rule={"name": "ttl"})],
        "no",
        "it came too late, and this attempt did not run",
    ),
    "a producer's own words and a rule": (
        [skip(0, reason="it rained", rule={"name": "rain"})],
        "unknown",
        "this attempt did not run; it may be asked for again",
    ),
    "a skip of a skip": (
        [skip(0, id="b", reason="paused", rule={"name": "p"}), skip(1, of="b")],
        "unknown",
        "its original is a skip itself, and this attempt did not run",
    ),
    "an original without a job": (
        [make(1_193, "start", id="a"), skip(1_194, of="a")],
        "unknown",
        "the work of №1,193 has no done, fail, cancel or discard receipt so far",
    ),
    "a done": ([make(0, "done")], "no", "the work is done"),
    "a heartbeat": ([make(0, "heartbeat")], "unknown", "a receipt of this kind asks for no work"),
}


@pytest.mark.parametrize(("log", "answer", "because"), RUNS.values(), ids=RUNS)
def test_whether_anything_will_still_run(log, answer, because):
    assert tell(*log)["will_run"] == {"answer": answer, "because": because}


def test_what_cannot_be_known_always_begins_with_the_producers_truth():
    first, second, *_ = tell(make(0, "done"))["cannot_know"]

    assert "prove" not in first
    assert first.startswith("Whether the producer told the truth")
    assert second.startswith("When it happened: only the producer's clock says so")


def test_a_lowered_level_is_told_with_the_claim():
    late = make(0, "done", "09:00", received=at("09:00") + timedelta(hours=25), evidence="recorded")

    assert any(
        "the producer claims “recorded”, the ledger grants “reconstructed”" in line
        for line in tell(late)["cannot_know"]
    )


def test_a_time_that_was_not_sent_is_not_known():
    silent = make(0, "done", body={"occurred_at": None})

    assert tell(silent)["cannot_know"][1].startswith("When it happened: the producer did not say")
    assert tell(silent)["times"]["occurred"]["at"] is None


def test_an_original_by_key_and_an_erased_payload_are_told():
    log = [make(0, "done", key=key(n=1)), skip(1, key=key(n=1))]

    lines = tell(*log, payload_erased=True)["cannot_know"]

    assert any(line.startswith("Whether this is the original that was meant") for line in lines)
    assert any("the payload was erased" in line for line in lines)
    assert tell(*log, payload_erased=True)["erased"]
    assert tell(*log)["erased"] is None


def test_near_matches_have_the_same_rule_and_other_values_and_do_not_block():
    others = [
        make(9, "enqueue", key=key(scope="exec_a1", invoke_id="resolve", macrostep=7)),
        make(31, "enqueue", key=key(scope="exec_b0", invoke_id="resolve", macrostep=4)),
        # More than half of the key is another: this has little to do with the attempt.
        make(32, "enqueue", key=key(scope="exec_b0", invoke_id="resolve", macrostep=5)),
        make(17, "enqueue", key=FIELDS),
        make(33, "enqueue", key={**FIELDS, "recipe": "other"}),
        make(34, "enqueue", key=key(scope="x", invoke_id="y", macrostep=0)),
        make(35, "enqueue", key=FIELDS, source={"system": "celery"}),
        make(36, "enqueue"),
        ATTEMPT,
    ]

    found = near_matches(ATTEMPT, others)

    assert [(near["ref"], near["differs_in"], near["text"]) for near in found] == [
        ("r9", ["macrostep"], "macrostep 7"),
        ("r31", ["scope"], "scope exec_b0"),
    ]
    assert not any(near["blocking"] for near in found)


def test_no_more_near_matches_are_given_than_asked_for():
    others = [make(n, "done", key=key(a=1, b=n)) for n in range(30)]

    assert len(near_matches(skip(99, key=key(a=1, b=99)), others, limit=5)) == 5


def test_a_receipt_that_is_not_derived_says_so_and_how_far_it_is():
    told = not_derived("r42", leaf_index=None, lag=7, as_of=(40, at("09:00")))

    assert told["verdict"]["code"] == "not_derived"
    assert told["lag"] == {"leaves": "7"}
    assert told["leaf_index"] is None


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0, "at the same time"),
        (0.049, "at the same time"),
        (-0.049, "at the same time"),
        (0.05, "0.1 s later"),
        (-0.06, "0.1 s earlier"),
        (29.588, "29.6 s later"),
        (-3, "3.0 s earlier"),
        (125, "2 min 5 s later"),
        (7500, "2 h 5 min later"),
        (90000, "1 d 1 h later"),
    ],
)
def test_a_distance_in_time_is_told_in_two_units_at_most(seconds, expected):
    assert ticket.duration(seconds) == expected


def test_the_rows_of_the_ticket_stand_in_order_with_their_marks():
    rows = [(row["field"], row["role"], row["mark"]) for row in tell(START, DONE, ATTEMPT)["rows"]]

    assert rows == [
        ("invoke_id", "used", "equal"),
        ("macrostep", "used", "equal"),
        ("scope", "used", "equal"),
        ("task", "fact", ""),
        ("generation", "fact", "equal"),
        ("element", "fact", "equal"),
        ("params", "ignored", "not compared"),
        ("at", "fact", "29.6 s later"),
    ]


def test_all_words_of_an_explanation_are_of_the_closed_vocabularies():
    told = tell(START, DONE, ATTEMPT)

    assert told["verdict"]["code"] in words.VERDICT_CODES
    assert told["pointer"]["state"] in words.POINTER_STATES
    assert told["verdict"]["level"] in words.LEVELS
