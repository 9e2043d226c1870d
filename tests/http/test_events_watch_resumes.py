"""Resumes tried on a dense bus, where a missing id is a loss; the watch bus has its own model."""

from __future__ import annotations

import pytest

from events.domain.told import names
from tests import buses
from tests.http.events_house import House

LANE = names.lane_id("i1", "watch", "tail")


@pytest.mark.parametrize(
    ("cursor", "answer", "word"),
    [("4", "refuse", "sync_required"), ("5", "serve", "replay"), ("7", "serve", "caught_up")],
)
def test_below_a_hole_nobody_vouches_for_anything(
    house: House, cursor: str, answer: str, word: str
) -> None:
    rows = buses.run([1, 2, 3, 4, 6, 7], 0)
    house.tell(*buses.segments(rows, bus="watch", profile="watch"))

    found = house.read(f"lanes/{LANE}/resume?cursor={cursor}")

    (model,) = found["versions"]
    assert (found["answer"], found["lane_then"]["floor"]) == (answer, "6")
    assert (model["version"], model["word"], model["difference"]) == ("watch", word, None)


def test_a_buffer_that_keeps_for_a_time_vouches_for_no_more(house: House) -> None:
    house.configure("live", {"profile": "generic", "density": "dense", "buffer": {"seconds": 60}})
    rows = buses.run([1, 2, 3], 0)
    house.tell(*buses.segments(rows, bus="live", profile="generic"))

    lane = names.lane_id("i1", "live", "tail")
    found = [house.read(f"lanes/{lane}/resume?cursor={one}")["rule"] for one in (2, 3)]

    assert found == ["below_floor", "covered"]
