"""Detectors of wire forms and of the size of ids, and of counters of channels."""

from __future__ import annotations

import pytest

from tests.unit.events.stream_cast import (
    E1,
    START,
    Body,
    codes_of,
    findings,
    frame,
    judge,
    junk,
    message,
    told,
)

BASED = 1_876_951_040_000_000_001
"""An id of a process that was started in September 2026."""
LARGE = 1 << 59


def test_a_bare_message_an_hour_after_the_first_prefixed_is_no_straggler_yet() -> None:
    records = [message(0, E1, 1), message(3_600, None, 2)]

    assert codes_of(records) == [("MIXED_FORMS", "2")]


def test_a_publisher_left_behind_is_one_finding_that_counts() -> None:
    records = [message(0, E1, 1), *told(*((None, one) for one in range(2, 12)), start=4_000)]

    (straggler,) = findings(records)

    assert (straggler["code"], straggler["id"], straggler["facts"]["count"]) == (
        "STRAGGLER",
        "2",
        8,
    )


def test_a_straggler_that_comes_again_after_a_quiet_hour_is_told_again() -> None:
    records = [message(0, E1, 1), message(4_000, None, 2), message(7_700, None, 3)]

    assert [code for code, _ in codes_of(records)] == ["STRAGGLER", "STRAGGLER"]


def test_two_forms_are_told_once_a_lane_and_with_the_publisher() -> None:
    records = [
        *told((None, 1), (E1, 2), (None, 3), (E1, 4), publisher="p1"),
        *told((None, 1), (E1, 2), replica="r2"),
    ]

    found = findings(records)

    assert [(one["code"], one["replica"]) for one in found] == [
        ("MIXED_FORMS", "r1"),
        ("MIXED_FORMS", "r2"),
    ]
    assert found[0]["facts"] == {"publisher": "p1"}


def test_frames_and_junk_are_no_form() -> None:
    records = [message(0, E1, 1), frame(1), junk(2), message(3, E1, 2)]

    assert [code for code, _ in codes_of(records)] == ["UNPARSABLE"]


def test_a_flood_of_junk_is_told_sixty_times_a_minute_and_counted_beyond() -> None:
    found = findings([junk(place / 100) for place in range(1_000)])

    assert len(found) == 61
    assert found[-1]["facts"]["more"] == 512
    assert "At least 512 more" in found[-1]["sentence"]


@pytest.mark.parametrize("number", [LARGE - 1, 99_999_999_999_999_999, 2**53 + 1])
def test_an_id_below_the_base_of_processes_is_an_ordinary_one(number: int) -> None:
    records = [message(START, None, 1), message(START + 1, None, number)]

    assert codes_of(records, density="sparse") == []


def test_a_new_process_on_a_bus_inside_one_has_a_space_of_its_own() -> None:
    later = BASED + (90 << 30)
    records = told(*((None, one) for one in (BASED, BASED + 1, later, later + 1)), start=START)

    assert codes_of(records) == [("NEW_INCARNATION", str(later))]
    spaces = judge(records)["spaces"]
    assert [(one["kind"], one["count"]) for one in spaces] == [("adopted", 2), ("incarnation", 2)]


def test_ids_that_run_over_into_the_next_millisecond_are_of_the_same_process() -> None:
    edge = (BASED >> 20 << 20) + (1 << 20) - 2
    records = told(*((None, edge + step) for step in range(5)), start=START)

    assert codes_of(records) == []


def test_the_first_id_of_a_cold_lane_may_be_of_any_size() -> None:
    assert codes_of([message(START, None, BASED), message(START + 1, None, BASED + 1)]) == []


def test_small_ids_beside_large_ones_are_one_finding_that_counts() -> None:
    ids = [100, BASED, 101, BASED + 1, 102, 103]

    found = findings(told(*((None, one) for one in ids), start=START))

    assert [(one["code"], one["id"]) for one in found] == [
        ("BASE_JUMP", str(BASED)),
        ("UNFLIPPED_PUBLISHER", "101"),
    ]
    assert found[1]["facts"]["count"] == 2


@pytest.mark.parametrize("number", [2**63 - 1, 2**62, LARGE + 1])
def test_a_large_id_without_a_date_near_its_arrival_is_junk(number: int) -> None:
    records = [
        message(START, None, 5),
        message(START + 1, None, number),
        message(START + 2, None, 6),
    ]

    assert codes_of(records) == [("JUNK_ID", str(number))]


def test_a_junk_id_in_a_new_epoch_does_not_put_the_epoch_into_the_old_line() -> None:
    ids = [("a", 99), ("a", 100), ("b", 2**63 - 1), ("b", 1), ("b", 2), ("b", 3)]

    found = codes_of(told(*ids, start=START))

    assert found == [("JUNK_ID", str(2**63 - 1)), ("EPOCH_CHANGE", str(2**63 - 1))]


