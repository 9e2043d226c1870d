"""The cases of reference/events-and-loops.md section 4 row by row, and section 6's on streams."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from tests.unit.events.stream_cast import E1, E2, findings, head, judge, message, told

BASED = 1_876_951_040_000_000_001


class Case(NamedTuple):
    name: str
    records: list[dict[str, Any]]
    expected: list[tuple[str, str | None]]
    members: dict[str, Any] = {}


CASES = [
    Case("1: one epoch", told((E1, 1), (E1, 2), (E1, 3)), []),
    Case("2: another epoch", told((E1, 100), (E2, 1), (E2, 2)), [("EPOCH_CHANGE", "1")]),
    Case("3: looks like progress", told((E1, 100), (E2, 101)), [("EPOCH_CHANGE", "101")]),
    Case("4: cold lane", told((E1, 4711)), []),
    Case(
        "5: case 2 in a maintenance window",
        told((E1, 100), (E2, 1), (E2, 2)),
        [("EPOCH_CHANGE_PLANNED", "1")],
        {"maintenance": [[0, 60]]},
    ),
    Case(
        "7: the generation falls",
        told(("8", 50), ("7", 51)),
        [("EPOCH_REGRESSED", "51")],
        {"profile": "generation"},
    ),
    Case("8: a low run", told(*((None, one) for one in (100, 1, 2, 3))), [("RESET_NO_EPOCH", "1")]),
    Case(
        "9: a known id with another body",
        told((None, 5), (None, 6), (None, 7), (None, 6, "another")),
        [("RESET_NO_EPOCH", "6")],
    ),
    Case("11: a hole", told((E1, 4), (E1, 6), (E1, 7)), [("GAP", "5")]),
    Case(
        "12: a hole that fills after 4 s",
        [message(0, E1, 4), message(1, E1, 6), message(5, E1, 5)],
        [("GAP", "5")],
    ),
    Case("13: a sparse scope", told((E1, 1), (E1, 4), (E1, 9)), [], {"density": "sparse"}),
    Case("15: the same again", told((E1, 1), (E1, 2), (E1, 2)), [("DUPLICATE", "2")]),
    Case("16: one body, two ids", told((E1, 1), (E1, 2, "x"), (E1, 3, "x")), [("RETRY_DUP", "3")]),
    Case(
        "17: two replicas see the same",
        [
            message(at, E1, number, replica=replica)
            for at, number in ((0, 1), (1, 2))
            for replica in ("r1", "r2")
        ],
        [],
    ),
    Case(
        "19: one token and id, two bodies, two installations",
        [message(0, E1, 1, "ours"), message(1, E1, 1, "theirs", installation="i2")],
        [("FORKED_EPOCH", "1")],
    ),
    Case(
        "19 as written: a short token and id, two bodies, two installations",
        [message(0, "e1", 1, "ours"), message(1, "e1", 1, "theirs", installation="i2")],
        [("FORKED_EPOCH", "1")],
    ),
    Case(
        "a short token, id and body in two installations",
        [message(0, "e1", 1, "one"), message(1, "e1", 1, "one", installation="i2")],
        [("CROSS_FEED", "1")],
    ),
    Case(
        "20: equal generation numbers of two installations",
        [message(0, "1", 1, "ours"), message(1, "1", 1, "theirs", installation="i2")],
        [],
        {"profile": "generation"},
    ),
    Case("21: two forms", told((None, 1), (E1, 2), (None, 3), (E1, 4)), [("MIXED_FORMS", "2")]),
    Case(
        "21: bare again 5,000 s later",
        [*told((None, 1), (E1, 2), (None, 3), (E1, 4)), message(5_003, None, 5)],
        [("MIXED_FORMS", "2"), ("STRAGGLER", "5")],
    ),
    Case(
        "23: ids of another base",
        told((None, 100), (None, BASED), (None, 101)),
        [("BASE_JUMP", str(BASED)), ("UNFLIPPED_PUBLISHER", "101")],
    ),
    Case(
        "24: a node's head falls",
        [],
        [("HW_REGRESS", "81")],
        {"heads": [head(0, "n1", 91), head(1, "n1", 81)]},
    ),
    Case("24: heads of two nodes", [], [], {"heads": [head(0, "n1", 91), head(1, "n2", 81)]}),
    Case(
        "threads 4 and 8: a failover keeps the epoch and loses ten ids",
        told((E1, 90), (E1, 91)),
        [("HW_REGRESS", "81")],
        {"heads": [head(1, "n1", 91, E1), head(2, "n1", 81, E1)]},
    ),
]


@pytest.mark.parametrize("case", CASES, ids=[one.name for one in CASES])
def test_a_case_of_the_reference_is_judged_as_its_row_says(case: Case) -> None:
    found = judge(case.records, **case.members)["findings"]

    assert [(one["code"], one["id"]) for one in found] == case.expected


def test_case_11_is_no_gap_before_the_settle_time_is_over() -> None:
    records = told((E1, 4), (E1, 6), (E1, 7))

    assert findings(records, until=3.0) == []
    assert [one["id"] for one in findings(records, until=3.1)] == ["5"]


def test_case_12_stays_a_gap_that_says_when_it_was_filled() -> None:
    (gap,) = findings([message(0, E1, 4), message(1, E1, 6), message(5, E1, 5)])

    assert gap["facts"]["filled_at"] == 5
    assert "Filled 4.0 s late" in gap["sentence"]


def test_case_9_holds_at_once() -> None:
    records = told((None, 5), (None, 6), (None, 7), (None, 6, "another"))

    assert [one["code"] for one in findings(records, until=3)] == ["RESET_NO_EPOCH"]


def test_the_central_case_is_told_by_the_epoch_alone() -> None:
    ids = [(7, 99), (7, 100), *((8, one) for one in range(1, 103))]
    records = told(*((str(epoch), number) for epoch, number in ids))

    (change,) = findings(records, profile="generation")

    assert (change["code"], change["id"], change["epoch"]) == ("EPOCH_CHANGE", "1", "8")
    assert (change["facts"]["from"], change["facts"]["high"]) == ("7", "100")
    assert change["facts"]["climbed_at"] == 102
    assert "only the epoch tells them apart" in change["sentence"]


def test_the_central_case_without_an_epoch_is_told_by_a_low_run() -> None:
    records = told(*((None, one) for one in (99, 100, *range(1, 103))))

    (reset,) = findings(records, profile="bare")

    assert (reset["code"], reset["id"], reset["rule"]) == ("RESET_NO_EPOCH", "1", "low_run")
    assert reset["facts"]["climbed_at"] == 102


def test_a_counter_that_was_only_seen_to_rise_is_no_reset() -> None:
    """Between 100 and 101 it may have begun anew: numbers cannot say, and we do not."""
    assert findings(told((None, 100), (None, 101)), profile="bare", density="sparse") == []
