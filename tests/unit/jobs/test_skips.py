"""Skips about calls and timers: what they point at decides, wherever and however they name it."""

from __future__ import annotations

from typing import Any

import pytest

from jobs.domain import judging, verdicts
from jobs.domain.state import Known
from ledger.domain import pointers, words
from ledger.domain.statement import Statement
from ledger.domain.verdicts import Verdict
from ledger.domain.whole_book import WholeBook
from tests.unit.jobs.history import bodies, child, event, invoke, known_of, statement, timer

Body = dict[str, Any]
ELEMENT = {"state_index": 3, "invoke_index": 0}
OBAN = {"system": "oban", "instance": "prod-1", "via": "telemetry"}


def skip(step: Any = 4, **members: Any) -> Body:
    """Give a skip of the call, as a client may send it."""
    call = {"scope": "x1", "id": "pay", "generation": str(step), "element": [3, 0]}
    return {"kind": "skip", "source": OBAN, "reason": "already_done", "invoke": call, **members}


def told(*given: Body) -> tuple[list[Statement], Known, Verdict | None]:
    """Judge the last of some receipts by all of them."""
    made = [statement(leaf, body) for leaf, body in enumerate(given)]
    known, book = known_of(made), WholeBook(made)
    found = pointers.find_pointer(made[-1], book)
    is_found = found is not None and found.state in words.FOUND
    original = book.find(found.target_leaf) if found is not None and is_found else None
    return made, known, verdicts.judge(made[-1], known, original)


def code(*given: Body) -> str | None:
    _, _, verdict = told(*given)
    return None if verdict is None else verdict.code


def stored_row(**args: Any) -> Body:
    (found,) = bodies([invoke(101, 4, **{**ELEMENT, **args})], [])
    return {**found, "id": "the-row"}


@pytest.mark.parametrize(
    "original", [{"job": "101"}, {"receipt": "the-row"}, {"job": "101", "receipt": "the-row"}]
)
@pytest.mark.parametrize(("step", "expected"), [(4, "dedup.replay"), (5, "dedup.lost_reentry")])
def test_an_original_is_the_same_by_job_and_by_receipt(
    original: Body, step: int, expected: str
) -> None:
    assert code(stored_row(), skip(step, original=original)) == expected


def test_an_original_that_names_no_job_is_compared_by_what_it_says_itself() -> None:
    enqueue = {**skip(), "kind": "enqueue", "id": "first", "reason": None}

    named = {"original": {"receipt": "first"}, "reason": "in_flight"}
    assert code(enqueue, skip(**named)) == "dedup.replay"
    assert code(enqueue, skip(5, **named)) == "dedup.lost_reentry"


def test_a_skip_that_points_at_a_skip_is_left_to_the_chain() -> None:
    first = skip(original={"job": "101"}, id="first")

    assert code(stored_row(), first, skip(original={"receipt": "first"})) is None


@pytest.mark.parametrize("named", [{}, {"original": None}])
def test_a_skip_that_names_nothing_is_a_replay_of_what_its_key_finds(named: Body) -> None:
    _, _, verdict = told(stored_row(), skip(reason="in_flight", **named))

    assert verdict is not None
    assert (verdict.code, verdict.level) == ("dedup.replay", "reconstructed")


def test_a_lost_lock_stays_one_though_its_key_finds_the_holder() -> None:
    assert code(stored_row(), skip(original=None, reason="lock_contended")) is None


@pytest.mark.parametrize("reason", sorted(verdicts.LEFT_ALONE))
def test_a_skip_that_says_more_than_a_duplicate_is_left_alone(reason: str) -> None:
    assert code(stored_row(), skip(original={"job": "101"}, reason=reason)) is None


def test_a_skip_that_names_its_rule_is_left_alone() -> None:
    assert code(stored_row(), skip(original={"job": "101"}, rule={"name": "r"})) is None


def test_a_skip_without_an_element_is_a_replay_of_an_unknown_one() -> None:
    bare = {"scope": "x1", "id": "pay", "generation": "4"}

    _, _, verdict = told(stored_row(), skip(original={"job": "101"}, invoke=bare))

    assert verdict is not None
    assert (verdict.code, verdict.rule) == ("dedup.replay", "same-key-element-unknown")


def test_a_job_without_an_element_is_no_proof_of_the_same_one() -> None:
    enqueue = {**skip(), "kind": "enqueue", "job": {"id": "101"}}
    enqueue["invoke"] = {**enqueue["invoke"], "element": None}

    _, _, verdict = told(enqueue, skip(original={"job": "101"}))

    assert verdict is not None and verdict.rule == "same-key-element-unknown"


