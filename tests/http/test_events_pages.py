"""Buses over HTTP: what a program is answered and what a person is shown."""

from __future__ import annotations

from typing import Any

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


def test_a_replica_s_version_is_what_its_own_lane_reads_where_no_startup_line_came(
    house: House,
) -> None:
    house.tell(*story(), *buses.segments(buses.run(range(1, 9), 0, epoch=None), replica="r7",
                                         profile="bare"))  # fmt: skip
    house.tell({"kind": "observe", "what": "replica", "installation": "i1", "replica": "r7",
                "metrics": {"pad_event_resume_gaps_total": 2}})  # fmt: skip

    (row,) = house.read(f"installations/{INSTALLATION}/rollout")["items"]

    assert (row["state"], row["rule"]) == ("S0", "version")


def test_a_reset_reason_that_never_rose_says_so(house: House) -> None:
    house.tell(*story(), *replicas())

    board = house.read(f"installations/{INSTALLATION}/rollout")

    absent = {one["counter"]: one["total"] for one in board["items"][1]["cells"] if one["absent"]}
    assert absent["epoch_regressed"] == 0
    assert "never counted" in house.page(f"installations/{INSTALLATION}/rollout")


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


TWINS = (
    "installations", f"installations/{INSTALLATION}", f"installations/{INSTALLATION}/rollout",
    f"installations/{INSTALLATION}/resets", f"installations/{INSTALLATION}/resumes",
    f"buses/{BUS}", f"buses/{BUS}/timeline?width=300", f"buses/{BUS}/findings?severity=critical",
    f"lanes/{LANE}", f"lanes/{LANE}/buffer?limit=5", f"lanes/{LANE}/resume?cursor=70",
)  # fmt: skip


@pytest.mark.parametrize("tail", TWINS)
def test_the_twin_of_each_page_is_the_api_s_answer(house: House, tail: str) -> None:
    house.tell(*story(), *replicas(), *answers())
    path, _, query = tail.partition("?")

    twin = house.visit(f"{path}.json" + (f"?{query}" if query else ""))

    assert twin.content == house.get(tail).content


@pytest.mark.parametrize("tail", [*PAGES, *(f"{tail.partition('?')[0]}.json" for tail in TWINS)])
def test_a_stranger_finds_no_such_page(house: House, tail: str) -> None:
    house.tell(*story()[:3])
    house.become_a_stranger()

    assert house.visit(tail).status_code == 404


@pytest.mark.parametrize(
    "tail",
    [
        "installations/i0000000000000000", "installations/i0000000000000000/rollout",
        "installations/i0000000000000000/resets", "installations/i0000000000000000/resumes",
        "buses/b0000000000000000", "buses/b0000000000000000/timeline",
        "buses/b0000000000000000/findings", "findings/f0000000000000000",
    ],
)  # fmt: skip
def test_an_id_that_names_nothing_is_not_found(house: House, tail: str) -> None:
    answer = house.get(tail)

    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


