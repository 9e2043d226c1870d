"""A lane over HTTP: its replay buffer with what is missing, its export, and tried resumes."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from events.domain.rows import Row
from events.domain.told import names
from events.queries import history
from tests import buses
from tests.http.events_house import LANE, OTHER, House, answers, story

WATCH = names.lane_id("i1", "watch", "tail")
BESIDE = names.lane_id("i1", "watch", "r2")
FAR = 1_876_951_040_000_000_001


def on_watch(rows: list[Row], replica: str = "tail") -> list[dict[str, Any]]:
    """Give the receipts of a replica on a dense bus."""
    return list(buses.segments(rows, bus="watch", profile="watch", replica=replica))


def two_replicas(house: House) -> None:
    """Tell of two replicas on a dense bus: 5 was lost by one, 7 by both, 9 by the other."""
    mine = buses.run([1, 2, 3, 4, 6, 8, 9], 0)
    theirs = buses.run([1, 2, 3, 4, 5, 6, 8], 0.1)
    house.tell(*on_watch(mine), *on_watch(theirs, "r2"))


def test_missing_ids_are_rows_of_their_own_that_say_who_has_them(house: House) -> None:
    two_replicas(house)

    items = house.read(f"lanes/{WATCH}/buffer")["items"]

    shown = [(one["id"] if one["kind"] == "held" else (one["from"], one["why"])) for one in items]
    assert shown == ["9", "8", ("7", "burned"), "6", ("5", "other_replica"), "4", "3", "2", "1"]
    (lost,) = [one for one in items if one.get("why") == "other_replica"]
    assert lost["seen_by"] == ["r2"]
    assert lost["sentence"] == "1 id is not here: seen by r2 only: not delivered here."


def test_beside_another_replica_each_row_says_whether_it_has_the_same(house: House) -> None:
    two_replicas(house)

    found = house.read(f"lanes/{WATCH}/buffer?beside={BESIDE}")

    assert (found["beside"]["replica"], found["beside"]["count"]) == ("r2", 7)
    told = {one["id"]: (one["kind"], one["beside"]) for one in found["items"]
            if one["kind"] != "missing"}  # fmt: skip
    assert told["9"] == ("held", "absent")
    assert told["8"] == ("held", "same")
    assert told["5"][0] == "elsewhere"


def test_ids_of_other_channels_are_told_as_such_on_a_sparse_bus(house: House) -> None:
    rows = [
        buses.message(one, one, scope="ws-1" if one % 3 == 1 else "ws-2") for one in range(1, 11)
    ]
    house.tell(*buses.segments(rows))

    found = house.read(f"lanes/{LANE}/buffer?channel=ws-1")

    held = [one["id"] for one in found["items"] if one["kind"] == "held"]
    lacking = [one for one in found["items"] if one["kind"] == "missing"]
    assert held == ["10", "7", "4", "1"]
    assert {one["why"] for one in lacking} == {"other_channel"}
    assert [one["count"] for one in lacking] == [2, 2, 2]
    assert [one["channel"] for one in found["channels"]] == ["ws-1", "ws-2"]


def test_a_buffer_is_walked_page_by_page_and_shows_each_hole_once(house: House) -> None:
    two_replicas(house)

    pages, cursor = [], ""
    while True:
        found = house.read(f"lanes/{WATCH}/buffer?limit=2&cursor={cursor}")
        pages += found["items"]
        if (cursor := found["next"]) is None:
            break

    held = [one["id"] for one in pages if one["kind"] == "held"]
    assert held == ["9", "8", "6", "4", "3", "2", "1"]
    assert [one["from"] for one in pages if one["kind"] == "missing"] == ["7", "5"]


def test_a_buffer_at_an_earlier_moment_holds_what_had_come_by_then(house: House) -> None:
    house.tell(*story())

    then = house.read(f"lanes/{LANE}/buffer?at=2026-10-05T09:01:30.5Z")

    assert (then["count"], then["head"]["high_water"], then["head"]["epoch"]) == (31, "31", None)
    assert then["head"]["last_reset"]["reason"] == "counter_backward"


def test_the_ruler_tells_evicted_and_unvouched_regions_apart(house: House) -> None:
    house.configure("activity", {"buffer": {"events": 10}})
    house.tell(*buses.segments(buses.run(range(803, 903), 0)))

    ruler = house.read(f"lanes/{LANE}/buffer")["ruler"]

    assert [(one["state"], one["from"], one["to"]) for one in ruler] == [
        ("unvouched", "1", "802"), ("evicted", "803", "892"), ("held", "893", "902"),
    ]  # fmt: skip


def test_ids_near_two_to_the_63_come_back_unchanged(house: House) -> None:
    house.tell(*buses.segments(buses.run([FAR, FAR + 1], 0, epoch=None)))

    found = house.read(f"lanes/{LANE}/buffer")
    text = house.page(f"lanes/{LANE}/buffer")

    assert [one["id"] for one in found["items"]] == [str(FAR + 1), str(FAR)]
    assert f"{FAR:,}" in text


def test_an_export_ends_with_the_digest_of_its_lines(house: House) -> None:
    two_replicas(house)

    answer = house.get(f"lanes/{WATCH}/buffer.ndjson")

    *lines, last = answer.content.splitlines(keepends=True)
    trailer = json.loads(last)["trailer"]
    digest = hashlib.sha256(b"".join(lines)).hexdigest()
    assert answer["Content-Type"] == "application/x-ndjson"
    assert (trailer["sha256"], trailer["messages"]) == (digest, 7)
    assert answer["Counterfoil-Digest"] == f"sha-256={digest}"
    assert [json.loads(one)["id"] for one in lines] == ["1", "2", "3", "4", "6", "8", "9"]


def test_the_export_of_a_page_is_the_api_s(house: House) -> None:
    two_replicas(house)

    twin = house.visit(f"lanes/{WATCH}/buffer.ndjson")

    assert twin.content == house.get(f"lanes/{WATCH}/buffer.ndjson").content


@pytest.mark.parametrize(
    ("cursor", "answer", "rule"),
    [
        ("70", "serve", "covered"),
        ("7:70", "serve", "covered"),
        ("6:70", "refuse", "other_epoch"),
        ("60", "refuse", "after_epoch_change"),
        ("101", "refuse", "above_high_water"),
        ("0", "fresh", "cursor_zero"),
        ("does-not-exist", "refuse", "bad_cursor"),
        ("%2070", "refuse", "bad_cursor"),
        ("9223372036854775808", "refuse", "bad_cursor"),
    ],
)
def test_each_cursor_is_answered_by_the_rule_that_fits(
    house: House, cursor: str, answer: str, rule: str
) -> None:
    house.tell(*story())

    found = house.read(f"lanes/{LANE}/resume?cursor={cursor}")

    assert (found["answer"], found["rule"]) == (answer, rule)


def test_the_edges_are_asked_too_and_each_version_answers(house: House) -> None:
    house.tell(*story())

    found = house.read(f"lanes/{LANE}/resume?cursor=70")

    assert [one["name"] for one in found["probes"]] == [
        "0", "floor - 2", "floor - 1", "floor", "high-water", "high-water + 1",
    ]  # fmt: skip
    assert [one["version"] for one in found["versions"]] == ["v0", "v1", "v2", "v3"]
    assert all(len(one["versions"]) == 4 for one in found["probes"])
    assert (found["count"], found["ids"][0]) == (30, "71")


@pytest.mark.parametrize("version", ["v2", "generation"])
def test_one_version_is_asked_alone_by_either_name(house: House, version: str) -> None:
    house.tell(*story())

    (one,) = house.read(f"lanes/{LANE}/resume?cursor=70&version={version}")["versions"]

    assert (one["version"], one["profile"]) == ("v2", "generation")


def test_the_answer_really_given_stands_beside(house: House) -> None:
    house.tell(*story(), *answers())

    found = house.read(f"lanes/{OTHER}/resume?cursor=30")

    assert (found["given"]["answer"], found["given"]["code"]) == ("serve", "SILENT_SKIP")


@pytest.mark.parametrize(
    ("tail", "name"),
    [
        (f"lanes/{LANE}/buffer?at=yesterday", "at"),
        (f"lanes/{LANE}/buffer?limit=0", "limit"),
        (f"lanes/{LANE}/buffer?limit=1e3", "limit"),
        (f"lanes/{LANE}/buffer?beside=l0000000000000000", "beside"),
        (f"lanes/{LANE}/buffer?channel={'x' * 300}", "channel"),
        (f"lanes/{LANE}/resume", "cursor"),
        (f"lanes/{LANE}/resume?cursor=1&version=v9", "version"),
        (f"lanes/{LANE}/resume?cursor=1&at=2026-13-01", "at"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(house: House, tail: str, name: str) -> None:
    house.tell(*story())

    answer = house.get(tail)

    assert (answer.status_code, answer.json()["code"]) == (400, "bad_parameter")
    assert f"`{name}`" in answer.json()["title"]


def test_a_cursor_of_another_list_is_refused(house: House) -> None:
    house.tell(*story())
    other = house.read("receipts?limit=1")["next"]

    assert house.get(f"lanes/{LANE}/buffer?cursor={other}").status_code == 400


@pytest.mark.parametrize("tail", ["", "/buffer", "/buffer.ndjson", "/resume?cursor=1"])
def test_a_lane_that_is_none_is_not_found(house: House, tail: str) -> None:
    assert house.get(f"lanes/l0000000000000000{tail}").status_code == 404


def test_what_was_not_watched_is_told_of_the_lane(house: House) -> None:
    rows = [*buses.run([1, 2], 0), buses.hole(3, 20), *buses.run([9], 30)]
    house.tell(*on_watch(rows))

    found = house.read(f"lanes/{WATCH}")
    items = house.read(f"lanes/{WATCH}/buffer")["items"]

    assert [one["why"] for one in found["unwatched"]] == ["reconnect"]
    assert [one["why"] for one in items if one["kind"] == "missing"] == ["unwatched"]


def test_a_replica_that_we_do_not_watch_says_whose_messages_are_shown(house: House) -> None:
    house.tell(*story(), *answers())

    own, told = house.read(f"lanes/{LANE}"), house.read(f"lanes/{OTHER}")

    assert (own["watched"], own["read_from"]) == (True, None)
    assert (told["watched"], told["read_from"]) == (False, {"id": LANE, "replica": "tail"})
    assert "not watched by us" not in house.page(f"lanes/{LANE}")
    for tail in ("buffer", "resume?cursor=70"):
        assert "is read from the messages of" in house.page(f"lanes/{OTHER}/{tail}")


def test_a_recording_that_came_later_than_what_it_tells_of_is_said_to_be_late(
    house: House,
) -> None:
    house.tell(*buses.segments(buses.run(range(1, 9), 100), first=1))
    house.tell(*buses.segments(buses.run(range(1, 4), 0, title="old")))

    found = house.read(f"lanes/{LANE}/buffer")
    page = house.page(f"lanes/{LANE}")

    assert (house.read(f"lanes/{LANE}")["late"], found["count"], found["head"]["floor"]) == (
        3, 8, "1",
    )  # fmt: skip
    assert "3 late segments" in page
    assert "no detector takes it" in page
    assert "3 segments late" in house.page("installations")


def test_as_of_an_earlier_number_a_lane_is_what_it_was(house: House) -> None:
    bodies = story()
    leaf = house.leaf_of(house.tell(*bodies[:50])[-1])
    before = house.read(f"lanes/{LANE}")
    buffer = house.read(f"lanes/{LANE}/buffer?at=2026-10-05T09:01:00Z")

    house.tell(*bodies[50:])

    then = house.read(f"lanes/{LANE}?as_of=n{leaf}")
    held = house.read(f"lanes/{LANE}/buffer?at=2026-10-05T09:01:00Z&as_of=n{leaf}")
    for member in ("messages", "epoch", "high_water", "spaces", "spaces_shown", "channels"):
        assert then[member] == before[member], member
    assert held["items"] == buffer["items"]
    assert held["head"] == {**buffer["head"], "authority_kept": False}


def test_a_resume_is_played_from_the_newest_messages_and_says_that_there_were_more(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("_OWN", "_OTHER"):
        text = getattr(history, name)
        small = text.replace("LIMIT 8000", "LIMIT 6").replace("LIMIT 4000", "LIMIT 4")
        monkeypatch.setattr(history, name, small)
    house.tell(*story())

    found = house.read(f"lanes/{LANE}/resume?cursor=20")

    assert (found["window"]["messages"], found["window"]["capped"]) == (6, True)
    assert found["rule"] == "below_floor"
    assert [one["old_high_water"] for one in found["lane_then"]["boundaries"]] == ["40", "60"]
