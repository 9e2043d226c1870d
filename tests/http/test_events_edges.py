"""Buses at their edges: buffers that hold nothing, lanes without end, times at the calendar's."""

from __future__ import annotations

import pytest

from events.domain.told import names
from tests import buses
from tests.http.events_house import (
    BUS,
    INSTALLATION,
    LANE,
    OTHER,
    House,
    answers,
    keys,
    replicas,
    story,
)  # fmt: skip


@pytest.mark.parametrize(
    "tail",
    [f"lanes/{LANE}/buffer", f"lanes/{LANE}", f"lanes/{LANE}/resume?cursor=5"],
)
def test_a_lane_of_junk_alone_has_an_empty_buffer(house: House, tail: str) -> None:
    house.tell(*buses.segments([buses.junk(1)]))

    assert house.read(tail)
    assert "<h1" in house.page(tail)


@pytest.mark.parametrize("lane", [LANE, OTHER])
def test_a_channel_that_nothing_was_sent_to_has_an_empty_buffer(house: House, lane: str) -> None:
    house.tell(*story(), *answers()[:1])

    found = house.read(f"lanes/{lane}/buffer?channel=nosuch")

    assert (found["items"], found["count"], found["next"]) == ([], 0, None)
    assert "<h1" in house.page(f"lanes/{lane}/buffer?channel=nosuch")


def test_an_empty_buffer_shows_what_only_the_lane_beside_it_holds(house: House) -> None:
    own = list(buses.segments([buses.junk(1)], replica="r3"))
    house.tell(*own, *buses.segments(buses.run(range(1, 4), 0)))

    lane = names.lane_id("i1", "activity", "r3")
    found = house.read(f"lanes/{lane}/buffer?channel=ws-1&beside={LANE}")

    assert [one["kind"] for one in found["items"]] == ["elsewhere"] * 3


FIRST, LAST = "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"
TIMED = (
    *(f"buses/{BUS}/timeline?{name}=" for name in ("from", "to", "as_of")),
    *(f"lanes/{LANE}/{part}?{rest}"
      for part in ("buffer", "resume", "buffer.ndjson")
      for rest in ("cursor=5&at=", "cursor=5&as_of=")),
    *(f"{part}?as_of="
      for part in (f"buses/{BUS}", f"buses/{BUS}/findings", f"lanes/{LANE}", "receipts", "jobs",
                   f"installations/{INSTALLATION}/resumes", "receipts.csv", "contradictions",
                   f"installations/{INSTALLATION}/resets", "policies", "installations",
                   "subjects/a/b", "scopes/a", "receipts/n0", "receipts/n0/explain")),
    "reconcile?type=payout&id=1&from=", "reconcile?type=payout&id=1&to=",
)  # fmt: skip

ASKED = tuple(
    f"{part}q={name}:"
    for part in ("receipts?", "jobs?", "receipts.csv?", "simulate?fields=a&", "keys?",
                 "receipts/counts?by=task&bucket=hour&")
    for name in ("after", "before")
)  # fmt: skip


@pytest.mark.parametrize("edge", [FIRST, LAST, "0001-01-01", "9999-12-31", "0001-01-01T00:00:01Z"])
def test_a_time_at_the_edge_of_the_calendar_is_refused_wherever_one_is_asked_for(
    house: House, edge: str
) -> None:
    house.tell(*story())

    answers = {tail: house.get(f"{tail}{edge}") for tail in TIMED}

    assert {tail: one.status_code for tail, one in answers.items() if one.status_code != 400} == {}


@pytest.mark.parametrize("edge", [FIRST, LAST, "0001-01-01", "9999-12-31"])
def test_a_query_may_name_the_edge_of_the_calendar_since_receipts_may_bear_it(
    house: House, edge: str
) -> None:
    house.tell(*story())

    answers = {tail: house.get(f"{tail}{edge}") for tail in ASKED}

    assert {tail: one.status_code for tail, one in answers.items() if one.status_code >= 500} == {}


@pytest.mark.parametrize("edge", [FIRST, LAST])
@pytest.mark.parametrize("tail", [
    f"buses/{BUS}?from=", f"buses/{BUS}?to=", f"buses/{BUS}?as_of=", f"buses/{BUS}/findings?as_of=",
    f"lanes/{LANE}?at=", f"lanes/{LANE}/resume?cursor=5&at=", f"lanes/{LANE}/buffer?as_of=",
    f"installations/{INSTALLATION}/resumes?as_of=", "receipts?as_of=",
    "policies?as_of=",
])  # fmt: skip
def test_a_page_refuses_a_time_at_the_edge_of_the_calendar(
    house: House, tail: str, edge: str
) -> None:
    house.tell(*story())

    assert house.visit(f"{tail}{edge}").status_code == 400


def test_a_bus_can_be_looked_at_over_all_times_that_can_be_asked_for(house: House) -> None:
    house.tell(*story())

    page = house.page(f"buses/{BUS}?from=0002-01-01&to=9998-12-31T23:59:59.999999Z")

    assert len(page) < 1_000_000


def test_a_message_at_the_edge_of_the_calendar_is_counted_as_faulty(house: House) -> None:
    (body,) = buses.segments(buses.run([1], 0))
    house.tell({**body, "from": LAST, "to": LAST})

    (lane,) = house.read(f"buses/{BUS}")["lanes"]

    assert (lane["messages"], lane["refused"]) == (0, 1)


@pytest.mark.parametrize("edge", [FIRST, LAST, "0002-01-01T00:00:00Z", "9998-12-31T23:59:59Z"])
@pytest.mark.parametrize("tail", [
    f"buses/{BUS}", f"buses/{BUS}/findings", f"lanes/{LANE}", f"lanes/{LANE}/resume?cursor=5",
    "installations", f"installations/{INSTALLATION}", f"installations/{INSTALLATION}/resets",
    f"installations/{INSTALLATION}/resumes", f"installations/{INSTALLATION}/rollout", "receipts",
    "jobs", "",
])  # fmt: skip
def test_what_was_told_at_the_edge_of_the_calendar_is_drawn(
    house: House, edge: str, tail: str
) -> None:
    told = [*story(), *replicas(), *answers(), keys()]
    times = ("from", "to", "occurred_at", "sampled_at")
    moved = [{**one, **{name: edge for name in times if name in one}} for one in told]
    house.tell(*told, *({name: value for name, value in one.items() if name != "id"}
                        for one in moved))  # fmt: skip

    assert "<h1" in house.page(tail)
