"""What a lane can vouch for, by its ID spaces and its newest messages."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from events.domain.lane_facts import LaneFacts, SpaceFacts, boundaries_of
from events.domain.records import SECOND
from events.domain.resume import EPOCH, RESET, Boundary, Lane
from events.domain.true_lanes import SETTLE
from events.domain.vouching import CLOCKS, Bounds, Broken, is_left_behind, vouched


def space(ordinal: int, epoch: str | None, born_at: int, last_at: int, greatest: int = 100,
          kind: str = "epoch", first: int = 1) -> SpaceFacts:  # fmt: skip
    return SpaceFacts(ordinal, epoch, kind, born_at, last_at, first, greatest)


def lane(*spaces: SpaceFacts, at: int | None = None) -> LaneFacts:
    return LaneFacts("l1", "tail", spaces, spaces[-1].ordinal if at is None else at)


class Came(NamedTuple):
    ordinal: int
    at: int
    id: int
    space: int = 0


def vouch(*newest: int, capacity: int = 8, **named: object) -> Lane:
    """Say what a lane vouches for whose messages came a second apart, the newest at 100 s."""
    came = [Came(100 - place, (100 - place) * SECOND, one) for place, one in enumerate(newest)]
    bounds = Bounds(capacity, bool(named.get("dense")), named.get("max_age"))  # type: ignore[arg-type]
    return vouched(
        lane(space(0, "7", 0, 9)), came, bounds, Broken(**named.get("broken", {})),  # type: ignore[arg-type]
        at=100 * SECOND, elsewhere=named.get("elsewhere", ()),  # type: ignore[arg-type]
    )  # fmt: skip


def reach(*newest: int, capacity: int = 8, **named: object) -> tuple[int, int]:
    """Give floor and high-water mark."""
    found = vouch(*newest, capacity=capacity, **named)
    return found.floor, found.high_water


@pytest.mark.parametrize(
    ("named", "floor"),
    [
        ({}, 4),
        ({"dense": True}, 8),
        ({"max_age": SECOND}, 7),
        ({"max_age": 0}, 9),
        ({"broken": {"junk": 98}}, 8),
        ({"broken": {"watched_since": 99 * SECOND}}, 8),
        ({"broken": {"dropped_at": 99 * SECOND + CLOCKS}}, 8),
        ({"elsewhere": {3, 4, 7}}, 8),
        ({"elsewhere": {4, 6, 8, 9}}, 4),
        ({"elsewhere": {12}}, 13),
    ],
)
def test_each_thing_that_broke_the_receiving_lifts_the_floor(
    named: dict[str, object], floor: int
) -> None:
    assert reach(9, 8, 6, 4, **named) == (floor, 9)


def test_a_lane_vouches_for_nothing_after_a_break_that_nothing_followed() -> None:
    assert vouch(9, 8, broken={"junk": 100}).cold
    assert vouch(9, 8, broken={"is_left_behind": True}).cold


def test_a_lane_is_left_behind_by_an_epoch_that_it_never_saw() -> None:
    own = lane(space(0, "7", 10, 50))
    ahead = lane(space(0, "7", 5, 20), space(1, "8", 20, 50))
    before = lane(space(0, "6", 5, 12), space(1, "7", 12, 50))

    assert is_left_behind(own, [before, ahead], 20 + SETTLE)
    assert not is_left_behind(own, [ahead], 19 + SETTLE)
    assert not is_left_behind(own, [before], 20 + SETTLE)


def test_a_lane_without_messages_is_cold() -> None:
    assert vouched(LaneFacts("l1", "tail", (), None), [], Bounds(8)).cold
    assert vouched(lane(space(0, "7", 0, 9)), [], Bounds(8)).cold


def test_the_first_id_is_the_floor_until_one_falls_out() -> None:
    assert reach(9, 6, 5, capacity=3) == (5, 9)
    assert reach(9, 6, 5, 2, capacity=3) == (3, 9)


def test_a_space_that_the_lane_left_is_a_boundary() -> None:
    facts = lane(space(0, "7", 0, 9, 50), space(1, "8", 10, 19, 20, first=3), space(2, "8", 20, 29))

    assert boundaries_of(facts) == (
        Boundary(50, EPOCH, "7", 3),
        Boundary(20, RESET, "8", 1),
    )


def test_bare_messages_beside_an_epoch_are_of_its_space() -> None:
    facts = lane(space(0, None, 0, 30), space(1, "7", 10, 29), at=0)

    assert facts.current is not None
    assert (facts.current.epoch, facts.together) == ("7", [0, 1])
    assert facts.spaces_of("7") == [0, 1]
    assert boundaries_of(facts) == ()


def test_bare_messages_after_an_epoch_was_over_are_a_space_of_their_own() -> None:
    facts = lane(space(0, "7", 0, 9, 50), space(1, None, 20, 29, kind="reset"))

    assert facts.together == [1]
    assert [one.old_high_water for one in boundaries_of(facts)] == [50]


def test_a_stray_id_is_no_space_that_a_cursor_could_be_of() -> None:
    facts = lane(space(0, "7", 0, 9), space(1, "7", 3, 3, 2, kind="stray"), at=0)

    assert boundaries_of(facts) == ()


def test_a_lane_that_went_back_to_an_epoch_left_the_other() -> None:
    facts = lane(space(0, "7", 0, 30, 60), space(1, "8", 10, 19, 20), at=0)

    assert boundaries_of(facts) == (Boundary(20, EPOCH, "8", 1),)
    assert facts.spaces_of("8") == [1]


STRAYED = lane(space(0, "7", 0, 5, 200), space(1, "7", 6, 7, 151, kind="stray"))


def test_stray_ids_that_came_last_leave_a_lane_where_it_was_and_open() -> None:
    came = [Came(9, 9, 151, 1), Came(8, 8, 150, 1), Came(7, 7, 200), Came(6, 6, 199)]

    found = vouched(STRAYED, came, Bounds(8))

    assert (STRAYED.current, STRAYED.together) == (STRAYED.spaces[0], [0, 1])
    assert (found.floor, found.high_water, found.unsettled) == (199, 200, [151, 150])
    assert found.boundaries == ()


def test_stray_ids_take_room_in_a_buffer_but_no_floor_is_theirs() -> None:
    came = [Came(9, 9, 150, 1), Came(8, 8, 200), Came(7, 7, 199), Came(6, 6, 198)]

    found = vouched(STRAYED, came, Bounds(3))

    assert (found.floor, found.high_water) == (199, 200)


def test_a_channel_that_only_stray_ids_came_to_is_cold_and_open() -> None:
    found = vouched(STRAYED, [Came(9, 9, 150, 1)], Bounds(8))

    assert (found.cold, found.unsettled) == (True, [150])
    assert vouched(STRAYED, [], Bounds(8)).unsettled == []


def test_what_came_after_stray_ids_settles_them() -> None:
    settled = lane(*STRAYED.spaces, at=0)

    assert vouched(settled, [Came(9, 9, 201), Came(7, 7, 200)], Bounds(8)).unsettled is None
