"""Detectors of what is missing, late, doubled or silent, with what each is to spare."""

from __future__ import annotations

import pytest

from events.domain.stream import Stream
from events.domain.stream_settings import StreamSettings
from tests.unit.events.stream_cast import (
    E1,
    START,
    Kept,
    codes_of,
    findings,
    fold,
    frame,
    head,
    hole,
    message,
    record,
    spaces_of,
    told,
)


def both(at: float, number: int) -> list[dict[str, object]]:
    return [message(at, E1, number, replica=replica) for replica in ("r1", "r2")]


def test_a_hole_that_fills_in_time_is_out_of_order_and_no_gap() -> None:
    records = told((None, 5), (None, 7), (None, 6), (None, 8))

    assert codes_of(records) == [("INTERLEAVE", "6")]
    assert spaces_of(records) == [(None, "5", "8", 4)]


def test_a_hole_that_fills_after_exactly_the_settle_time_was_not_open_for_longer() -> None:
    records = [message(0, E1, 4), message(1, E1, 6), message(3, E1, 5)]

    assert codes_of(records) == [("INTERLEAVE", "5")]


def test_a_hole_that_fills_in_part_is_a_gap_of_what_is_left() -> None:
    records = [*told((E1, 4), (E1, 9)), message(1.5, E1, 5), message(1.7, E1, 7)]

    gap = next(one for one in findings(records) if one["code"] == "GAP")

    assert (gap["id"], gap["facts"]["ids"], gap["facts"]["missing"]) == ("6", "6, 8", "2")


def test_a_gap_that_fills_late_in_part_says_what_came_and_is_not_filled() -> None:
    records = [*told((E1, 4), (E1, 7)), message(9, E1, 5)]

    (gap,) = findings(records)

    assert gap["facts"]["late"] == 1
    assert "filled_at" not in gap["facts"]


def test_a_gap_after_many_messages_out_of_order_is_told_by_itself() -> None:
    swapped = [one for n in range(1, 200, 2) for one in (n + 1, n)]
    records = [message(n / 100, E1, one) for n, one in enumerate([0, *swapped, 202], start=1)]

    gaps = [one for one in findings(records[1:]) if one["code"] == "GAP"]

    assert [(one["id"], one["facts"].get("more")) for one in gaps] == [("201", None)]


def test_an_id_missing_in_all_replicas_was_never_sent() -> None:
    found = findings([*both(0, 4), *both(1, 6), *both(2, 7)])

    assert [(one["code"], one["id"], one["facts"]["fault"]) for one in found] == [
        ("GAP", "5", "burned"),
        ("GAP", "5", "burned"),
    ]


def test_an_id_missing_in_one_replica_was_lost_on_its_way_there() -> None:
    records = [*both(0, 4), message(1, E1, 5, replica="r2"), *both(2, 6)]

    (gap,) = findings(records)

    assert (gap["replica"], gap["facts"]["fault"], gap["facts"]["seen_by"]) == (
        "r1",
        "delivery",
        "r2",
    )


def test_whose_fault_it_is_does_not_depend_on_which_replica_is_told_first() -> None:
    records = [
        *told((E1, 4), (E1, 6), (E1, 7)),
        *told((E1, 4), (E1, 5), (E1, 6), replica="r2"),
    ]

    (gap,) = findings(records)

    assert gap["facts"]["fault"] == "delivery"


def test_with_one_replica_nobody_can_say_whose_fault_a_gap_is() -> None:
    (gap,) = findings(told((E1, 4), (E1, 6)))

    assert gap["facts"]["fault"] == "unknown"
    assert "nothing tells" in gap["sentence"]


def test_a_replica_that_we_did_not_watch_is_no_witness() -> None:
    records = [
        *both(0, 4),
        hole(0.5, 1.5, replica="r2"),
        message(2, E1, 6, replica="r1"),
        message(2, E1, 6, replica="r2"),
        message(3, E1, 7, replica="r2"),
    ]

    (gap,) = findings(records)

    assert (gap["replica"], gap["facts"]["fault"]) == ("r1", "unknown")


def test_the_replicas_that_we_did_watch_are_witnesses_enough() -> None:
    records = [
        *both(0, 4),
        message(0, E1, 4, replica="r3"),
        hole(0.5, 1.5, replica="r3"),
        *both(2, 6),
        message(2, E1, 6, replica="r3"),
    ]

    found = findings(records)

    assert [(one["replica"], one["facts"]["fault"]) for one in found] == [
        ("r1", "burned"),
        ("r2", "burned"),
    ]


def test_a_replica_that_is_long_gone_is_not_waited_for() -> None:
    records = [message(0, E1, 4, replica="r3"), *both(95, 4), *both(96, 6)]

    assert {one["facts"]["fault"] for one in findings(records)} == {"burned"}