def test_the_element_of_the_row_counts_where_the_receipt_of_the_insert_has_none() -> None:
    enqueue = {**skip(), "kind": "enqueue", "job": {"id": "101"}}
    enqueue["invoke"] = {**enqueue["invoke"], "element": None}
    other = skip(original={"job": "101"})
    other["invoke"] = {**other["invoke"], "element": [7, 0]}

    assert code(enqueue, stored_row(), other) == "dedup.residual_collision"


@pytest.mark.parametrize("member", ["handler", "type", "src"])
def test_other_work_under_the_same_key_makes_a_scope_suspect(member: str) -> None:
    other = skip(original={"job": "101"})
    other["invoke"] = {**other["invoke"], member: "b"}

    assert code(stored_row(**{member: "a"}), other) == "dedup.scope_reuse_suspect"
    assert code(stored_row(**{member: "b"}), other) == "dedup.replay"
    assert code(stored_row(), other) == "dedup.replay"


def test_a_module_is_the_same_with_and_without_elixirs_prefix() -> None:
    again = skip(original={"job": "101"})
    again["invoke"] = {**again["invoke"], "handler": "Acme.ResolveHandler"}

    assert code(stored_row(handler="Elixir.Acme.ResolveHandler"), again) == "dedup.replay"


@pytest.mark.parametrize("member", ["scope", "id"])
def test_an_original_of_another_call_says_nothing_of_this_one(member: str) -> None:
    other = skip(5, original={"job": "101"})
    other["invoke"] = {**other["invoke"], member: "other"}

    assert code(stored_row(), other) is None


def test_an_original_of_another_instance_says_nothing_of_this_one() -> None:
    elsewhere = {"system": "oban", "instance": "prod-2"}

    assert code(stored_row(), skip(original={"job": "101", "source": elsewhere})) is None


def test_an_item_is_no_replay_of_its_call_nor_of_another_item() -> None:
    (first,) = bodies([child(121, 0, step=4)], [])
    item = skip(original={"job": "121"})
    item["invoke"] = {**item["invoke"], "index": 1}

    assert code(first, item) is None
    assert code(first, skip(original={"job": "121"})) is None
    item["invoke"]["index"] = 0
    assert code(first, {**item, "invoke": {**item["invoke"], "element": None}}) == "dedup.replay"


def test_a_timer_is_a_replay_of_the_same_ordinal_in_the_same_scope_alone() -> None:
    (row,) = bodies([timer(113, 7, ran=False)], [])

    def again(**members: Any) -> Body:
        given = {"ordinal": 7, "conflict": True, "job_id": 113, **members}
        return bodies([], [event("timer.scheduled", "10:00", **given)])[0]  # type: ignore[no-any-return]

    assert code(row, again()) == "dedup.replay"
    assert code(row, again(ordinal=8)) is None
    assert code(row, again(scope="x2")) is None
    assert code(row, again(ordinal=None)) is None


def test_a_replay_of_a_job_that_failed_is_still_the_same_decision() -> None:
    (spent,) = bodies([invoke(101, 4, "discarded", **ELEMENT)], [])

    assert code(spent, skip(original={"job": "101"})) == "dedup.replay"


def test_a_verdict_is_as_well_supported_as_the_weaker_side() -> None:
    _, _, by_row = told(stored_row(), skip(original={"job": "101"}))
    enqueue = {**skip(), "kind": "enqueue", "job": {"id": "101"}}
    _, _, by_telemetry = told(enqueue, skip(original={"job": "101"}))

    assert by_row is not None and by_row.level == "reconstructed"
    assert by_telemetry is not None and by_telemetry.level == "recorded"


def test_a_generation_that_one_side_does_not_tell_is_not_compared() -> None:
    bare = skip(original={"job": "101"})
    bare["invoke"] = {"scope": "x1", "id": "pay"}

    assert code(stored_row(), bare) is None


def test_a_call_that_is_stored_twice_is_the_same_read_back() -> None:
    made, known, _ = told(stored_row())

    original = judging.original_of(known.jobs["oban/prod-1/101"])

    assert original.call is not None and original.label == "101"
    assert (original.call.element, original.call.number) == ("3, 0", 4)
    assert original.call.group == next(iter(known.calls)) and len(made) == 1
