"""The edge probes of a lane. Source: reference/events-and-loops.md section 5.3."""

from __future__ import annotations

from events.domain.probes import probes
from events.domain.resume import Boundary, Lane, answer


def asked(lane: Lane) -> dict[str, str]:
    """Give the rule that speaks on each probe."""
    return {one.label: answer(lane, one.cursor, one.epoch).rule for one in probes(lane)}


def test_each_edge_is_probed_and_the_same_number_in_the_epoch_before() -> None:
    lane = Lane("8", 100, 200, boundaries=(Boundary(50, "epoch", "7", first=60),))

    assert asked(lane) == {
        "0": "cursor_zero",
        "floor - 2": "below_floor",
        "floor - 1": "covered",
        "floor": "covered",
        "high-water": "covered",
        "high-water + 1": "above_high_water",
        "same number, epoch before": "other_epoch",
    }


def test_edges_that_fall_together_are_probed_once() -> None:
    cursors = [one.cursor for one in probes(Lane(None, 1, 1))]

    assert cursors == [0, 1, 2]


def test_a_cold_lane_has_no_edges() -> None:
    assert asked(Lane("7", 0, 0, cold=True)) == {"0": "cursor_zero", "1": "cold"}


def test_beyond_the_greatest_number_nothing_is_probed() -> None:
    top = (1 << 63) - 1

    assert [one.label for one in probes(Lane(None, top, top))][-1] == "floor"
