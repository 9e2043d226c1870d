"""The simulator on dense buses, where a missing id is a loss, and buffers that age empties."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.domain.records import SECOND
from events.domain.resume import Lane, answer
from events.domain.true_lanes import TrueLane, Union
from tests.unit.events.replica_cast import WS, bare, of_space, prefixed, told

TOKEN = "0190c0de-5e1f-4a5b-9c2d-0a0b0c0d0e0f"


@pytest.mark.parametrize("profile", ["watch", "watch+hb"])
def test_on_the_watch_bus_a_missing_id_is_a_loss_whoever_saw_it(profile: str) -> None:
    own = of_space(0, *(prefixed(TOKEN, n) for n in (99, 100, 102, 103)))

    assert told(profile, own, 100)[:3] == ("sync_required", "refuse", None)
    assert told(profile, own, 101)[:3] == ("replay", "serve", None)


def test_the_earlier_watch_bus_serves_numbers_of_a_life_that_was_abandoned() -> None:
    own = of_space(0, *(prefixed(TOKEN, n) for n in (1, 2, 3))) + of_space(
        1, *(prefixed(TOKEN, n) for n in (1, 2, 3, 4))
    )

    assert told("watch", own, 2)[2:] == ("AMBIGUOUS_RESUME", [3, 1, 2])
    assert told("watch+hb", own, 2)[2:] == (None, [])


def dense_lane(*ids: int, **more: Any) -> Lane:
    """Give the lane of a dense bus that received these ids, a second apart."""
    own = of_space(0, *(bare(id, at) for at, id in enumerate(ids)))
    lane = TrueLane(WS, is_dense=True, **more)
    for one in own:
        lane.take(one)
    return lane.lane(Union(own, (), len(ids) * SECOND))


@pytest.mark.parametrize(
    ("ids", "floor"),
    [
        ((1, 2, 3), 1),
        ((1, 2, 4, 5), 4),
        ((1, 2, 4, 3, 5), 1),
        ((1, 5, 3, 6), 5),
        ((1, 5, 4, 3, 2, 6), 1),
        ((1, 3, 6, 2), 6),
    ],
)
def test_on_a_dense_bus_the_floor_lies_above_every_hole_that_stays(
    ids: tuple[int, ...], floor: int
) -> None:
    assert dense_lane(*ids).floor == floor


@given(st.lists(st.integers(1, 12), min_size=1, max_size=20), st.sampled_from([3, 1024]))
def test_what_the_rule_serves_on_a_dense_bus_is_held_without_a_hole(
    ids: list[int], capacity: int
) -> None:
    lane = dense_lane(*ids, capacity=capacity)

    for cursor in range(1, 14):
        if answer(lane, cursor).answer == "serve":
            assert set(range(cursor + 1, lane.high_water + 1)) <= set(ids[-capacity:])


def test_a_buffer_that_age_emptied_vouches_for_its_high_water_mark_alone() -> None:
    lane = dense_lane(1, 2, 3, max_age=0)

    assert (lane.floor, lane.high_water) == (4, 3)
    assert [answer(lane, cursor).answer for cursor in (1, 2, 3)] == ["refuse", "refuse", "serve"]


def test_a_buffer_keeps_what_is_younger_than_its_age() -> None:
    assert dense_lane(1, 2, 3, max_age=2 * SECOND).floor == 2
