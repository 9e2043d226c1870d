"""Answers really given, dumps, keys and replicas, as the log tells of them."""

from __future__ import annotations

import json

import pytest

from events.projectors import folds
from ledger import keys, rebuild
from ledger.registry import registry
from tests.bus_desk import BUS, JUNK_ROW, BusDesk, begin, lane_id, numbered
from tests.databases import Database

KEY = {"name": "pad:event_seq", "role": "seq", "type": "string", "value_class": "integer"}


@pytest.fixture(autouse=True)
def no_keys() -> None:
    keys.forget()
    folds.forget()


@pytest.fixture
def desk(database: Database) -> BusDesk:
    return begin()


def judged(desk: BusDesk) -> list[tuple[str, str, str, int]]:
    return list(desk.select("answer, rule, code, missed_count", "bus_resume"))


def is_same_rebuilt() -> bool:
    found = [one for one in registry.projectors if one.name == "streams"]
    return not any(rebuild.rebuild(found, batch=batch).differing for batch in (1, 2_000))


def test_an_answer_that_the_rule_gives_too_has_no_code(desk: BusDesk) -> None:
    desk.told(*map(numbered, (5, 6, 9)), replica="r1")

    desk.observe("resume", replica="r1", channel="ws-1", cursor="6", answer="replayed", served=1)

    assert judged(desk) == [("serve", "covered", "", 0)]
    assert desk.select("lane, floor, high_water, epoch, is_partial", "bus_resume") == [
        (lane_id("r1"), 5, 9, "7", False)
    ]
    assert desk.codes() == []


def test_a_refusal_of_what_is_covered_was_needless(desk: BusDesk) -> None:
    desk.told(*map(numbered, (5, 6, 9)), replica="r1")

    desk.observe("resume", replica="r1", channel="ws-1", cursor="6", answer="sync_required")

    assert judged(desk) == [("serve", "covered", "NEEDLESS_RESYNC", 0)]
    assert desk.select("code, lane, event_id, origin", "bus_finding") == [
        ("NEEDLESS_RESYNC", lane_id("r1"), "6", "resume")
    ]


def test_a_served_answer_below_the_floor_skips_what_any_replica_received(desk: BusDesk) -> None:
    desk.told(*map(numbered, (2, 3, 5)), replica="r2")
    desk.told(*map(numbered, (5, 6, 9)), replica="r1")

    desk.observe("resume", replica="r1", channel="ws-1", cursor="1", answer="replayed",
                 first="5", last="9")  # fmt: skip

    assert judged(desk) == [("refuse", "below_floor", "SILENT_SKIP", 2)]
    assert json.loads(desk.select("missed", "bus_resume")[0]) == ["2", "3"]
    assert desk.codes() == ["SILENT_SKIP"]


def test_an_answer_is_judged_by_the_lane_as_it_was_at_that_receipt(desk: BusDesk) -> None:
    segment = desk.segment(*map(numbered, (5, 6)), replica="r1")
    ask = {"kind": "observe", "what": "resume", "installation": "i1", "bus": "activity",
           "replica": "r1", "channel": "ws-1", "cursor": "6", "answer": "caught_up"}  # fmt: skip

    desk.tell(ask, segment, {**ask, "id": "again"})
    desk.told(*map(numbered, (7, 8)), replica="r1")

    assert judged(desk) == [("refuse", "cold", "SILENT_SKIP", 0), ("serve", "covered", "", 0)]
    assert is_same_rebuilt()


def test_a_replica_without_a_lane_is_judged_by_our_tail(desk: BusDesk) -> None:
    desk.told(*map(numbered, (5, 6, 9)), replica="r3").told(*map(numbered, (8, 9)))

    desk.observe("resume", replica="r1", channel="ws-1", cursor="6", answer="replayed", served=2)

    assert judged(desk) == [("refuse", "below_floor", "SILENT_SKIP", 0)]
    assert desk.select("lane, floor", "bus_resume") == [(lane_id("r1"), 8)]


def test_a_full_buffer_lifts_the_floor_of_its_channel_alone(desk: BusDesk) -> None:
    desk.act("configure", settings={"buffer": {"events": 2}})
    desk.told(*map(numbered, (1, 2, 3)), numbered(4, scope="ws-2"), replica="r1")

    for channel in ("ws-1", "ws-2"):
        desk.observe("resume", replica="r1", channel=channel, cursor="3", answer="replayed")

    assert desk.select("channel, floor, high_water", "bus_resume") == [
        ("ws-1", 2, 3),
        ("ws-2", 4, 4),
    ]


def test_what_broke_the_receiving_lifts_the_floor(desk: BusDesk) -> None:
    desk.told(numbered(1), numbered(2), JUNK_ROW, numbered(3), replica="r1")

    desk.observe("resume", replica="r1", channel="ws-1", cursor="1", answer="sync_required")

    assert judged(desk) == [("refuse", "below_floor", "", 0)]
    assert desk.select("floor", "bus_resume") == [3]


def test_a_number_of_two_spaces_is_ambiguous_without_its_epoch(desk: BusDesk) -> None:
    desk.told(numbered(9)).told(numbered(5, "8"), numbered(6, "8"))

    for epoch in (None, "7", "8"):
        desk.observe("resume", channel="ws-1", cursor="5", epoch=epoch, answer="replayed", served=1)

    assert judged(desk) == [
        ("ambiguous", "number_in_two_spaces", "AMBIGUOUS_RESUME", 0),
        ("refuse", "other_epoch", "SILENT_SKIP", 1),
        ("serve", "covered", "", 0),
    ]


