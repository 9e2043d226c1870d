"""What a lane can vouch for, by its ID spaces and its newest messages."""

from __future__ import annotations

from events.domain.lane_facts import LaneFacts, SpaceFacts, coverage
from events.domain.resume import EPOCH, RESET, Boundary


def space(ordinal: int, epoch: str | None, born_at: int, last_at: int, greatest: int = 100,
          kind: str = "epoch", first: int = 1) -> SpaceFacts:  # fmt: skip
    return SpaceFacts(ordinal, epoch, kind, born_at, last_at, first, greatest)


def lane(*spaces: SpaceFacts, at: int | None = None) -> LaneFacts:
    return LaneFacts("l1", "tail", spaces, spaces[-1].ordinal if at is None else at)


def test_a_lane_without_messages_is_cold() -> None:
    assert coverage(LaneFacts("l1", "tail", (), None), [], 8).cold
    assert coverage(lane(space(0, "7", 0, 9)), [], 8).cold


def test_the_first_id_is_the_floor_until_one_falls_out() -> None:
    facts = lane(space(0, "7", 0, 9))

    full, over = coverage(facts, [9, 6, 5], 3), coverage(facts, [9, 6, 5, 2], 3)

    assert (full.floor, full.high_water) == (5, 9)
    assert (over.floor, over.high_water) == (3, 9)


def test_a_space_that_the_lane_left_is_a_boundary() -> None:
    facts = lane(space(0, "7", 0, 9, 50), space(1, "8", 10, 19, 20, first=3), space(2, "8", 20, 29))

    assert coverage(facts, [5], 8).boundaries == (
        Boundary(50, EPOCH, "7", 3),
        Boundary(20, RESET, "8", 1),
    )


def test_bare_messages_beside_an_epoch_are_of_its_space() -> None:
    facts = lane(space(0, None, 0, 30), space(1, "7", 10, 29), at=0)

    assert facts.current is not None
    assert (facts.current.epoch, facts.together) == ("7", [0, 1])
    assert facts.spaces_of("7") == [0, 1]
    assert coverage(facts, [5], 8).boundaries == ()


def test_bare_messages_after_an_epoch_was_over_are_a_space_of_their_own() -> None:
    facts = lane(space(0, "7", 0, 9, 50), space(1, None, 20, 29, kind="reset"))

    assert facts.together == [1]
    assert [one.old_high_water for one in coverage(facts, [5], 8).boundaries] == [50]


def test_a_stray_id_is_no_space_that_a_cursor_could_be_of() -> None:
    facts = lane(space(0, "7", 0, 9), space(1, "7", 3, 3, 2, kind="stray"), at=0)

    assert coverage(facts, [5], 8).boundaries == ()


def test_a_lane_that_went_back_to_an_epoch_left_the_other() -> None:
    facts = lane(space(0, "7", 0, 30, 60), space(1, "8", 10, 19, 20), at=0)

    assert coverage(facts, [60], 8).boundaries == (Boundary(20, EPOCH, "8", 1),)
    assert facts.spaces_of("8") == [1]