def test_a_replica_that_has_forgotten_the_id_says_nothing_of_it() -> None:
    far = [message(n / 1_000, E1, n, replica="r2") for n in range(1, 1_200)]
    near = [message(2, E1, 4, replica="r1"), message(2.1, E1, 6, replica="r1")]

    (gap,) = findings([*far, *near])

    assert (gap["id"], gap["facts"]["fault"]) == ("5", "unknown")


def test_ids_missing_across_a_time_we_did_not_watch_are_no_gap() -> None:
    records = [*told((E1, 4), (E1, 5)), hole(2, 30), *told((E1, 90), (E1, 91), start=31)]

    assert codes_of(records, heads=[head(30.5, "n1", 90)]) == []


def test_ids_missing_between_two_tails_are_no_gap_though_neither_says_that_it_did_not_watch() -> (
    None
):
    stream, kept = Stream(StreamSettings("i1", "b", "watch", "dense")), Kept()
    stream.take(record(START, E1, 5))

    stream.watch_again("r1", (START + 90_000) * 1_000_000)
    stream.take(record(START + 90_001, E1, 900_000))
    stream.take(record(START + 90_002, E1, 900_002))

    kept.drain(stream)
    assert [(one.code, one.id) for one in kept.findings.values()] == [("GAP", 900_001)]


def test_a_hole_that_was_not_due_when_we_stopped_watching_is_no_gap() -> None:
    records = [*told((E1, 4), (E1, 6)), hole(2, 30), message(31, E1, 7)]

    assert codes_of(records) == []


def test_a_hole_that_was_due_before_we_stopped_watching_stays_a_gap() -> None:
    records = [*told((E1, 4), (E1, 6)), hole(9, 30), message(31, E1, 7)]

    assert codes_of(records) == [("GAP", "5")]


def test_an_id_of_a_time_we_did_not_watch_that_still_comes_is_nothing() -> None:
    records = [message(0, E1, 4), hole(1, 2), message(3, E1, 9), message(3.5, E1, 7)]

    assert codes_of(records) == []


def test_a_sparse_bus_has_neither_gaps_nor_tail_gaps() -> None:
    records = told((E1, 1), (E1, 500), (E1, 900))

    assert codes_of(records, density="sparse", heads=[head(5, "n1", 2_000)]) == []


def test_a_head_that_is_not_reached_is_a_tail_gap_after_the_settle_time() -> None:
    heads = [head(5, "n1", 9)]

    assert codes_of(told((E1, 7)), heads=heads, until=7) == []
    assert codes_of(told((E1, 7)), heads=heads, until=7.1) == [("TAIL_GAP", "8")]


def test_a_head_that_is_reached_in_time_is_no_tail_gap() -> None:
    records = [message(0, E1, 7), message(6, E1, 8), message(6.5, E1, 9)]

    assert codes_of(records, heads=[head(5, "n1", 9)]) == []


def test_a_head_that_is_reached_late_stays_a_tail_gap_that_says_so() -> None:
    records = [message(0, E1, 7), message(9, E1, 8), message(9.5, E1, 9)]

    (tail,) = findings(records, heads=[head(5, "n1", 9)])

    assert (tail["code"], tail["facts"]["filled_at"]) == ("TAIL_GAP", 9.5)


def test_a_head_of_another_epoch_says_nothing_of_a_lane() -> None:
    assert codes_of(told((E1, 7)), heads=[head(5, "n1", 90, "another")]) == []


def test_a_head_that_was_not_watched_for_is_no_tail_gap() -> None:
    records = [message(0, E1, 7), hole(4, 20)]

    assert codes_of(records, heads=[head(3.5, "n1", 9), head(21, "n1", 30)]) == []


@pytest.mark.parametrize(
    ("heads", "expected"),
    [
        ([head(0, "n1", 91, "a"), head(1, "n1", 81, "b")], []),
        ([head(0, "n1", 91), head(1, "n1", 91)], []),
        ([head(5, "n1", 91), head(1, "n1", 81)], []),
        ([head(0, "n1", 91) | {"channel": "a"}, head(1, "n1", 81) | {"channel": "b"}], []),
        ([head(0, "n1", 91), head(1, "n1", 0)], [("HW_REGRESS", "0")]),
    ],
    ids=[
        "another epoch",
        "the same",
        "told out of order",
        "two channels",
        "an absent counter is 0",
    ],
)
def test_a_head_regresses_within_one_node_and_epoch(heads: list[object], expected: object) -> None:
    assert codes_of([], heads=heads) == expected


def test_heads_of_channels_that_each_count_for_themselves_are_compared_by_channel() -> None:
    counts = [("a", 1), ("b", 1), ("a", 2), ("b", 2), ("a", 3), ("b", 3), ("a", 4), ("b", 4)]
    records = [
        message(at, None, number, f"{scope} {number}", scope=scope)
        for at, (scope, number) in enumerate(counts)
    ]
    heads = [head(9, "n1", 4) | {"channel": "a"}, head(10, "n1", 3) | {"channel": "b"}]

    assert codes_of(records, profile="generic", heads=heads) == []
    behind = [head(9, "n1", 6) | {"channel": "b"}]
    assert codes_of(records, profile="generic", heads=behind) == [("TAIL_GAP", "5")]