def test_nanoseconds_near_the_arrival_are_a_date_too() -> None:
    number = (START + 5) * 10**9 + 1

    assert codes_of([message(START + 5, None, number)]) == []


def test_a_date_more_than_400_days_away_by_both_readings_is_not_believed() -> None:
    number = (START + 450 * 86_400) * 10**9 + 1
    as_base = ((number >> 20) / 1_000 - START) / 86_400

    assert abs(as_base) > 400
    assert codes_of([message(START, None, number)]) == [("JUNK_ID", str(number))]


def test_a_history_with_a_clock_of_its_own_has_no_date_to_hold_ids_against() -> None:
    assert codes_of([message(5, None, 2**63 - 1)]) == []


def test_ids_that_all_divide_by_256_were_rounded_and_are_neither_gaps_nor_resets() -> None:
    first = BASED // 256 * 256
    ids = [first, first, first + 256, first + 256, first + 512]
    records = told(*((None, one, f"b{n}") for n, one in enumerate(ids)), start=START)

    (rounded,) = findings(records)

    assert (rounded["code"], rounded["facts"]["step"]) == ("PRECISION_LOSS", 256)


def test_an_id_that_is_not_rounded_takes_back_what_a_few_before_it_looked_like() -> None:
    first = BASED // 256 * 256
    ids = [first, first + 256, first + 512, first + 513, first + 768]
    records = told(*((None, one) for one in ids), start=START)

    assert codes_of(records[:3], density="sparse") == [("PRECISION_LOSS", str(first + 512))]
    assert codes_of(records, density="sparse") == []


def test_many_rounded_ids_stay_told_when_the_reader_is_mended() -> None:
    first = BASED // 256 * 256
    ids = [*(first + 256 * one for one in range(40)), first + 256 * 40 + 1]

    (rounded,) = findings(told(*((None, one) for one in ids), start=START), density="sparse")

    assert (rounded["code"], rounded["id"]) == ("PRECISION_LOSS", str(first + 512))


def test_two_ids_that_divide_by_256_are_chance() -> None:
    first = BASED // 256 * 256
    records = told((None, first), (None, first + 256), (None, first + 257), start=START)

    assert codes_of(records, density="sparse") == []


def test_small_ids_that_divide_by_256_are_exact_anyway() -> None:
    records = told(*((None, 256 * one) for one in range(1, 9)))

    assert codes_of(records, density="sparse") == []


def test_ids_of_zero_and_less_feed_no_detector() -> None:
    assert codes_of(told(("e", 0), ("e", -4), ("e", 1), ("e", 2))) == []


def of(at: float, scope: str, number: int) -> Body:
    return message(at, None, number, f"{scope} {number} {at}", scope=scope)


def test_channels_that_each_count_for_themselves_are_judged_each_for_itself() -> None:
    counts = [("a", 1), ("a", 2), ("b", 1), ("b", 2), ("a", 3), ("b", 3), ("a", 4), ("b", 4),
              ("b", 6), ("a", 5), ("b", 7)]  # fmt: skip
    records = [of(at, *one) for at, one in enumerate(counts)]

    found = findings(records, profile="generic")

    assert [(one["code"], one["id"], one["scope"]) for one in found] == [("GAP", "5", "b")]


def test_one_id_that_follows_by_chance_does_not_settle_how_channels_count() -> None:
    counts = [("a", 1), ("a", 2), ("b", 3), ("b", 4), ("a", 3), ("b", 5), ("a", 4), ("b", 6)]
    records = [of(at, *one) for at, one in enumerate(counts)]

    assert codes_of(records, profile="generic") == []


def test_channels_that_share_a_dense_counter_are_judged_together() -> None:
    counts = [("a", 100), ("b", 101), ("a", 102), ("b", 103), ("c", 104), ("a", 106), ("b", 107)]
    records = [of(at, *one) for at, one in enumerate(counts)]

    assert codes_of(records, profile="generic") == [("GAP", "105")]


def test_a_shared_counter_that_restarts_in_another_channel_is_a_reset() -> None:
    counts = [("a", 100), ("b", 101), ("a", 102), ("b", 103), ("b", 1), ("a", 2), ("b", 3)]
    records = [of(at, *one) for at, one in enumerate(counts)]

    assert codes_of(records, profile="generic") == [("RESET_NO_EPOCH", "1")]


def test_pads_channels_always_share_their_counter() -> None:
    counts = [("a", 100), ("b", 7), ("b", 8), ("b", 9)]
    records = [of(at, *one) for at, one in enumerate(counts)]

    assert codes_of(records, profile="bare", density="dense") == [("RESET_NO_EPOCH", "7")]
