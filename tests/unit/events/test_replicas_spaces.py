"""Conformance cases of reference/pad.md section 6 on what ends an ID space: C15 to C33, C61, C63.

The other cases that a replica's model can judge are in test_replicas.py, with a list of those that
it cannot.
"""

from __future__ import annotations

from collections import Counter

import pytest

from events.domain.records import Record
from tests.unit.events.replica_cast import WS, asked, bare, fed, frame, junk, prefixed

V1_ON, V2_ON, V3_ON = ("v1", "v2", "v3"), ("v2", "v3"), ("v3",)


def each(versions: tuple[str, ...], case: str, *values: object) -> list[object]:
    """Give one row for each version, named after the case."""
    return [pytest.param(one, *values, id=f"{case}-{one}") for one in versions]


ROWS = [
    *each(V1_ON, "C15", [bare(1), bare(2)], {1: "2"}, {}),
    *each(V1_ON, "C15", [prefixed(1, 1), bare(2), prefixed(1, 3)], {1: "2 3", 2: "3"}, {}),
    *each(V1_ON, "C16", [prefixed(1, 1)], {1: "empty"}, {}),
    *each(V1_ON, "C18", [prefixed(1, 10)], {10: "empty"}, {}),
    *each(
        V1_ON, "C18-onto-buffered", [bare(10), prefixed(1, 11)],
        {10: "gap", 11: "empty"}, {"epoch_change": 1},
    ),
    *each(
        V1_ON, "C20",
        [prefixed(1, 100), prefixed(1, 101, scope="ws-2"), prefixed(1, 50), prefixed(2, 1)],
        {1: "empty", 50: "gap", 100: "gap"}, {"counter_backward": 1, "epoch_change": 1},
    ),
    *each(
        V1_ON, "C21", [prefixed(3, 200), bare(150)],
        dict.fromkeys((149, 150, 199, 200), "gap"), {"counter_backward": 1},
    ),
    *each(
        V1_ON, "C21-climbed", [prefixed(3, 200), bare(150), bare(201)],
        {201: "empty"}, {"counter_backward": 1},
    ),
    *each(
        V2_ON, "C22", [bare(200), bare(201, scope="ws-2"), bare(199)],
        {200: "gap", 199: "200"}, {},
    ),
    *each(("v1",), "C22-before", [bare(200), bare(199)], {199: "gap"}, {"counter_backward": 1}),
    *each(V1_ON, "C23", [prefixed(1, 10), bare(11), prefixed(1, 12)], {10: "11 12"}, {}),
    *each(
        V2_ON, "straggler",
        [prefixed(1, 500), prefixed(2, 1, scope="ws-b"), prefixed(1, 501, at=1)],
        {500: "gap", 501: "gap"}, {"epoch_change": 1, "epoch_regressed": 1},
    ),
    *each(
        V2_ON, "stragglers-in-a-row", [prefixed(2, 1), prefixed(1, 8, at=1), prefixed(1, 9, at=1)],
        {1: "gap"}, {"epoch_regressed": 1},
    ),
    *each(
        V2_ON, "C25", [prefixed(5, 900), prefixed(4, 11, at=60), prefixed(4, 12, at=61)],
        {12: "empty", 11: "12", 10: "gap", 900: "gap"}, {"epoch_regressed": 1},
    ),
    *each(
        V2_ON, "C25-bound", [prefixed(5, 900), prefixed(4, 11, at=30), prefixed(4, 12, at=30)],
        {12: "empty"}, {"epoch_regressed": 1},
    ),
    *each(
        V2_ON, "C26",
        [prefixed(5, 100), prefixed(5, 60), prefixed(4, 900, at=1), prefixed(5, 51, at=2)],
        {99: "gap"}, {"counter_backward": 1, "epoch_regressed": 1},
    ),
    *each(
        ("v1", "v2"), "repeated-id", [prefixed(5, 100), prefixed(5, 100)],
        {99: "gap", 100: "empty"}, {"counter_backward": 1},
    ),
    *each(
        V3_ON, "repeated-id", [prefixed(5, 100), prefixed(5, 100)],
        {99: "gap", 100: "gap"}, {"counter_backward": 1},
    ),
    *each(V1_ON, "C28", [prefixed(4, 150)], {149: "150", 148: "gap"}, {}),
    *each(
        V2_ON, "C29", [prefixed(4, 150), junk()], {150: "gap"}, {"undecodable_message": 1},
    ),
    *each(("v0",), "C29-before", [bare(150), junk()], {150: "empty"}, {}),
    *each(("v1",), "C29-before", [prefixed("e", 150), junk()], {150: "empty"}, {}),
    *each(
        V2_ON, "late-bare", [prefixed(4, 1), bare(100), prefixed(4, 2)],
        {1: "gap"}, {"counter_backward": 1},
    ),
    *each(
        V2_ON, "C32",
        [prefixed(4, 1), bare(100), prefixed(4, 150, scope="ws-b"), prefixed(4, 151)],
        {99: "100 151"}, {},
    ),
    *each(
        V3_ON, "C33", [prefixed(3, 200), bare(150), *map(bare, range(151, 203))],
        {200: "gap", 201: "202"}, {"counter_backward": 1},
    ),
    *each(
        ("v1", "v2"), "C33-before", [prefixed(3, 200), bare(150), *map(bare, range(151, 203))],
        {199: "gap", 200: "201 202"}, {"counter_backward": 1},
    ),
    *each(
        V3_ON, "C33-epoch-change", [prefixed(3, 200), *(prefixed(4, n) for n in (1, 2, 3))],
        {2: "3", 1: "2 3"}, {"epoch_change": 1},
    ),
    *each(V3_ON, "C59", [prefixed(3, 200), frame(), frame()], {200: "empty"}, {}),
    *each(
        ("v2",), "C59-before", [prefixed(3, 200), frame()], {200: "gap"},
        {"undecodable_message": 1},
    ),
    *each(
        V3_ON, "C61-phase-2", [prefixed(3, 99), prefixed(1790000000, 1)],
        {99: "gap", 1: "empty"}, {"epoch_change": 1},
    ),
    *each(V3_ON, "C61-phase-1", [bare(99), bare(1)], {1: "gap", 99: "gap"}, {}),
    *each(
        V3_ON, "C63", [prefixed(1790000000, 40), prefixed(1790000000, 1)],
        {39: "gap", 40: "gap"}, {"counter_backward": 1},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("version", "records", "answers", "resets"), ROWS)
def test_case(
    version: str, records: list[Record], answers: dict[int, str], resets: dict[str, int]
) -> None:
    replica = fed(version, *records)

    assert {cursor: asked(replica, cursor) for cursor in answers} == answers
    assert replica.resets == Counter(resets)


def test_case_20_an_epoch_change_drops_every_workspace_and_clears_the_floor() -> None:
    replica = fed("v2", prefixed(1, 100), prefixed(1, 101, scope="ws-2"), prefixed(1, 50))
    assert replica.space.discarded == 101

    replica.take(prefixed(2, 1))

    assert replica.space.discarded == 0
    assert list(replica.buffers) == [WS]


def test_case_22_another_workspaces_coverage_survives_an_interleave() -> None:
    replica = fed("v2", bare(200), bare(201, scope="ws-2"), bare(199))

    assert asked(replica, 201, "ws-2") == "empty"


def test_a_straggler_ends_the_coverage_of_the_live_space_and_leaves_its_epoch() -> None:
    replica = fed("v2", prefixed(1, 500), prefixed(2, 1, scope="ws-b"), prefixed(1, 501, at=1))

    assert (replica.space.epoch, asked(replica, 1, "ws-b")) == (2, "gap")

    replica.take(prefixed(2, 2, at=2))

    assert asked(replica, 2) == "empty"


def test_case_26_a_straggler_keeps_the_floor_and_a_higher_epoch_clears_it() -> None:
    replica = fed("v2", prefixed(5, 100), prefixed(5, 60), prefixed(4, 900, at=1))
    assert replica.space.discarded == 100

    replica.take(prefixed(6, 1, at=3))

    assert replica.space.discarded == 0


def test_an_opaque_epoch_that_comes_back_is_a_change_each_time() -> None:
    replica = fed("v1", *(prefixed(token, 100 + n) for n, token in enumerate("abab")))

    assert replica.resets == {"epoch_change": 3}


def test_an_old_instance_never_learns_of_prefixed_messages() -> None:
    replica = fed("v0", bare(10), prefixed(7, 11), bare(12))

    assert (asked(replica, 10), replica.resets) == ("12", Counter())


@pytest.mark.parametrize(("epoch", "id"), [("e-1", 5), ("0", 5), ("-3", 5), (str(1 << 63), 5)])
def test_case_5_epochs_that_are_no_positive_number_end_coverage(epoch: str, id: int) -> None:
    replica = fed("v2", prefixed(3, 4), prefixed(epoch, id))

    assert replica.resets == {"undecodable_message": 1}


@pytest.mark.parametrize("message", [prefixed(3, 0), prefixed(3, -4), bare(0), bare(-7)])
def test_case_5_ids_that_are_not_positive_end_coverage(message: Record) -> None:
    replica = fed("v2", prefixed(3, 4), message)

    assert replica.resets == {"undecodable_message": 1}