def test_a_sample_that_arrives_late_is_not_held_against_the_one_that_came_first() -> None:
    settings = StreamSettings("i1", "b", "opaque", "dense")
    samples = [
        (5_000_000, "n1", None, 91),
        (1_000_000, "n1", None, 81),
        (6_000_000, "n1", None, 92),
    ]

    kept, _ = fold(settings, samples)

    assert kept.findings == {}


def test_a_tail_gap_that_was_due_before_we_stopped_watching_stays() -> None:
    records = [message(0, E1, 7), hole(20, 30), message(31, E1, 12)]

    (tail,) = findings(records, heads=[head(5, "n1", 9)])

    assert (tail["code"], tail["id"], tail["facts"]["filled_at"]) == ("TAIL_GAP", "8", 31)


def test_the_next_life_of_a_counter_does_not_fill_the_tail_of_the_one_before() -> None:
    records = told(*((None, one) for one in (90, 91, *range(1, 99))))

    found = findings(records, profile="bare", heads=[head(1.5, "n1", 95)])

    assert [one["code"] for one in found] == ["TAIL_GAP", "RESET_NO_EPOCH"]
    assert "filled_at" not in found[0]["facts"]


def test_an_absent_head_is_the_value_0() -> None:
    heads = [head(0, "n1", 91), head(1, "n1", 1) | {"head": None}]

    assert codes_of([], heads=heads) == [("HW_REGRESS", "0")]


def test_a_replica_that_hears_nothing_while_a_sibling_does_is_silent() -> None:
    records = [frame(0), *(frame(at, "r2") for at in range(0, 121, 30)), message(125, E1, 1)]

    (silent,) = findings(records)

    assert (silent["code"], silent["replica"], silent["at"]) == ("LANE_SILENT", "r1", 90)
    assert silent["facts"]["back_at"] == 125


def test_without_frames_quiet_is_not_silent() -> None:
    records = [message(0, E1, 1), *told(*((E1, one) for one in range(1, 200)), replica="r2")]

    assert codes_of(records) == []


def test_frames_keep_a_quiet_replica_alive() -> None:
    traffic = told(*((E1, one) for one in range(1, 200)), replica="r2")
    records = [message(0, E1, 1), *traffic, *(frame(at) for at in range(0, 200, 30))]

    assert codes_of(records) == []


def test_a_replica_that_we_did_not_watch_is_not_silent() -> None:
    records = [frame(0), *(frame(at, "r2") for at in range(0, 181, 30)), hole(5, 185)]

    assert codes_of(records) == []


def test_a_bus_that_stops_altogether_silences_nobody() -> None:
    records = [frame(0), frame(0, "r2"), frame(59, "r2"), message(500, E1, 1)]

    assert codes_of(records) == []


def test_a_replica_is_silent_from_90_seconds_on_and_not_before() -> None:
    records = [frame(0), *(frame(at, "r2") for at in (0, 30, 60))]

    assert codes_of(records, until=89.9) == []
    assert codes_of(records, until=90) == [("LANE_SILENT", None)]


def test_a_replica_that_is_heard_before_90_seconds_is_not_silent() -> None:
    records = [frame(0), *(frame(at, "r2") for at in (0, 30, 60, 80)), frame(89)]

    assert codes_of(records) == []


def test_frames_touch_no_ids() -> None:
    assert codes_of([message(0, E1, 1), frame(0.5), message(1, E1, 2), frame(1.5)]) == []


def test_replayed_messages_feed_no_detector() -> None:
    records = [
        *told((E1, 5), (E1, 6)),
        *told((E1, 1, "x"), (E1, 5, "y"), ("z", 9), source="replay"),
    ]

    assert codes_of(records) == []
    assert spaces_of(records) == [(E1, "5", "6", 2)]


def test_the_same_body_after_more_than_a_minute_is_no_retry() -> None:
    within = [message(0, E1, 1, "x"), message(60, E1, 2, "x")]
    after = [message(0, E1, 1, "x"), message(60.1, E1, 2, "x")]

    assert (codes_of(within), codes_of(after)) == ([("RETRY_DUP", "2")], [])


def test_one_body_told_to_several_channels_is_no_retry() -> None:
    records = [message(0, E1, 1, "x", scope="a"), message(0, E1, 2, "x", scope="b")]

    assert codes_of(records, density="sparse") == []


def test_messages_without_a_body_are_no_retries() -> None:
    records = told((E1, 1), (E1, 2))
    for one in records:
        del one["body"]

    assert codes_of(records) == []


def test_one_body_has_one_fingerprint_whatever_the_order_of_its_members() -> None:
    records = told((E1, 1, {"a": 1, "b": [2]}), (E1, 1, {"b": [2], "a": 1}))

    assert codes_of(records) == [("DUPLICATE", "1")]
