"""Buses over HTTP: what a program is answered and what a person is shown."""

from __future__ import annotations

import pytest

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
