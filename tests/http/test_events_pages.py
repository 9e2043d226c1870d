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


def replicas() -> list[dict[str, Any]]:
    """Tell of two replicas of a roll, one of which may not run beside the other."""
    counter = 'pad_event_sequence_resets_total{reason="counter_backwards"}'
    source = {"system": "pad", "instance": "i1", "via": "client"}
    told = {"kind": "observe", "what": "replica", "source": source, "installation": "i1"}
    reset = {"reason": "counter_backwards", "at": "2026-10-05T09:02:00Z", "workspace": "ws-1",
             "fields": {"id": 61, "high_water_mark": 90}}  # fmt: skip
    return [
        {**told, "replica": "r1", "phase": "S0", "sampled_at": "2026-10-05T09:00:00Z"},
        {**told, "replica": "r2", "phase": "2", "heartbeat_phase": "1", "metrics": {counter: 0},
         "sampled_at": "2026-10-05T09:00:00Z"},
        {**told, "replica": "r2", "metrics": {counter: 3}, "resets": [reset],
         "sampled_at": "2026-10-05T09:10:00Z"},
    ]  # fmt: skip


def answers() -> list[dict[str, Any]]:
    """Tell of a client that was served across a restart, and of a buffer as r2 dumped it."""
    common = {"kind": "observe", "installation": "i1", "bus": "activity", "replica": "r2",
              "channel": "ws-1"}  # fmt: skip
    return [
        {**common, "what": "resume", "cursor": "30", "answer": "replay", "served": 5,
         "first": "96", "last": "100", "occurred_at": "2026-10-05T09:30:00Z"},
        {**common, "what": "buffer", "epoch": "7", "floor": "90", "high_water": "101",
         "capacity": 12, "ids": [str(one) for one in range(90, 102)],
         "occurred_at": "2026-10-05T09:40:00Z"},
    ]  # fmt: skip


def keys() -> dict[str, Any]:
    """Tell of the keys of a bus, one of which expires."""
    key = {"name": "pad:event_seq", "role": "seq", "type": "string", "value_class": "integer",
           "ttl_s": 60}  # fmt: skip
    return {"kind": "observe", "what": "keys", "installation": "i1", "bus": "activity",
            "keys": [key], "policy": "allkeys-lru", "sampled_at": "2026-10-05T09:00:00Z",
            "channels": [{"channel": "pad:events:ws-1", "subscribers": 2}]}  # fmt: skip


PAGES = (
    f"installations/{INSTALLATION}/rollout", f"installations/{INSTALLATION}/resets",
    f"lanes/{OTHER}", f"lanes/{OTHER}/resume?cursor=95",
    "installations", f"installations/{INSTALLATION}", f"installations/{INSTALLATION}/resumes",
    f"buses/{BUS}", f"buses/{BUS}/findings", f"lanes/{LANE}", f"lanes/{LANE}/buffer",
    f"lanes/{LANE}/resume", f"lanes/{LANE}/resume?cursor=70",
)  # fmt: skip


@pytest.mark.parametrize("tail", PAGES)
def test_each_page_is_drawn(house: House, tail: str) -> None:
    house.tell(*story(), *replicas(), *answers(), keys())

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


def test_the_board_marks_a_mix_of_phases_that_loses_events(house: House) -> None:
    house.tell(*story(), *replicas())

    board = house.read(f"installations/{INSTALLATION}/rollout")

    assert (board["mix"], board["illegal"]) == ("s0_s2", True)
    assert [(one["replica"], one["state"], one["verdict"]) for one in board["items"]] == [
        ("r1", "S0", "illegal"), ("r2", "S2a", "illegal"),
    ]  # fmt: skip
    grown = {one["counter"]: one["total"] for one in board["items"][1]["cells"]}
    assert grown["counter_backward"] == 3
    assert "Its clients lose every message" in house.page(f"installations/{INSTALLATION}/rollout")


def test_a_reset_is_listed_by_its_one_spelling_beside_what_is_expected(house: House) -> None:
    house.tell(*story(), *replicas())

    (one,) = house.read(f"installations/{INSTALLATION}/resets")["items"]

    assert (one["reason"], one["spelled"]) == ("counter_backward", "counter_backwards")
    assert (one["id"], one["high_water"], one["channel"]) == ("61", "90", "ws-1")
    assert one["expected"].startswith("None, but while publishers of both phases run")


def test_an_answer_that_skipped_is_listed_with_what_its_client_missed(house: House) -> None:
    house.tell(*story(), *answers())

    (one,) = house.read(f"installations/{INSTALLATION}/resumes?code=any")["items"]

    assert (one["cursor"], one["given"], one["answer"]) == ("30", "replay", "refuse")
    assert (one["code"], one["replica"], one["lane"]) == ("SILENT_SKIP", "r2", OTHER)
    assert one["missed_count"] == 35
    assert house.read(f"installations/{INSTALLATION}/resumes?code=NEEDLESS_RESYNC")["items"] == []


def test_a_replica_without_a_tail_of_its_own_has_a_lane_by_its_words(house: House) -> None:
    house.tell(*story(), *answers())

    buffer = house.read(f"lanes/{OTHER}/buffer?limit=3")
    strips = house.read(f"buses/{BUS}/timeline?to=2026-10-05T10:00:00Z")["strips"]

    assert (buffer["basis"], buffer["count"]) == ("dumped", 12)
    assert (buffer["head"]["floor"], buffer["head"]["high_water"]) == ("90", "101")
    assert [(one["id"], one["form"]) for one in buffer["items"]] == [
        ("101", "not seen"), ("100", "prefixed"), ("99", "prefixed"),
    ]  # fmt: skip
    assert [(one["replica"], one["basis"]) for one in strips] == [
        ("tail", "modelled"), ("r2", "dumped"),
    ]  # fmt: skip
    (tick,) = strips[1]["resumes"]
    assert (tick["answer"], tick["code"]) == ("replay", "SILENT_SKIP")
