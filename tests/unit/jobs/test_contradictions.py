"""What is a contradiction between two receipts, and what looks like one and is none."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from jobs.domain import contradicted_work, contradictions
from jobs.domain.contradictions import Finding, Place
from jobs.domain.invariants import BY_CODE, RULE_WORDS
from ledger.domain.statement import Statement, read_statement

NINE = datetime(2026, 10, 5, 9, tzinfo=UTC)
OBAN = {"system": "oban", "instance": "prod-1", "via": "telemetry"}
KEY = {"recipe": "payouts", "fields": {"payout": "PO-1"}}
Body = dict[str, Any]


def at(seconds: float) -> str:
    return (NINE + timedelta(seconds=seconds)).isoformat()


def told(leaf: int, kind: str, seconds: float | None = 0, **members: Any) -> Statement:
    """Give a receipt as the ledger reads it; without seconds it has no time of its own."""
    body: Body = {"kind": kind, "source": OBAN, **members}
    if seconds is not None:
        body["occurred_at"] = at(seconds)
    return read_statement(
        body, leaf=leaf, ref=f"r{leaf}", state="accepted", received_at=NINE, id_default=f"id-{leaf}"
    )


def skip(
    seconds: float | None = 0, reason: str | None = "already_done", **members: Any
) -> Statement:
    members.setdefault("original", {"job": "101"})
    given = {} if reason is None else {"reason": reason}
    return told(7, "skip", seconds, **given, **members)


def original(seconds: float | None = -60, kind: str = "enqueue", **members: Any) -> Statement:
    return told(3, kind, seconds, job={"id": "101"}, **members)


def row(state: str, seconds: float = 0, attempt: int = 1, **job: Any) -> Statement:
    given = {"id": "101", "state": state, "attempt": attempt, **job}
    return told(5, "observe", seconds, source={**OBAN, "via": "row"}, what="row", job=given)


def invoke(scope: str = "run", generation: str = "4", name: str = "pay") -> Body:
    return {"scope": scope, "id": name, "generation": generation}


def rules(found: list[Finding]) -> list[tuple[str, str]]:
    return [(one.invariant, one.rule) for one in found]


def of_skip(one: Statement, other: Statement, end: Statement | None = None) -> list[Finding]:
    return contradictions.find_of_skip(one, other, end)


YOUNGER = [("original_older", "times")]


@pytest.mark.parametrize(
    ("mine", "theirs", "expected"),
    [
        pytest.param(skip(0), original(31), YOUNGER, id="begun 31 s after the skip"),
        pytest.param(skip(0), original(30), [], id="30 s, which two clocks may differ by"),
        pytest.param(skip(0), original(-3_600), [], id="an hour before the skip"),
        pytest.param(skip(None), original(3_600), [], id="the skip has no time of its own"),
        pytest.param(skip(0), original(None), [], id="the original has no time of its own"),
        pytest.param(skip(0, "superseded"), original(3_600), [], id="superseded by a newer call"),
        pytest.param(skip(0, "lock_contended"), original(599), [], id="a lock, and the claim soon"),
        pytest.param(skip(0, "lock_contended"), original(631), YOUNGER, id="a lock, long before"),
        pytest.param(skip(0, "redelivery"), original(3_600), YOUNGER, id="a first delivery after"),
        pytest.param(skip(0, None), original(3_600), YOUNGER, id="no reason given"),
        pytest.param(skip(0, "in_flight"), original(60, "start"), [], id="it waited to run"),
        pytest.param(skip(0), original(60, "start"), YOUNGER, id="done, and only begun later"),
        pytest.param(skip(0), original(60, "done"), YOUNGER, id="done, and only done later"),
        pytest.param(
            skip(0), told(3, "start", 60, job={"id": "101", "attempt": 2}), [],
            id="a second attempt of what was done",
        ),
        pytest.param(
            skip(0, "in_flight", original={"receipt": "x"}), original(60, "start"), YOUNGER,
            id="the very receipt that it names",
        ),
        pytest.param(skip(0, "rate_limited"), original(3_600), [], id="explained by a rule"),
        pytest.param(skip(0, original=None), original(3_600), [], id="it names no original"),
        pytest.param(skip(0), row("completed", 90, inserted_at=at(-60)), [], id="a row seen later"),
        pytest.param(skip(0), row("completed", 90, inserted_at=at(60)), YOUNGER, id="a later row"),
        pytest.param(skip(0), row("completed", 90), [], id="a row that does not say since when"),
        pytest.param(skip(0), told(3, "skip", 60), YOUNGER, id="a skip that names a later skip"),
    ],
)  # fmt: skip
def test_an_original_is_older_than_its_skip(
    mine: Statement, theirs: Statement, expected: list[tuple[str, str]]
) -> None:
    assert rules(of_skip(mine, theirs)) == expected


@pytest.mark.parametrize(
    ("later", "mine", "theirs", "expected"),
    [
        pytest.param(5, 8, 9, [("original_older", "numbers")], id="numbered after the skip"),
        pytest.param(0.5, 8, 9, [], id="a start written just after another thread was turned away"),
        pytest.param(3_600, 9, 8, [], id="numbered before it, whatever a clock that was set says"),
    ],
)
def test_numbers_of_one_stream_are_the_order_of_two_receipts(
    later: float, mine: int, theirs: int, expected: list[tuple[str, str]]
) -> None:
    places = Place("w7", mine), Place("w7", theirs)

    found = contradictions.find_of_skip(skip(0), original(later), None, places)

    assert rules(found) == expected


def test_numbers_of_two_streams_say_nothing_of_order() -> None:
    places = Place("w7", 9), Place("w8", 1)

    found = contradictions.find_of_skip(skip(0), original(5), None, places)

    assert found == []


SCOPES, GENERATIONS = [("same_scope", "scopes")], [("same_generation", "generations")]
CALL_KEY = {"recipe": "statifier.invoke", "fields": {"scope": "run", "invoke_id": "pay"}}


@pytest.mark.parametrize(
    ("mine", "theirs", "expected"),
    [
        pytest.param({"invoke": invoke("a")}, {"invoke": invoke("b")}, SCOPES, id="two scopes"),
        pytest.param({"invoke": invoke()}, {}, [], id="the original names none"),
        pytest.param(
            {"invoke": invoke("run#4")}, {"invoke": invoke("run")}, [], id="one is packed"
        ),
        pytest.param(
            {"invoke": invoke("a"), "key": KEY}, {"invoke": invoke("b"), "key": KEY}, [],
            id="a shared key that spans runs",
        ),
        pytest.param(
            {"invoke": invoke("a"), "key": KEY}, {"invoke": invoke("b")}, SCOPES,
            id="a key that the original does not share",
        ),
        pytest.param(
            {"invoke": invoke("a")},
            {"invoke": invoke("b"), "source": {"system": "celery", "instance": "x"}}, [],
            id="scopes of two sources",
        ),
        pytest.param(
            {"invoke": invoke(generation="6")}, {"invoke": invoke(generation="4")}, GENERATIONS,
            id="a re-entry that was lost",
        ),
        pytest.param(
            {"invoke": invoke(generation="6"), "key": CALL_KEY},
            {"invoke": invoke(generation="4"), "key": CALL_KEY}, GENERATIONS,
            id="a shared key of the call that lacks the generation",
        ),
        pytest.param(
            {"invoke": invoke(generation="6"), "key": KEY},
            {"invoke": invoke(generation="4"), "key": KEY}, [],
            id="a shared key that is not of the call",
        ),
        pytest.param(
            {"invoke": invoke(generation="04")}, {"invoke": invoke(generation="4")}, [],
            id="one number written in two ways",
        ),
        pytest.param(
            {"invoke": invoke(generation="6", name="mail")}, {"invoke": invoke(generation="4")}, [],
            id="another call of the run",
        ),
        pytest.param(
            {"invoke": invoke(generation="4"), "reason": "wrong_generation"},
            {"invoke": invoke(generation="6")}, [], id="a generation that was closed",
        ),
        pytest.param(
            {"invoke": invoke(generation="4"), "reason": "superseded"},
            {"invoke": invoke(generation="6")}, [], id="a newer call took over",
        ),
    ],
)  # fmt: skip
def test_a_skip_and_its_original_are_of_one_scope_and_generation(
    mine: Body, theirs: Body, expected: list[tuple[str, str]]
) -> None:
    reason = mine.get("reason", "already_done")
    members = {name: value for name, value in mine.items() if name != "reason"}

    assert rules(of_skip(skip(0, reason, **members), original(**theirs))) == expected


FAILED = [("original_succeeded", "ended-before")]


@pytest.mark.parametrize(
    ("mine", "end", "expected"),
    [
        pytest.param(skip(0), original(-60, "fail"), FAILED, id="failed a minute before"),
        pytest.param(skip(0), original(-60, "cancel"), FAILED, id="cancelled a minute before"),
        pytest.param(skip(0), original(-60, "discard"), FAILED, id="discarded a minute before"),
        pytest.param(skip(0), original(-30, "fail"), [], id="at about the same time"),
        pytest.param(skip(0), original(60, "fail"), [], id="failed after it was skipped"),
        pytest.param(skip(0), original(-60, "done"), [], id="done"),
        pytest.param(skip(0, "in_flight"), original(-60, "fail"), [], id="said to be in flight"),
        pytest.param(
            skip(0, original_state="discarded"), original(-60, "discard"), [],
            id="the skip itself says that it was discarded",
        ),
        pytest.param(
            skip(0, key={**KEY, "states": ["completed", "cancelled"]}), original(-60, "cancel"), [],
            id="a state that the key counts",
        ),
        pytest.param(
            skip(0, key={**KEY, "states": ["completed"]}), original(-60, "cancel"), FAILED,
            id="a state that the key does not count",
        ),
    ],
)  # fmt: skip
def test_what_is_already_done_did_not_fail(
    mine: Statement, end: Statement, expected: list[tuple[str, str]]
) -> None:
    assert rules(of_skip(mine, original(-90), end)) == expected


def done(leaf: int, seconds: float | None = 0, **members: Any) -> Statement:
    return told(leaf, "done", seconds, **{"key": KEY, **members})


WINDOW = {**KEY, "window_s": 60}


@pytest.mark.parametrize(
    ("first", "second", "is_one"),
    [
        pytest.param(done(1), done(2, 86_400), True, id="a key for ever"),
        pytest.param(done(1, key=WINDOW), done(2, 60, key=WINDOW), True, id="inside the window"),
        pytest.param(done(1, key=WINDOW), done(2, 61, key=WINDOW), False, id="outside it"),
        pytest.param(done(1, key=WINDOW), done(2, 61), False, id="only the first tells a window"),
        pytest.param(done(1, None, key=WINDOW), done(2, key=WINDOW), False, id="a time unknown"),
        pytest.param(done(1, None), done(2, None), True, id="no times, and a key for ever"),
        pytest.param(
            done(1, job={"id": "101"}), done(2, job={"id": "101"}), False, id="a retry of one job"
        ),
        pytest.param(
            done(1, job={"id": "101"}), done(2, job={"id": "102"}), True, id="two jobs of one key"
        ),
        pytest.param(done(1, id="a"), done(2, id="a"), False, id="two contents of one id"),
        pytest.param(
            done(1), done(2, key={**KEY, "fields": {"payout": "PO-2"}}), False, id="two keys"
        ),
        pytest.param(done(1, key=None), done(2, key=None), False, id="no keys"),
    ],
)
def test_a_key_is_done_at_most_once_in_its_window(
    first: Statement, second: Statement, is_one: bool
) -> None:
    found = contradicted_work.find_second_done(second, first)

    assert (found is not None) == is_one
    if found is not None:
        assert (found.leaf, found.other) == (2, 1)


def test_a_window_is_counted_from_when_the_work_was_asked_for() -> None:
    begun = NINE, NINE - timedelta(seconds=61)

    found = contradicted_work.find_second_done(done(2, 5, key=WINDOW), done(1, key=WINDOW), begun)

    assert found is None


@pytest.mark.parametrize(
    ("actor", "is_one"),
    [
        ({}, True),
        ({"type": "unknown"}, True),
        ({"type": "person", "id": "u-17"}, False),
        ({"type": "service", "label": "the deployer"}, False),
    ],
)
def test_a_mutation_names_who_did_it(actor: Body, is_one: bool) -> None:
    act = told(1, "act", actor=actor, act={"verb": "pause", "target": "queue:payouts"})

    assert (contradicted_work.find_no_actor(act) is not None) == is_one


def test_what_is_no_mutation_needs_no_actor() -> None:
    assert contradicted_work.find_no_actor(told(1, "cancel")) is None


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [((3, 1), (4, 2), ""), ((3, 1), (5, 2), "number 4 is"), ((3, 1), (9, 2), "numbers 4 to 8 are")],
)
def test_numbers_of_a_line_have_no_holes(
    before: tuple[int, int], after: tuple[int, int], words: str
) -> None:
    found = contradicted_work.find_hole("scope run", before, after)

    assert (found.sentence if found else "").startswith(f"In scope run {words}" if words else "")
    assert (found is None) == (not words)


@pytest.mark.parametrize(
    ("attempt", "seen", "is_one"),
    [
        pytest.param(1, row("discarded", 9), True, id="discarded in the attempt that was done"),
        pytest.param(1, row("discarded", 9, 2), False, id="discarded in a later attempt"),
        pytest.param(None, row("discarded", 9), True, id="there was but one attempt"),
        pytest.param(None, row("discarded", 9, 2), False, id="one of two attempts, unknown which"),
        pytest.param(1, row("cancelled", 9, cancelled_at=at(-5)), True, id="cancelled before"),
        pytest.param(
            1, row("cancelled", 9, cancelled_at=at(3_600)), False,
            id="set going again and cancelled later",
        ),
        pytest.param(1, row("cancelled", 9), False, id="cancelled, unknown when"),
        pytest.param(1, row("completed", 9), False, id="completed"),
        pytest.param(1, row("executing", 9), False, id="a row read before the end"),
        pytest.param(1, row("retryable", 9), False, id="set going again"),
    ],
)  # fmt: skip
def test_a_done_job_has_no_row_that_says_otherwise(
    attempt: int | None, seen: Statement, is_one: bool
) -> None:
    job = {"id": "101"} if attempt is None else {"id": "101", "attempt": attempt}

    found = contradicted_work.find_denied_done(told(2, "done", job=job), seen)

    assert (found is not None) == is_one


def test_every_finding_is_of_a_published_invariant_and_rule() -> None:
    found = [
        *of_skip(
            skip(0, invoke=invoke("a")), original(60, invoke=invoke("b")), original(-60, "fail")
        ),
        *of_skip(skip(0, invoke=invoke(generation="6")), original(invoke=invoke())),
        contradicted_work.find_second_done(done(2), done(1)),
        contradicted_work.find_no_actor(told(1, "act")),
        contradicted_work.no_start(done(1)),
        contradicted_work.find_hole("scope run", (1, 1), (3, 2)),
        contradicted_work.find_denied_done(
            told(2, "done", job={"id": "1", "attempt": 1}), row("discarded")
        ),
        contradicted_work.missing_row("101", 1, 2),
    ]
    made = [one for one in found if one is not None]

    assert {one.invariant for one in made} == BY_CODE.keys()
    assert {one.rule for one in made} | {"numbers"} == RULE_WORDS.keys()
    assert all(one.sentence.endswith(".") for one in made)


@pytest.mark.parametrize(
    ("seconds", "words"), [(31, "31 s"), (180, "3 min"), (7_200, "2 h"), (259_200, "3 d")]
)
def test_a_length_of_time_is_said_in_the_unit_that_it_fills(seconds: int, words: str) -> None:
    assert contradictions.span(timedelta(seconds=seconds)) == words
