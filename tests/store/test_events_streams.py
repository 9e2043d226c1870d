"""Buses as the log tells of them: lanes, spaces, messages, roll-ups, findings and settings."""

from __future__ import annotations

import json
from typing import Any

import pytest

from events.domain import rows
from events.projectors import folds, lanes
from ledger import derive, keys, rebuild, sequence
from ledger.registry import registry
from tests import stories
from tests.bus_desk import BUS, FRAME_ROW, JUNK_ROW, BusDesk, begin, lane_id, numbered
from tests.databases import Database


@pytest.fixture(autouse=True)
def no_keys() -> None:
    keys.forget()
    folds.forget()


@pytest.fixture
def desk(database: Database) -> BusDesk:
    return begin()


def rebuilt() -> list[tuple[int, list[rebuild.Difference]]]:
    """Rebuild in batches of one and of many, and give what differs."""
    found = [one for one in registry.projectors if one.name == "streams"]
    reports = [rebuild.rebuild(found, batch=batch) for batch in (1, 2_000)]
    return [(one.differing, one.first) for one in reports]


def test_a_segment_makes_a_bus_a_lane_and_a_space(desk: BusDesk) -> None:
    desk.told(numbered(5), numbered(6), FRAME_ROW, JUNK_ROW, numbered(9))

    bus = "bus, installation, name, profile, density, messages, frames, junk"
    assert desk.select(bus, "bus") == [(BUS, "i1", "activity", "generation", "sparse", 5, 1, 1)]
    lane = "lane, replica, epoch, high_water, space, spaces, messages, kept_from, form"
    assert desk.select(lane, "bus_lane") == [(lane_id(), "tail", "7", 9, 0, 1, 5, 0, "prefixed")]
    space = "ordinal, epoch, kind, first, last, least, greatest, count"
    assert desk.select(space, "bus_space") == [(0, "7", "adopted", 5, 9, 5, 9, 3)]


def test_each_message_is_a_row_with_the_place_of_its_body(desk: BusDesk) -> None:
    desk.told(numbered(5), FRAME_ROW).told(JUNK_ROW, numbered(6, scope="ws-2"))

    found = desk.select("ordinal, form, id, scope, space, length, place", "bus_message")

    assert found == [
        (0, "p", 5, "ws-1", 0, 300, 0),
        (1, "f", None, "", -1, 4, 1),
        (2, "j", None, "ws-1", -1, 9, 0),
        (3, "p", 6, "ws-2", 0, 300, 1),
    ]


def test_roll_ups_are_of_a_segment_and_of_a_minute_and_space(desk: BusDesk) -> None:
    desk.told(numbered(5), numbered(9), numbered(7))
    desk.wait(120).told(numbered(10), FRAME_ROW)

    by_segment = "space, first, last, least, greatest, count, first_ordinal, last_ordinal"
    assert desk.select(by_segment, "bus_segment") == [
        (-1, None, None, None, None, 1, 4, 4),
        (0, 5, 7, 5, 9, 3, 0, 2),
        (0, 10, 10, 10, 10, 1, 3, 3),
    ]
    assert desk.select("space, first, last, least, greatest, count", "bus_minute") == [
        (-1, None, None, None, None, 1),
        (0, 5, 7, 5, 9, 3),
        (0, 10, 10, 10, 10, 1),
    ]


def test_another_epoch_is_another_space_with_its_parent_and_a_finding(desk: BusDesk) -> None:
    desk.told(numbered(100)).told(numbered(101, "8"))

    assert desk.select("ordinal, epoch, kind, parent, switch_id", "bus_space") == [
        (0, "7", "adopted", None, None),
        (1, "8", "epoch", 0, 100),
    ]
    assert desk.select("code, lane, space, epoch, event_id", "bus_finding") == [
        ("EPOCH_CHANGE", lane_id(), 1, "8", "101")
    ]


def test_ids_and_epochs_beyond_64_bits_stand_in_their_segment_alone(desk: BusDesk) -> None:
    desk.told(numbered(2**63, "9" * 26), numbered(1_870_000_000_000_000_001, "9" * 26))

    assert desk.select("ordinal, id", "bus_message") == [(0, None), (1, 1_870_000_000_000_000_001)]
    assert desk.select("epoch", "bus_space")[0] == "9" * 26
    assert rebuilt() == [(0, [])] * 2


