"""Buses over HTTP: what a program is answered and what a person is shown."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine
from django.test import Client

from events.domain.told import names
from tests import buses, factories
from tests.desk import Desk

TEN = datetime(2026, 10, 5, 10, tzinfo=UTC)
BUS = names.bus_id("i1", "activity")
LANE = names.lane_id("i1", "activity", "tail")
OTHER = names.lane_id("i1", "activity", "r2")
INSTALLATION = names.installation_id("i1")


class House:
    """A desk with a program and a person who read, at ten."""

    def __init__(self, desk: Desk) -> None:
        self.desk, self.now = desk, TEN
        self.person = Client()
        user = factories.make_member(desk.project, "auditor", f"ada-{desk.project.id}")
        self.person.force_login(factories.get_user_model_of(user))

    def tell(self, *bodies: dict[str, Any]) -> list[str]:
        replies = self.desk.post_lines(*bodies).lines
        assert [one["status"] for one in replies] == [201] * len(bodies)
        self.desk.catch_up()
        return [one["ref"] for one in replies]

    def get(self, tail: str) -> Any:
        with time_machine.travel(self.now, tick=False):
            return self.desk.get(tail)

    def read(self, tail: str) -> Any:
        answer = self.get(tail)
        assert answer.status_code == 200, answer.content
        return answer.json()

    def page(self, tail: str) -> str:
        with time_machine.travel(self.now, tick=False):
            answer = self.person.get(f"/p/{self.desk.project.slug}/{tail}")
        assert answer.status_code == 200, answer.content
        return str(answer.content.decode())


@pytest.fixture
def house(desk: Desk) -> Iterator[House]:
    yield House(desk)


def story() -> list[dict[str, Any]]:
    """Tell of bare ids, a restart below the old mark that climbs past it, and the change to 7."""
    rows = [
        *buses.run(range(1, 41), 0, 1, epoch=None),
        *buses.run(range(1, 61), 60, 1, epoch=None, title="again"),
        *buses.run(range(61, 101), 130, 1),
    ]
    return list(buses.segments(rows))


def test_an_installation_is_listed_with_its_bus_and_lane(house: House) -> None:
    house.tell(*story())

    (one,) = house.read("installations")["items"]

    assert (one["id"], one["name"]) == (INSTALLATION, "i1")
    (bus,) = one["buses"]
    assert (bus["id"], bus["bus"], bus["messages"]) == (BUS, "activity", 140)
    (lane,) = bus["lanes"]
    assert (lane["id"], lane["replica"], lane["epoch"]) == (LANE, "tail", "7")


def test_a_timeline_has_a_band_for_each_id_space(house: House) -> None:
    house.tell(*story())

    found = house.read(f"buses/{BUS}/timeline")

    assert found["resolution"] == "raw"
    assert [one["epoch"] for one in found["bands"]] == [None, None, "7"]
    assert [one["count"] for one in found["bands"]] == [40, 60, 40]
    assert sum(len(one["t"]) for one in found["bands"]) == 140


PAGES = (
    "installations", f"installations/{INSTALLATION}", f"installations/{INSTALLATION}/resumes",
    f"buses/{BUS}", f"buses/{BUS}/findings", f"lanes/{LANE}", f"lanes/{LANE}/buffer",
    f"lanes/{LANE}/resume", f"lanes/{LANE}/resume?cursor=70",
)  # fmt: skip


@pytest.mark.parametrize("tail", PAGES)
def test_each_page_is_drawn(house: House, tail: str) -> None:
    house.tell(*story())

    assert "<h1" in house.page(tail)


def test_a_number_of_two_id_spaces_is_refused_and_the_old_version_serves_it(house: House) -> None:
    house.tell(*story())

    found = house.read(f"lanes/{LANE}/resume?cursor=20")

    assert (found["answer"], found["rule"]) == ("refuse", "below_floor")
    assert [one["answer"] for one in found["versions"]] == ["serve", "refuse", "refuse", "refuse"]
    old = found["versions"][0]
    assert (old["version"], old["difference"], old["would_miss_count"]) == (
        "v0", "SILENT_SKIP", 40,
    )  # fmt: skip
    assert old["would_miss"][0] == "61"