@pytest.mark.parametrize(
    ("tail", "name"),
    [
        (f"buses/{BUS}/timeline?from=soon", "from"),
        (f"buses/{BUS}/timeline?to=never", "to"),
        (f"buses/{BUS}/timeline?from=2026-10-05T10:00:00Z&to=2026-10-05T09:00:00Z", "from"),
        (f"buses/{BUS}/timeline?width=7", "width"),
        (f"buses/{BUS}/timeline?width=many", "width"),
        (f"buses/{BUS}/findings?code=NOTHING", "code"),
        (f"buses/{BUS}/findings?severity=bad", "severity"),
        (f"installations/{INSTALLATION}/resumes?code=GAP", "code"),
        (f"installations/{INSTALLATION}/resumes?bus=b0000000000000000", "bus"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(house: House, tail: str, name: str) -> None:
    house.tell(*story()[:3])

    answer = house.get(tail)

    assert (answer.status_code, answer.json()["code"]) == (400, "bad_parameter")
    assert f"`{name}`" in answer.json()["title"]


@pytest.mark.parametrize("tail", ["installations", f"installations/{INSTALLATION}/rollout"])
def test_what_is_kept_for_the_present_alone_refuses_an_earlier_time(
    house: House, tail: str
) -> None:
    house.tell(*story()[:3])

    assert house.get(f"{tail}?as_of=n1").json()["code"] == "as_of"


def test_a_project_without_a_bus_says_what_was_searched_and_how_to_begin(house: House) -> None:
    text = house.page("installations")

    assert "No bus is watched" in text
    assert "bus_tail --project" in text


def test_findings_are_listed_with_the_sentence_and_the_rule(house: House) -> None:
    house.tell(*story())

    found = house.read(f"buses/{BUS}/findings?code=RESET_NO_EPOCH")

    (one,) = found["items"]
    assert (one["severity"], one["lane"], one["replica"], one["id"]) == (
        "critical", LANE, "tail", "1",
    )  # fmt: skip
    assert (one["band"], found["count"]["value"], found["next"]) == (f"{LANE}/1", 1, None)
    assert one["sentence"] and one["rule"] and one["ref"]


def test_a_finding_has_an_address_of_its_own_that_leads_to_the_timeline(house: House) -> None:
    house.tell(*story())
    (one,) = house.read(f"buses/{BUS}/findings?code=RESET_NO_EPOCH")["items"]

    alone = house.read(f"findings/{one['finding']}")
    text = house.page(f"findings/{one['finding']}")

    assert alone == one
    assert one["sentence"] in text
    assert f"buses/{BUS}?from=2026-10-05T09%3A00%3A00.000000Z" in text
    assert f"lanes/{LANE}/buffer?channel=ws-1" in text


def test_findings_are_walked_page_by_page_without_a_repeat(house: House) -> None:
    rows = buses.run([number for number in range(1, 60) if number % 3], 0, 5)
    house.tell(*buses.segments(rows, bus="watch", profile="watch"))
    watch = names.bus_id("i1", "watch")
    whole = house.read(f"buses/{watch}/findings?limit=500")["items"]

    walked, cursor = [], ""
    while True:
        page = house.read(f"buses/{watch}/findings?limit=7&cursor={cursor}")
        walked += page["items"]
        if (cursor := page["next"]) is None:
            break

    assert len(whole) == 19
    assert walked == whole


def test_a_finding_that_is_not_due_yet_is_none_on_any_page(house: House) -> None:
    house.tell(*buses.segments(buses.run([1, 3], 0, 1), bus="watch", profile="watch"))
    watch = names.bus_id("i1", "watch")

    early = house.read_at("2026-10-05T09:00:01.5Z", f"buses/{watch}/findings")
    late = house.read(f"buses/{watch}/findings")

    assert early["items"] == []
    assert [one["code"] for one in late["items"]] == ["GAP"]


def test_a_part_of_the_timeline_holds_what_lies_in_it(house: House) -> None:
    house.tell(*story())

    found = house.read(
        f"buses/{BUS}/timeline?from=2026-10-05T09:01:00Z&to=2026-10-05T09:02:00Z&width=100"
    )

    (band,) = found["bands"]
    assert (band["ordinal"], len(band["t"]), band["t"][0], band["t"][-1]) == (1, 60, 0, 59_000)
    assert (band["lo"][0], band["hi"][-1], band["base"]) == (0, 59, "1")
    assert [one["code"] for one in found["findings"]] == ["RESET_NO_EPOCH"]
    assert found["findings"][0]["at_ms"] == 0


def test_a_long_timeline_is_made_of_minutes_and_loses_no_message(house: House) -> None:
    bursts = [
        buses.run(range(100 * one + 1, 100 * one + 101), 500 * one, 0.005) for one in range(51)
    ]
    house.tell(*buses.segments(row for burst in bursts for row in burst))

    found = house.read(f"buses/{BUS}/timeline")

    (band,) = found["bands"]
    assert found["resolution"] == "minutes"
    assert sum(band["n"]) == 5_100
    assert (min(band["lo"]), max(band["hi"])) == (0, 5_099)


def test_messages_a_pixel_apart_are_drawn_from_segments(house: House) -> None:
    rows = buses.run(range(1, 6_001), 0, 0.05)
    house.tell(*buses.segments(rows))

    found = house.read(f"buses/{BUS}/timeline?width=50")

    (band,) = found["bands"]
    assert found["resolution"] == "segments"
    assert (sum(band["n"]), len(band["t"])) == (6_000, 50)


def test_as_of_an_earlier_number_a_bus_is_what_it_was(house: House) -> None:
    bodies = story()
    leaf = house.leaf_of(house.tell(*bodies[:70])[-1])
    whole = "from=2026-10-05T09:00:00Z&to=2026-10-05T09:05:00Z"
    members = ("bands", "findings", "holes", "strips", "resolution")
    before = house.read(f"buses/{BUS}/timeline?{whole}")
    listed = house.read(f"buses/{BUS}/findings")["items"]

    house.tell(*bodies[70:])

    then = house.read(f"buses/{BUS}/timeline?{whole}&as_of=n{leaf}")
    for member in members:
        assert _now(then[member]) == _now(before[member]), member
    assert house.read(f"buses/{BUS}/findings?as_of=n{leaf}")["items"] == listed


def _now(told: Any) -> Any:
    """Leave out what is silent until now: the clocks of the two pages differ."""
    if isinstance(told, list):
        return [_now(one) for one in told if not _is_silent(one)]
    return {name: _now(one) for name, one in told.items()} if isinstance(told, dict) else told


def _is_silent(one: Any) -> bool:
    return isinstance(one, dict) and one.get("state") == "silent"


def test_what_producers_wrote_stands_on_the_pages_as_text(house: House) -> None:
    odd = "<script>alert(1)</script>"
    house.tell(*buses.segments(buses.run([1, 2], 0, scope=odd, title=odd), replica=odd,
                               installation=odd, bus=odd))  # fmt: skip
    lane = names.lane_id(odd, odd, odd)

    for tail in ("installations", f"buses/{names.bus_id(odd, odd)}", f"lanes/{lane}/buffer"):
        assert "<script>alert(1)" not in house.page(tail)


def test_what_crosses_from_one_installation_into_another_is_told_on_both_pages(
    house: House,
) -> None:
    token = "0190c0de-5e1f-4a5b-9c2d-0a0b0c0d0e0f"
    rows = buses.run(range(1, 20), 0, epoch=token)
    for name in ("i2", "i3"):
        house.tell(*buses.segments(rows, bus="watch", profile="watch", installation=name))

    told = {
        name: house.read(f"installations/{names.installation_id(name)}")["cross"]
        for name in ("i2", "i3")
    }

    assert told["i2"] == told["i3"]
    assert {one["code"] for one in told["i2"]} == {"CROSS_FEED"}
    assert "crosses into another" in house.page(f"installations/{names.installation_id('i2')}")
    shown = house.page("installations"), house.page(f"buses/{names.bus_id('i2', 'watch')}")
    assert all("seen in i3 too: fed by another installation" in page for page in shown)
    assert "no findings" not in shown[0]