def test_a_hole_of_ours_is_a_hole_and_no_message(desk: BusDesk) -> None:
    at = 1_000
    desk.told(numbered(5), rows.hole(at, at + 4_000_000, "reconnect"))

    assert desk.select("why, place", "bus_hole") == [("reconnect", 1)]
    assert desk.select("to_at - from_at", "bus_hole") == [4_000_000]
    assert desk.select("messages, holes", "bus_lane") == [(1, 1)]


def test_rows_that_cannot_be_read_are_counted_and_the_others_taken(desk: BusDesk) -> None:
    body = json.loads(desk.segment(numbered(5)))
    body["data"]["messages"] += [7, ["x"], [0, "bare", None, "1e+14", "", "", 3]]

    desk.tell(body)

    assert desk.select("messages, refused", "bus_lane") == [(1, 3)]
    assert desk.select("refused", "bus") == [3]


def test_a_segment_that_comes_after_a_later_one_is_taken_as_it_came(desk: BusDesk) -> None:
    first, second = desk.segment(numbered(5)), desk.segment(numbered(6))

    desk.tell(second).tell(first).tell(first)

    assert desk.select("messages, late, n", "bus_lane") == [(2, 1, 1)]
    assert desk.select("ordinal, id", "bus_message") == [(0, 6), (1, 5)]


def test_an_overtaken_segment_looks_like_no_restart_and_is_kept(desk: BusDesk) -> None:
    early = desk.segment(*map(numbered, (1, 2, 3, 4)))
    later = desk.wait(10).segment(*map(numbered, (5, 6, 7)))

    desk.tell(later).tell(early).wait(10).told(numbered(8))

    assert desk.codes() == []
    assert desk.select("messages, late", "bus_lane") == [(8, 1)]
    assert desk.select("ordinal, id, space", "bus_message", "ordinal > 2") == [
        (3, 1, -1), (4, 2, -1), (5, 3, -1), (6, 4, -1), (7, 8, 0),
    ]  # fmt: skip


def test_an_older_recording_in_a_live_lane_feeds_no_detector(desk: BusDesk) -> None:
    older = desk.segment(*(numbered(one, body="old") for one in (1, 2, 3)), profile="opaque")
    old = json.loads(older) | {"incarnation": "4d0d1e0a-0000-4000-8000-000000000009"}
    desk.wait(60).told(*map(numbered, range(1, 9)))

    desk.tell(old).told(numbered(9))

    assert desk.codes() == []
    assert desk.select("late, n, space, high_water", "bus_lane") == [(1, 1, 0, 9)]
    assert desk.select("late", "bus") == [1]


def test_a_tail_that_goes_on_is_never_late_though_its_clock_was_set_back(desk: BusDesk) -> None:
    desk.wait(60).told(*map(numbered, (1, 2, 3)))
    desk.wait(-30).told(*map(numbered, (4, 5)))

    assert desk.select("late, high_water", "bus_lane") == [(0, 5)]


def test_the_oldest_messages_go_when_a_lane_has_more_than_it_keeps(desk: BusDesk) -> None:
    desk.act("configure", settings={"keep": {"messages": 3}})
    desk.told(*map(numbered, range(1, 6))).told(numbered(6))

    assert desk.select("ordinal", "bus_message") == [3, 4, 5]
    assert desk.select("messages, kept_from", "bus_lane") == [(6, 3)]
    assert rebuilt() == [(0, [])] * 2


def test_a_smaller_keep_takes_the_old_away_in_parts(
    desk: BusDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lanes, "PRUNED_AT_ONCE", 2)
    desk.told(*map(numbered, range(1, 9)))
    desk.act("configure", settings={"keep": {"messages": 1}})

    desk.told(numbered(9))
    after_one = desk.select("ordinal", "bus_message")
    desk.told(numbered(10))

    assert after_one == [2, 3, 4, 5, 6, 7, 8]
    assert desk.select("ordinal", "bus_message") == [4, 5, 6, 7, 8, 9]


