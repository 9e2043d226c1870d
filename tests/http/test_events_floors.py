"""One floor: a buffer, a tried resume and an answer really given are judged by the same lane."""

from __future__ import annotations

from typing import Any

import pytest

from events.domain.told import names
from tests import buses
from tests.http.events_house import House

BUS = {"kind": "observe", "installation": "i1"}
AT = "2026-10-05T09:05:00Z"


def reset(bus: str, seconds: int) -> dict[str, Any]:
    told = {"reason": "subscription_resumed", "at": f"2026-10-05T09:00:{seconds:02}Z"}
    return {**BUS, "what": "replica", "replica": "r1", "resets": [{**told, "workspace": "ws-1"}]}


def lane_of(bus: str, rows: list[Any], replica: str = "r1") -> list[dict[str, Any]]:
    profile = "watch" if bus == "watch" else "generation"
    return list(buses.segments(rows, bus=bus, profile=profile, replica=replica))


WHOLE = buses.run(range(1, 11), 0)
CASES: dict[str, tuple[str, list[dict[str, Any]], str]] = {
    "nothing broke": ("activity", lane_of("activity", WHOLE), "1"),
    "a dense hole": ("watch", lane_of("watch", buses.run([1, 2, 3, 5, 6], 0)), "5"),
    "a sparse hole": ("activity", lane_of("activity", buses.run([1, 2, 3, 5, 6], 0)), "1"),
    "junk": (
        "activity",
        lane_of("activity", [*WHOLE, buses.junk(10), *buses.run([11, 12], 11)]),
        "11",
    ),
    "our own hole": (
        "activity",
        lane_of("activity", [*WHOLE, buses.hole(10, 5), *buses.run([11, 12], 20)]),
        "11",
    ),
    "a reset that the replica told of": (
        "activity",
        [*lane_of("activity", WHOLE), reset("activity", 4)],
        "5",
    ),
    "a loss that another lane saw": (
        "activity",
        [
            *lane_of("activity", buses.run([1, 2, 3, 5, 6], 0)),
            *lane_of("activity", buses.run([3, 4, 5], 2), "r2"),
        ],
        "5",
    ),
    "an epoch that it never saw": (
        "activity",
        [
            *lane_of("activity", WHOLE),
            *lane_of("activity", [*WHOLE, *buses.run([1, 2], 20, epoch="8")], "r2"),
        ],
        "cold",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_buffer_resume_and_given_answer_tell_of_one_floor(house: House, name: str) -> None:
    bus, bodies, floor = CASES[name]
    lane = names.lane_id("i1", bus, "r1")
    house.tell(*bodies)
    asked = {**BUS, "what": "resume", "bus": bus, "replica": "r1", "channel": "ws-1"}
    house.tell({**asked, "cursor": "5", "answer": "replay", "occurred_at": AT})

    head = house.read(f"lanes/{lane}/buffer?at={AT}")["head"]
    tried = house.read(f"lanes/{lane}/resume?at={AT}&cursor=5")
    (given,) = house.read(f"installations/{names.installation_id('i1')}/resumes")["items"]

    found = [head["floor"], tried["lane_then"]["floor"], given["floor"]]
    assert [one or "cold" for one in found] == [floor] * 3
    assert (tried["answer"], tried["rule"]) == (given["answer"], given["rule"])


def test_a_buffer_of_a_term_is_judged_by_it_everywhere(house: House) -> None:
    house.configure("live", {"profile": "generic", "density": "dense", "buffer": {"seconds": 60}})
    lane = names.lane_id("i1", "live", "tail")
    house.tell(*buses.segments(buses.run([1, 2, 3], 0), bus="live", profile="generic"))
    asked = {**BUS, "what": "resume", "bus": "live", "channel": "ws-1", "cursor": "2"}
    house.tell({**asked, "answer": "replay", "occurred_at": AT})

    head = house.read(f"lanes/{lane}/buffer?at={AT}")["head"]
    (given,) = house.read(f"installations/{names.installation_id('i1')}/resumes")["items"]

    assert (head["floor"], head["high_water"], head["count"]) == ("4", "3", 0)
    assert (given["floor"], given["rule"]) == ("4", "below_floor")


@pytest.mark.parametrize(
    ("profile", "count", "reset"),
    [("generation", 0, "undecodable_message"), ("bare", 1, None)],
)
def test_a_message_that_cannot_be_read_empties_the_buffers_of_a_version_that_drops_for_it(
    house: House, profile: str, count: int, reset: str | None
) -> None:
    epoch = "7" if profile == "generation" else None
    rows = [*buses.run([5], 0, epoch=epoch), buses.junk(1)]
    house.tell(*buses.segments(rows, profile=profile))
    lane = names.lane_id("i1", "activity", "tail")

    head = house.read(f"lanes/{lane}/buffer?at={AT}")["head"]
    tried = house.read(f"lanes/{lane}/resume?at={AT}&cursor=5")

    told = head["last_reset"]
    assert (head["cold"], tried["lane_then"]["cold"], head["floor"]) == (True, True, None)
    assert (head["count"], told and told["reason"]) == (count, reset)


def test_what_came_after_a_message_that_cannot_be_read_is_a_buffer_of_its_own(house: House) -> None:
    rows = [*WHOLE, buses.junk(10), *buses.run([11, 12], 11)]
    house.tell(*buses.segments(rows))
    lane = names.lane_id("i1", "activity", "tail")

    head = house.read(f"lanes/{lane}/buffer?at={AT}")["head"]

    assert (head["cold"], head["count"], head["oldest"], head["floor"]) == (False, 2, "11", "11")
    assert head["last_reset"]["told_by"] == "messages"


def test_the_models_of_a_replica_begin_anew_where_it_told_of_a_reset(house: House) -> None:
    lane = names.lane_id("i1", "activity", "r1")
    house.tell(*lane_of("activity", WHOLE), reset("activity", 4))

    tried = house.read(f"lanes/{lane}/resume?at={AT}&cursor=2&version=v2")

    (model,) = tried["versions"]
    assert (tried["answer"], model["safe"]["answer"], model["answer"]) == ("refuse",) * 3


def test_what_its_messages_tell_of_each_version_finds_by_itself(house: House) -> None:
    lane = names.lane_id("i1", "activity", "r1")
    rows = [buses.run(some, some[0] - 1, epoch=None) for some in (range(1, 11), range(12, 14))]
    house.tell(*lane_of("activity", [*rows[0], buses.junk(10.9), *rows[1]]))

    found = house.read(f"lanes/{lane}/resume?at={AT}&cursor=9")["versions"]

    assert [one["answer"] for one in found] == ["serve", "serve", "refuse", "refuse"]
