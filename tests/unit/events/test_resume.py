"""The resume rule: what a lane may answer, by the part of the rule that speaks first."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from hypothesis import given
from hypothesis import strategies as st

from events.domain.evaluate_resume import BadResume, evaluate
from events.domain.resume import SENTENCES, Boundary, Lane, answer
from kit.commands import UsageError

BIG = 1876951040000000000
PLAIN = Lane("e1", 100, 200)
CHANGED = Lane("e2", 101, 300, boundaries=(Boundary(100, "epoch"),))
DOUBTED = Lane("7", 200, 200, unsettled=[150])
ELSEWHERE = Lane("7", 200, 200, unsettled=[])
RESTARTED = Lane(None, 1, 150, boundaries=(Boundary(200, "reset"),))


@pytest.mark.parametrize(
    ("lane", "cursor", "epoch", "expected"),
    [
        pytest.param(PLAIN, 0, None, "fresh cursor_zero", id="zero"),
        pytest.param(Lane(None, 0, 0, cold=True), 0, None, "fresh cursor_zero", id="zero, cold"),
        pytest.param(PLAIN, 0, "e9", "fresh cursor_zero", id="zero of another epoch"),
        pytest.param(PLAIN, None, None, "fresh no_cursor", id="no header"),
        pytest.param(PLAIN, "", None, "fresh no_cursor", id="empty header"),
        pytest.param(Lane("e1", 5, 9, cold=True), 7, "e1", "refuse cold", id="cold"),
        pytest.param(PLAIN, 150, "e1", "serve covered", id="its own epoch"),
        pytest.param(DOUBTED, 148, None, "refuse below_floor", id="unsettled: of neither life"),
        pytest.param(DOUBTED, 149, None, "ambiguous unsettled", id="unsettled: before the low id"),
        pytest.param(DOUBTED, 150, "7", "ambiguous unsettled", id="unsettled: the low id"),
        pytest.param(DOUBTED, 151, None, "refuse below_floor", id="unsettled: between"),
        pytest.param(DOUBTED, 199, "7", "ambiguous unsettled", id="unsettled: below the high id"),
        pytest.param(DOUBTED, 200, None, "ambiguous unsettled", id="unsettled: the high id"),
        pytest.param(DOUBTED, 201, None, "refuse above_high_water", id="unsettled: above both"),
        pytest.param(DOUBTED, 150, "8", "refuse other_epoch", id="unsettled: another epoch"),
        pytest.param(ELSEWHERE, 150, None, "refuse below_floor", id="unsettled elsewhere: low"),
        pytest.param(ELSEWHERE, 200, None, "ambiguous unsettled", id="unsettled elsewhere: high"),
        pytest.param(PLAIN, 150, "e0", "refuse other_epoch", id="another epoch"),
        pytest.param(PLAIN, 250, "e0", "refuse other_epoch", id="another epoch comes first"),
        pytest.param(Lane(None, 1, 9), 5, "e1", "refuse other_epoch", id="a lane without epoch"),
        pytest.param(PLAIN, 200, None, "serve covered", id="high-water"),
        pytest.param(PLAIN, 201, None, "refuse above_high_water", id="high-water + 1"),
        pytest.param(PLAIN, 100, None, "serve covered", id="floor"),
        pytest.param(PLAIN, 99, None, "serve covered", id="floor - 1"),
        pytest.param(PLAIN, 98, None, "refuse below_floor", id="floor - 2"),
        pytest.param(CHANGED, 101, None, "serve covered", id="floor after a change"),
        pytest.param(CHANGED, 100, None, "refuse after_epoch_change", id="looks like progress"),
        pytest.param(CHANGED, 99, None, "refuse below_floor", id="below both"),
        pytest.param(RESTARTED, 150, None, "ambiguous number_in_two_spaces", id="in two spaces"),
        pytest.param(RESTARTED, 151, None, "refuse above_high_water", id="in the old one only"),
        pytest.param(
            Lane("e2", 50, 400, boundaries=(Boundary(200, "epoch"),)),
            200, "e2", "serve covered", id="its epoch tells which",
        ),
        pytest.param(
            Lane("e2", 50, 400, boundaries=(Boundary(200, "epoch"),)),
            200, None, "ambiguous number_in_two_spaces", id="the old high-water",
        ),
        pytest.param(
            Lane("e2", 50, 400, boundaries=(Boundary(200, "epoch"),)),
            201, None, "serve covered", id="above the old high-water",
        ),
        pytest.param(
            Lane("e3", 5, 90, boundaries=(Boundary(80, "reset"), Boundary(20, "epoch"))),
            60, None, "ambiguous number_in_two_spaces", id="any earlier space counts",
        ),
        pytest.param(
            Lane(None, 151, 180, boundaries=(Boundary(100, "reset"),)),
            150, None, "serve covered", id="below the floor after a mere reset",
        ),
        pytest.param(
            Lane("e2", 501, 600, boundaries=(Boundary(100, "epoch", first=101),)),
            500, None, "serve covered", id="the floor has left the change behind",
        ),
        pytest.param(Lane("e1", 4, 3), 3, None, "serve covered", id="emptied by age, at the mark"),
        pytest.param(Lane("e1", 4, 3), 1, None, "refuse below_floor", id="emptied by age, below"),
        pytest.param(
            Lane(None, BIG + 1, BIG + 3), BIG + 3, None, "serve covered", id="beyond 2^53",
        ),
        pytest.param(
            Lane(None, BIG + 1, BIG + 3), BIG + 4, None, "refuse above_high_water",
            id="one more beyond 2^53",
        ),
    ],
)  # fmt: skip
def test_the_first_part_of_the_rule_that_matches_answers(
    lane: Lane, cursor: object, epoch: str | None, expected: str
) -> None:
    found = answer(lane, cursor, epoch)

    assert f"{found.answer} {found.rule}" == expected


@pytest.mark.parametrize(
    "cursor",
    ["does-not-exist", "-1", -1, " 150", "150 ", "1_50", "1e2", "150.0", "٣", "0x96", "+", "-",
     str(1 << 63), 1 << 63, "9" * 5_000, 1.5, True, [], {}, "e1:150", "\x00", "\uff11\uff15"],
)  # fmt: skip
def test_a_cursor_that_names_no_place_is_refused_by_a_rule_of_its_own(cursor: object) -> None:
    assert answer(PLAIN, cursor).rule == "bad_cursor"
    assert answer(PLAIN, cursor).answer == "refuse"


@pytest.mark.parametrize("cursor", ["150", "+150", "00150", "0" * 5_000 + "150", 150])
def test_a_cursor_is_read_as_go_reads_integers(cursor: object) -> None:
    assert answer(PLAIN, cursor).rule == "covered"


@given(st.one_of(st.text(), st.integers(), st.floats(), st.none(), st.binary()))
def test_whatever_the_cursor_is_a_rule_with_a_sentence_answers(cursor: object) -> None:
    assert answer(CHANGED, cursor).sentence == SENTENCES[answer(CHANGED, cursor).rule]


def case(cursor: object = "5", **lane: Any) -> dict[str, Any]:
    return {"lane": {"epoch": "e1", "floor": "1", "high_water": "9", **lane}, "cursor": cursor}


def test_cases_are_answered_in_order() -> None:
    cases = [case("5"), case(12), {**case("5"), "epoch": 7}, case("5", cold=True), case(None)]

    assert evaluate(cases) == [
        {"answer": "serve", "rule": "covered"},
        {"answer": "refuse", "rule": "above_high_water"},
        {"answer": "refuse", "rule": "other_epoch"},
        {"answer": "refuse", "rule": "cold"},
        {"answer": "fresh", "rule": "no_cursor"},
    ]


def test_ids_as_texts_and_as_numbers_are_the_same() -> None:
    as_text = case(str(BIG + 2), floor=str(BIG + 1), high_water=str(BIG + 2))
    as_number = case(BIG + 2, floor=BIG + 1, high_water=BIG + 2)

    assert evaluate([as_text]) == evaluate([as_number]) == [{"answer": "serve", "rule": "covered"}]


def test_low_ids_that_nothing_settled_yet_are_given_with_the_lane() -> None:
    found = [evaluate([case("9", unsettled=one)])[0]["rule"] for one in (["1", 2], [], None)]

    assert found == ["unsettled", "unsettled", "covered"]


def test_a_lane_that_holds_nothing_more_serves_its_high_water_mark_alone() -> None:
    found = evaluate([case(cursor, floor=None) for cursor in ("7", "9")])

    assert [one["rule"] for one in found] == ["below_floor", "covered"]


@pytest.mark.parametrize(
    ("document", "place"),
    [
        ({}, "a list of"),
        (None, "a list of"),
        ("resume", "a list of"),
        ([3], "[0]: "),
        ([case(), {"lane": case()["lane"]}], "[1].cursor: "),
        ([{"cursor": "5"}], "[0].lane: "),
        ([case(floor="one")], "[0].lane.floor: "),
        ([case(floor=1.0)], "[0].lane.floor: "),
        ([{"lane": {"high_water": "3"}, "cursor": "1"}], "[0].lane.floor: "),
        ([{"lane": {"floor": "3"}, "cursor": "1"}], "[0].lane.high_water: "),
        ([case(high_water=str(1 << 64))], "[0].lane.high_water: "),
        ([case(cold="no")], "[0].lane.cold: "),
        ([case(epoch=[])], "[0].lane.epoch: "),
        ([{**case(), "epoch": 1.5}], "[0].epoch: "),
        ([case(boundaries={})], "[0].lane.boundaries: "),
        ([case(boundaries=[1])], "[0].lane.boundaries[0]: "),
        ([case(boundaries=[{"kind": "epoch"}])], "[0].lane.boundaries[0].old_high_water: "),
        ([case(boundaries=[{"old_high_water": 1, "kind": []}])], "[0].lane.boundaries[0].kind: "),
    ],
)
def test_cases_that_cannot_be_read_are_refused_by_their_place(document: Any, place: str) -> None:
    with pytest.raises(BadResume) as raised:
        evaluate(document)

    assert place in str(raised.value)


def test_the_command_answers_from_the_same_function(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "cases.json"
    path.write_text(json.dumps([case("5")]))

    call_command("evaluate", "resume", "--input", str(path), "--json")

    assert json.loads(capsys.readouterr().out) == evaluate([case("5")])


def test_the_command_refuses_bad_cases_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "cases.json"
    path.write_text("[{}]")

    with pytest.raises(UsageError, match=r"\[0\]\.cursor"):
        call_command("evaluate", "resume", "--input", str(path))
