"""The strip of a lane: what it covered, and each stretch of which nothing is known."""

from __future__ import annotations

import pytest

from events.domain.axis import MINUTE, Axis
from events.domain.records import SECOND
from events.domain.strips import Bar, Life, bars_of

AXIS = Axis(0, 100 * SECOND, 1_000)


def strip(
    *lives: Life,
    unwatched: tuple[tuple[int, int], ...] = (),
    silent: tuple[tuple[int, int], ...] = (),
    gaps: tuple[int, ...] = (),
    now: int = 0,
    axis: Axis = AXIS,
) -> list[tuple[int, int, str]]:
    """Give the bars in seconds."""
    found = bars_of(axis, lives, unwatched, silent, gaps, now)
    return [(one.begin // SECOND, one.end // SECOND, one.state) for one in found]


def life(begin: int, end: int) -> Life:
    return Life(begin * SECOND, end * SECOND, 1, 9)


def test_a_lane_is_cold_until_its_first_message() -> None:
    assert strip(life(10, 100)) == [(0, 10, "cold"), (10, 100, "covered")]


def test_a_space_is_covered_until_the_next_is_born() -> None:
    assert strip(life(0, 40), life(50, 100)) == [(0, 50, "covered"), (50, 100, "covered")]


def test_each_covered_bar_has_the_floor_and_mark_of_its_space() -> None:
    (bar,) = bars_of(AXIS, [Life(0, 100 * SECOND, 803, 2_140)], (), (), (), 0)

    assert bar == Bar(0, 100 * SECOND, "covered", 803, 2_140)


def test_spaces_of_one_moment_are_drawn_though_one_of_them_has_no_id_to_tell() -> None:
    tied = [Life(SECOND, 2 * SECOND, 3, 4), Life(SECOND, 2 * SECOND, None, None)]

    for lives in (tied, tied[::-1]):
        assert strip(*lives)[-1] == (1, 2, "covered")


def test_our_own_holes_are_neither_covered_nor_silent() -> None:
    found = strip(life(0, 100), unwatched=((20 * SECOND, 30 * SECOND),))

    assert found == [(0, 20, "covered"), (20, 30, "unwatched"), (30, 100, "covered")]


def test_a_hole_across_a_birth_cuts_both_spaces() -> None:
    found = strip(life(0, 40), life(50, 100), unwatched=((45 * SECOND, 60 * SECOND),))

    assert found == [(0, 45, "covered"), (45, 60, "unwatched"), (60, 100, "covered")]


def test_long_after_the_last_message_a_lane_is_silent_and_not_covered() -> None:
    axis = Axis(0, 300 * SECOND, 1_000)

    assert strip(life(0, 100), now=300 * SECOND, axis=axis) == [
        (0, 100, "covered"), (100, 300, "silent"),
    ]  # fmt: skip


@pytest.mark.parametrize("now", [100, 190])
def test_just_after_the_last_message_nothing_is_said(now: int) -> None:
    assert strip(life(0, 100), now=now * SECOND) == [(0, 100, "covered")]


def test_a_gap_is_a_notch_without_length() -> None:
    assert (50, 50, "gap") in strip(life(0, 100), gaps=(50 * SECOND,))


def test_what_lies_outside_the_range_is_left_out_or_clipped() -> None:
    axis = Axis(20 * SECOND, 30 * SECOND, 100)

    assert strip(life(0, 100), life(200, 300), axis=axis) == [(20, 30, "covered")]


def test_a_lane_that_nothing_came_on_is_cold_throughout() -> None:
    assert strip() == [(0, 100, "cold")]


@pytest.mark.parametrize(
    ("span", "width", "bucket"),
    [
        (600 * SECOND, 600, SECOND),
        (1_000, 4_000, 1),
        (1_234_567, 1_000, 2_000),
        (24 * 60 * MINUTE, 1_200, 2 * MINUTE),
        (7 * 60 * MINUTE, 1_200, MINUTE),
    ],
)
def test_a_pixel_is_whole_milliseconds_and_whole_minutes_over_long_ranges(
    span: int, width: int, bucket: int
) -> None:
    assert Axis(5, 5 + span, width).bucket == bucket


def test_a_time_is_told_in_whole_milliseconds_where_it_is_whole() -> None:
    assert [AXIS.ms(at) for at in (0, 2_000, 2_500)] == [0, 2, 2.5]


def test_spaces_of_one_moment_whose_ids_are_not_known_are_drawn_too() -> None:
    lives = [Life(0, 50 * SECOND, None, None), Life(0, 50 * SECOND, 3, 9)]

    found = bars_of(AXIS, lives, (), (), (), 0)

    assert {one.state for one in found} == {"covered"}