@pytest.mark.parametrize("cursor", ["does-not-exist", "-4", "9223372036854775808", " 5", "1e3"])
def test_a_cursor_that_is_none_is_refused_and_kept_as_it_came(desk: BusDesk, cursor: str) -> None:
    desk.told(*map(numbered, (1, 2, 3)))

    desk.observe("resume", channel="ws-1", cursor=cursor, answer="sync_required")

    assert desk.select("cursor, answer, rule, code", "bus_resume") == [
        (cursor, "refuse", "bad_cursor", "")
    ]


def test_what_was_let_go_makes_an_answer_partly_known(desk: BusDesk) -> None:
    desk.act("configure", settings={"keep": {"messages": 2}, "buffer": {"events": 8}})
    desk.told(*map(numbered, range(1, 7))).told(numbered(7))

    desk.observe("resume", channel="ws-1", cursor="2", answer="sync_required")

    assert desk.select("floor, is_partial", "bus_resume") == [(6, True)]
    assert is_same_rebuilt()


def test_a_dump_keeps_its_ids_as_texts(desk: BusDesk) -> None:
    numbers = ["1870000000000000001", "1870000000000000002"]
    held = {"floor": numbers[0], "high_water": numbers[1], "capacity": 1024}

    desk.observe(
        "buffer", replica="r1", channel="ws-1", ids=[*numbers[:1], int(numbers[1])], **held
    )

    ((ids, count, floor),) = desk.select("ids, count, floor", "bus_buffer")
    assert (json.loads(ids), count, floor) == (numbers, 2, numbers[0])


def test_a_key_has_a_row_for_each_way_in_which_it_was(desk: BusDesk) -> None:
    for value, ttl in (("7", -1), ("9", -1), ("9", 60), ("9", 45), ("10", -1)):
        desk.observe("keys", keys=[{**KEY, "ttl_s": ttl, "value": value}], policy="noeviction")

    forms = desk.select("leaf_index, until_leaf, ttl_s, value", "bus_key")

    assert [form[2:] for form in forms] == [(-1, "9"), (60, "9"), (-1, "10")]
    assert [form[1] for form in forms] == [forms[1][0], forms[2][0], None]


def test_a_fault_of_a_key_is_one_finding_until_it_is_gone(desk: BusDesk) -> None:
    for ttl in (60, 45, -1):
        desk.observe("keys", keys=[{**KEY, "ttl_s": ttl}], policy="allkeys-lru")

    standing = desk.select("code, scope, facts, closed_at IS NULL", "bus_finding",
                           "until_leaf IS NULL")  # fmt: skip

    assert [(code, scope, bool(is_open)) for code, scope, _, is_open in standing] == [
        ("KEY_EVICTABLE", "", True),
        ("KEY_TTL", "pad:event_seq", False),
    ]
    assert json.loads(standing[1][2])["ttl_s"] == 60
    assert desk.select("bus", "bus_finding")[0] == BUS


def test_an_older_sample_that_comes_late_changes_nothing(desk: BusDesk) -> None:
    desk.observe("keys", keys=[{**KEY, "ttl_s": -1}], policy="noeviction")
    late = {"sampled_at": "2026-10-05T08:00:00Z"}

    desk.observe("keys", keys=[{**KEY, "ttl_s": 5}], policy="allkeys-lru", **late)

    assert desk.select("ttl_s", "bus_key") == [-1]
    assert desk.select("policy", "bus_sample") == ["noeviction"]


def test_a_replica_is_what_it_said_last_and_its_counters_are_kept_as_they_change(
    desk: BusDesk,
) -> None:
    reset = {"reason": "counter_backwards", "workspace": "ws-1", "fields": {"id": 7}}
    desk.observe("replica", replica="r1", phase=1, metrics={"a": 1, "b": 2.5, "c": "x"})
    desk.observe("replica", replica="r1", metrics={"a": 1, "b": 3}, resets=[reset])
    desk.observe("replica", replica="r1", phase=2, heartbeat_phase=1, metrics={"a": 0})

    assert desk.select("phase, heartbeat_phase", "bus_replica") == [("2", "1")]
    assert desk.select("phase", "bus_phase") == ["1", "2"]
    assert desk.select("name, value", "bus_metric") == [
        ("a", 0.0), ("a", 1.0), ("b", 2.5), ("b", 3.0),
    ]  # fmt: skip
    assert desk.select("reason, word, workspace", "bus_reset") == [
        ("counter_backward", "counter_backwards", "ws-1")
    ]
    assert is_same_rebuilt()


def test_the_newest_head_of_a_node_stands_and_a_fall_is_found(desk: BusDesk) -> None:
    desk.told(numbered(90))
    for head in ("91", "81"):
        desk.observe("heads", heads=[{"channel": "", "node": "n1", "epoch": "7", "head": head}])

    assert desk.select("node, epoch, head", "bus_head") == [("n1", "7", 81)]
    assert "HW_REGRESS" in desk.codes()


def test_heads_of_loops_name_no_bus_and_are_no_heads_of_one(desk: BusDesk) -> None:
    desk.told(numbered(9))

    desk.tell({"kind": "observe", "what": "heads", "heads": [{"channel": "lobby", "head": "5"}]})

    assert desk.select("head", "bus_head") == []