def test_what_a_person_sets_holds_from_its_leaf_on(desk: BusDesk) -> None:
    desk.told(numbered(1), numbered(4))
    desk.act("configure", settings={"density": "dense", "buffer": {"events": 8}})
    desk.wait(5).told(numbered(9)).wait(5).told(numbered(10))

    ((density, settings),) = desk.select("density, settings", "bus")
    assert (density, json.loads(settings)["buffer"]) == ("dense", {"events": 8})
    assert set(desk.codes()) == {"GAP"}
    assert "5" in desk.select("event_id", "bus_finding", "code = 'GAP'")


def test_an_act_of_a_producer_sets_nothing(desk: BusDesk) -> None:
    body = {"kind": "act", "act": {"verb": "configure", "target": "bus:i1/activity"}}
    desk.story.post({**body, "settings": {"density": "dense"}}, token_id=desk.story.tokens[0])

    desk.told(numbered(1))

    assert desk.select("density, settings_leaf", "bus") == [("sparse", None)]
    assert desk.select("verb", "bus_setting") == []


def test_a_change_in_a_maintenance_is_planned(desk: BusDesk) -> None:
    now = desk.story.now
    span = {"from": stories.rfc3339(now), "to": stories.rfc3339(now.replace(hour=23))}
    desk.act("maintain", **span).act("maintain", **{**span, "to": "soon"})

    desk.told(numbered(100)).told(numbered(1, "8"))

    assert desk.codes() == ["EPOCH_CHANGE_PLANNED"]
    assert desk.select("verb", "bus_setting") == ["maintain"]


def test_a_finding_that_changes_keeps_its_earlier_form_below_the_leaf(desk: BusDesk) -> None:
    desk.act("configure", settings={"density": "dense"})
    desk.told(numbered(4), numbered(6)).wait(4).told(numbered(7)).wait(4).told(numbered(5))

    forms = desk.select("leaf_index, until_leaf, opened_leaf", "bus_finding", "code = 'GAP'")

    assert len(forms) > 1
    assert [until for _, until, _ in forms] == [*(leaf for leaf, _, _ in forms[1:]), None]
    assert {opened for _, _, opened in forms} == {forms[0][0]}


def test_a_second_installation_is_held_against_what_the_first_received_before(
    desk: BusDesk,
) -> None:
    token = "0190c0de-5e1f-4a5b-9c2d-0a0b0c0d0e0f"
    desk.told(numbered(1, token), numbered(2, token), profile="opaque")

    desk.wait(50).told(numbered(2, token, body="other"), installation="i2", profile="opaque")

    assert desk.codes() == ["FORKED_EPOCH"]
    assert desk.select("bus", "bus_state")[0] == ""


def test_one_installation_under_two_names_is_held_against_nothing(desk: BusDesk) -> None:
    token = "0190c0de-5e1f-4a5b-9c2d-0a0b0c0d0e0f"
    desk.told(numbered(1, token), profile="opaque")
    desk.act("alias", "installation:i1", alias="i2")

    desk.told(numbered(1, token, body="other"), installation="i2", profile="opaque")

    assert desk.codes() == []
    assert rebuilt() == [(0, [])] * 2


def test_a_project_sees_nothing_of_another(database: Database) -> None:
    one, other = begin("one"), begin("other")

    one.told(numbered(1))
    other.told(numbered(100, "9"), numbered(200, "9"))

    assert one.select("epoch, messages", "bus_lane") == [("7", 1)]
    assert other.select("epoch, messages", "bus_lane") == [("9", 2)]
    assert one.select("id", "bus_message") == [1]


@pytest.mark.parametrize(
    "seed", [31, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (32, 33))]
)
def test_detectors_go_on_from_their_table_as_they_would_from_memory(
    database: Database, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    stories.tell(seed, 64)
    monkeypatch.setattr(folds, "KEPT", 0)
    folds.forget()

    assert rebuilt() == [(0, [])] * 2


def test_a_bus_whose_epoch_changes_with_every_message_costs_no_statement_for_each(
    desk: BusDesk, django_assert_max_num_queries: Any
) -> None:
    story = desk.story
    story.watch([desk.segment(*(numbered(one, str(one)) for one in range(1, 201)))])
    with story.travel():
        while sequence.sequence(desk.project_id, 500):
            pass

    with django_assert_max_num_queries(200):
        derive.derive(desk.project_id)

    assert len(desk.select("ordinal", "bus_space")) == 200
    assert rebuilt() == [(0, [])] * 2
