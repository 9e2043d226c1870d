"""Buses of very many replicas, which anybody who may write can name."""

from __future__ import annotations

import json
from typing import Any

import pytest

from events.domain.told import names
from kit import clock
from ledger import ingest
from ledger.domain.draft import Envelope
from tests import buses
from tests.http.events_house import BUS, INSTALLATION, LANE, House, answers, story

MANY = 1_000
"""Twice as many as SQLite takes parts of a statement."""


def lane(number: int) -> str:
    return names.lane_id("i1", "activity", f"r{number}")


def tell_many(house: House, count: int = MANY) -> None:
    """Tell of our own tail, and of a message that each of many replicas got."""
    house.tell(*story(), *answers())
    found: list[dict[str, Any]] = []
    for number in range(count):
        found += buses.segments([buses.message(100, 200 + number / count)], replica=f"r{number}")
    raws = [json.dumps(one).encode() for one in found]
    for start in range(0, len(raws), 500):
        ingest.ingest(raws[start : start + 500], Envelope(house.desk.project.id, clock.now()))
    house.desk.catch_up()


TAILS = (
    f"buses/{BUS}", f"buses/{BUS}/findings", "installations", f"installations/{INSTALLATION}",
    f"installations/{INSTALLATION}/rollout", f"installations/{INSTALLATION}/resumes",
    f"lanes/{LANE}", f"lanes/{LANE}/buffer", f"lanes/{LANE}/resume?cursor=70",
    f"lanes/{lane(7)}", f"lanes/{lane(7)}/resume?cursor=99", f"lanes/{lane(MANY - 1)}/buffer",
)  # fmt: skip


def test_every_page_of_a_bus_of_very_many_replicas_is_drawn(house: House) -> None:
    tell_many(house)

    for tail in TAILS:
        assert "<h1" in house.page(tail), tail
        assert house.read(tail), tail
    as_of = house.leaf_of(house.tell(answers()[0])[0])
    for tail in TAILS[:2] + TAILS[6:]:
        joined = "&" if "?" in tail else "?"
        assert house.read(f"{tail}{joined}as_of=n{as_of}"), tail


def test_a_bus_of_many_replicas_lists_those_that_count_and_says_how_many_there_are(
    house: House,
) -> None:
    tell_many(house, 150)

    found = house.read(f"buses/{BUS}")

    listed = {one["replica"] for one in found["lanes"]}
    assert {"tail", "r149", "r99"} <= listed
    assert (len(listed), found["lanes_count"], found["messages"]) == (100, 151, 290)


def test_a_lane_that_a_timeline_leaves_out_is_drawn_when_it_is_asked_for(house: House) -> None:
    tell_many(house, 150)

    whole = house.read(f"buses/{BUS}/timeline")
    chosen = house.read(f"buses/{BUS}/timeline?lane={lane(7)}")

    assert lane(7) not in {one["lane"] for one in whole["strips"]}
    assert lane(7) in {one["lane"] for one in chosen["strips"]}
    assert whole["lanes_count"] == 151
    assert "111 are not" in house.page(f"buses/{BUS}")


def test_an_earlier_time_shows_the_sums_of_all_lanes(house: House) -> None:
    tell_many(house, 150)
    as_of = house.leaf_of(house.tell({"kind": "done", "task": "t"})[0])

    now, then = house.read(f"buses/{BUS}"), house.read(f"buses/{BUS}?as_of=n{as_of}")

    assert {**then, "as_of": 0, "window": 0, "feed": 0} == {
        **now, "as_of": 0, "window": 0, "feed": 0,
    }  # fmt: skip


@pytest.mark.parametrize("bus", ["activity", "watch"])
def test_every_lane_that_a_bus_lists_can_be_opened(house: House, bus: str) -> None:
    sample = {"kind": "observe", "what": "replica", "installation": "i1",
              "sampled_at": "2026-10-05T09:00:00Z", "phase": "2"}  # fmt: skip
    watched = buses.segments(buses.run(range(1, 9), 0), bus="watch", profile="watch")
    house.tell(*story(), *watched, *answers(), {**sample, "replica": "r5"})

    bus_id = names.bus_id("i1", bus)
    listed = house.read(f"buses/{bus_id}")["lanes"]
    drawn = house.read(f"buses/{bus_id}/timeline")["strips"]

    opened = {one["id"] for one in listed} | {one["lane"] for one in drawn}
    for one in sorted(opened):
        for tail in ("", "/buffer", "/resume?cursor=5"):
            assert "<h1" in house.page(f"lanes/{one}{tail}")
    replicas = {one["replica"] for one in listed}
    assert replicas == ({"tail", "r2", "r5"} if bus == "activity" else {"tail"})
