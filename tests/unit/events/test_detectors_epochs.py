"""Detectors of epochs and resets, with the false positives that each is to spare."""

from __future__ import annotations

import pytest

from tests.unit.events.stream_cast import (
    E1,
    E2,
    codes_of,
    findings,
    judge,
    message,
    spaces_of,
    told,
)

GENERATIONS = {"profile": "generation", "density": "sparse"}
LATE = "late_generation"


def test_a_token_that_comes_back_is_two_publishers_and_both_bands_go_on() -> None:
    records = told((E1, 100), (E2, 1), (E1, 101), (E2, 2))

    assert codes_of(records) == [("EPOCH_CHANGE", "1"), ("EPOCH_FLAP", "101")]
    assert spaces_of(records) == [(E1, "100", "101", 2), (E2, "1", "2", 2)]


def test_tokens_that_take_turns_on_one_counter_leave_no_gaps() -> None:
    records = told((E1, 1), (E2, 2), (E1, 3), (E2, 4), (E1, 5), (E2, 6))

    assert {code for code, _ in codes_of(records)} == {"EPOCH_CHANGE", "EPOCH_FLAP"}


def test_replicas_that_see_one_epoch_end_are_one_incident() -> None:
    records = [
        message(at, epoch, number, replica=replica)
        for at, (epoch, number) in enumerate([(E1, 100), (E2, 1), (E2, 2)])
        for replica in ("r1", "r2", "r3")
    ]

    (change,) = findings(records)

    assert change["code"] == "EPOCH_CHANGE"
    assert change["facts"]["replicas"] == "r1, r2, r3"
    assert change["sentence"].endswith("Seen by r1, r2, r3.")


@pytest.mark.parametrize("profile", ["opaque", "watch"])
def test_tokens_have_no_order_even_when_they_look_like_numbers(profile: str) -> None:
    assert codes_of(told(("8", 50), ("7", 1)), profile=profile) == [("EPOCH_CHANGE", "1")]


def test_c25_a_lower_generation_long_after_is_adopted() -> None:
    records = [message(0, "5", 10), message(60, "4", 11), message(61, "4", 12)]

    (fell,) = findings(records, **GENERATIONS)

    assert (fell["code"], fell["id"], fell["rule"]) == ("EPOCH_REGRESSED", "11", "generation_fell")


def test_c26_a_late_message_of_the_generation_before_leaves_the_lane_where_it_is() -> None:
    records = told(("4", 100), ("5", 1), ("4", 101), ("5", 2), ("5", 3))

    found = findings(records, **GENERATIONS)

    assert [(one["code"], one["id"]) for one in found] == [
        ("EPOCH_CHANGE", "1"),
        ("EPOCH_REGRESSED", "101"),
    ]
    assert found[1]["rule"] == "late_generation"
    assert spaces_of(records, **GENERATIONS) == [("4", "100", "101", 2), ("5", "1", "3", 3)]


def test_one_late_message_that_three_replicas_saw_is_one_message() -> None:
    records = [
        message(at, epoch, number, replica=replica)
        for at, epoch, number in ((0, "7", 1), (1, "8", 2), (2, "7", 3))
        for replica in ("r1", "r2", "r3")
    ]

    found = [one for one in findings(records, profile="generation") if one["rule"] == LATE]

    assert [one["facts"]["replicas"] for one in found] == ["r1, r2, r3"]
    assert "at least" not in found[0]["sentence"]


def test_late_messages_are_counted_by_the_replica_that_saw_most_of_them() -> None:
    lanes = {"r1": (3,), "r2": (3, 4)}
    records = [
        message(number, epoch, number, replica=replica)
        for replica, late in lanes.items()
        for epoch, number in (("7", 1), ("8", 2), *(("7", one) for one in late))
    ]

    found = [one for one in findings(records, profile="generation") if one["rule"] == LATE]

    assert found[0]["facts"]["count"] == 2


def test_two_generations_that_take_turns_are_two_publishers() -> None:
    records = told(("1", 1), ("2", 1), ("1", 2), ("2", 2), ("1", 3), ("2", 3))

    assert [code for code, _ in codes_of(records, **GENERATIONS)] == [
        "EPOCH_CHANGE",
        "EPOCH_REGRESSED",
        "EPOCH_FLAP",
    ]


def test_an_epoch_number_that_text_would_order_otherwise_rises() -> None:
    assert codes_of(told(("9", 5), ("10", 1)), **GENERATIONS) == [("EPOCH_CHANGE", "1")]


def test_a_maintenance_window_holds_at_both_of_its_ends_and_not_beside_them() -> None:
    records = told((E1, 100), (E2, 1))

    ends = [[[1, 9]], [[0, 1]], [[0, 0.9]], [[1.1, 9]]]
    found = [codes_of(records, maintenance=window)[0][0] for window in ends]

    assert found == ["EPOCH_CHANGE_PLANNED"] * 2 + ["EPOCH_CHANGE"] * 2


def test_the_first_epoch_on_a_bare_lane_is_no_change() -> None:
    assert codes_of(told((None, 1), (E1, 2), (E1, 3))) == [("MIXED_FORMS", "2")]


def test_c23_bare_ids_of_a_roll_belong_to_the_counter_of_the_epoch() -> None:
    assert codes_of(told((E1, 10), (None, 11), (E1, 12))) == [("MIXED_FORMS", "11")]


def test_w4_a_counter_that_restarts_under_its_token_is_a_reset() -> None:
    records = told((E1, 100), (E1, 1), (E1, 2), (E1, 3))

    assert codes_of(records, profile="watch") == [("RESET_NO_EPOCH", "1")]
    assert spaces_of(records, profile="watch") == [(E1, "100", "100", 1), (E1, "1", "3", 3)]


def test_w3_a_new_token_that_goes_on_counting_is_a_change() -> None:
    assert codes_of(told((E1, 100), (E2, 101)), profile="watch") == [("EPOCH_CHANGE", "101")]


def test_c63_two_spaces_with_one_repaired_epoch_are_told_by_numbers() -> None:
    records = told(*(("1790000000", one) for one in (7, 8, 9, 1, 2, 3)))

    assert codes_of(records, **GENERATIONS) == [("RESET_NO_EPOCH", "1")]


def test_a_failover_to_a_copy_that_lags_is_a_reset_at_the_first_id_that_comes_again() -> None:
    records = told(*((E1, one) for one in range(85, 92)), (E1, 88, "new"), (E1, 89, "newer"))

    (reset,) = findings(records)

    assert (reset["code"], reset["id"], reset["rule"]) == ("RESET_NO_EPOCH", "88", "known_id")


def test_a_counter_that_restarts_as_its_publishers_learn_epochs_is_a_reset() -> None:
    records = told((None, 100), (E1, 1), (E1, 2), (E1, 3))

    assert codes_of(records) == [("MIXED_FORMS", "1"), ("RESET_NO_EPOCH", "1")]
    assert spaces_of(records) == [(None, "100", "100", 1), (E1, "1", "3", 3)]


def test_every_parent_of_a_space_is_a_space() -> None:
    records = told((E1, 101), (E1, 102), (None, 1), (E1, 2), (None, 3), (E1, 4), (None, 5))

    found = judge(records)["spaces"]

    assert [one["count"] for one in found] == [2, 3, 2]

    ordinals = {one["ordinal"] for one in found}
    assert {one["parent"] for one in found} - {None} <= ordinals
    assert [(one["kind"], one["epoch"]) for one in found] == [
        ("adopted", E1),
        ("reset", None),
        ("reset", E1),
    ]


def test_a_second_reset_is_told_as_well() -> None:
    ids = [*range(50, 60), 1, 2, 3, *range(4, 30), 1, 2]
    records = told(*((None, one, f"{place}") for place, one in enumerate(ids)))

    assert codes_of(records) == [("RESET_NO_EPOCH", "1"), ("RESET_NO_EPOCH", "1")]


def test_low_ids_that_do_not_rise_are_no_reset() -> None:
    records = told(*((None, one) for one in (100, 50, 40, 30, 101)))

    assert {code for code, _ in codes_of(records)} == {"INTERLEAVE"}


def test_two_low_ids_are_not_enough_for_a_reset() -> None:
    records = told(*((None, one) for one in (100, 50, 51, 101)))

    (found,) = findings(records)

    assert (found["code"], found["id"], found["facts"]["count"]) == ("INTERLEAVE", "50", 2)


def test_a_lone_low_id_followed_by_old_numbering_is_out_of_order() -> None:
    records = told((None, 100), (None, 50), (None, 101))

    (found,) = findings(records, until=2)

    assert (found["code"], found["id"], found["rule"]) == ("INTERLEAVE", "50", "lone_low")
    assert spaces_of(records) == [(None, "100", "101", 3)]


@pytest.mark.parametrize(("number", "rule"), [(84, "reordered"), (83, "lone_low")])
def test_sixteen_ids_below_the_newest_is_still_near(number: int, rule: str) -> None:
    (found,) = findings(told((None, 50), (None, 100), (None, number)), density="sparse")

    assert (found["code"], found["rule"]) == ("INTERLEAVE", rule)


def test_a_low_run_is_a_reset_from_its_third_id_on_and_dates_from_its_first() -> None:
    records = told(*((None, one) for one in (100, 1, 2, 3)))

    (reset,) = findings(records)

    assert (reset["at"], reset["due_at"]) == (1, 3)
    assert codes_of(records, until=2.9) == []


def test_a_low_id_below_all_that_the_lane_saw_waits_for_those_that_follow() -> None:
    records = told((None, 5), (None, 6), (None, 7), (None, 2))

    assert codes_of(records, until=5.0) == []
    assert codes_of(records, until=5.1) == [("INTERLEAVE", "2")]


def test_a_lone_low_id_says_nothing_before_the_settle_time() -> None:
    records = told((None, 100), (None, 50))

    assert codes_of(records, until=3.0) == []
    assert codes_of(records, until=3.1) == [("INTERLEAVE", "50")]


def test_two_counters_that_take_turns_are_not_a_reset_a_message() -> None:
    ids = [number for step in range(40) for number in (step + 1, step + 1)]
    records = told(*((None, one, f"body {place}") for place, one in enumerate(ids)))

    found = [code for code, _ in codes_of(records)]

    assert found.count("RESET_NO_EPOCH") <= 3
    assert "INTERLEAVE" in found


def test_c22_on_one_counter_for_all_channels_a_late_channel_is_out_of_order() -> None:
    records = [
        message(0, None, 200, scope="ws-1"),
        message(1, None, 201, scope="ws-2"),
        message(2, None, 199, scope="ws-1"),
        message(3, None, 202, scope="ws-2"),
    ]

    assert codes_of(records, **GENERATIONS) == [("INTERLEAVE", "199")]


def test_c21_one_id_far_below_the_high_water_mark_is_out_of_order_until_more_follow() -> None:
    records = told(("7", 200), ("7", 150), ("7", 201))

    assert codes_of(records, **GENERATIONS) == [("INTERLEAVE", "150")]


def test_c33_a_bare_id_far_below_in_an_adopted_epoch_is_out_of_order() -> None:
    records = told(("7", 200), (None, 150), ("7", 201), ("7", 202))

    assert codes_of(records, **GENERATIONS) == [("MIXED_FORMS", "150"), ("INTERLEAVE", "150")]


def test_a_bare_id_of_before_a_restart_that_comes_after_it_is_late_and_no_reset() -> None:
    """Residual 3 of reference/pad.md section 4."""
    records = told(("7", 100), ("8", 1), ("8", 2), (None, 101), ("8", 3), ("8", 4), ("8", 5))

    for density in ("dense", "sparse"):
        found = findings(records, profile="generation", density=density)
        assert [(one["code"], one["id"]) for one in found] == [
            ("EPOCH_CHANGE", "1"),
            ("MIXED_FORMS", "101"),
            ("INTERLEAVE", "101"),
        ]
        assert found[2]["rule"] == "old_numbering"


def test_a_counter_that_climbs_past_its_old_end_in_one_step_is_not_late() -> None:
    records = told(("7", 100), ("8", 1), ("8", 50), ("8", 105), ("8", 109))

    (change,) = findings(records, **GENERATIONS)

    assert change["facts"]["climbed_at"] == 4


def test_a_counter_that_climbs_far_past_its_old_end_is_not_late() -> None:
    (change,) = findings(told(("7", 100), ("8", 1), ("8", 50), ("8", 200)), **GENERATIONS)

    assert change["facts"]["climbed_at"] == 3


def test_a_dense_counter_that_climbs_past_its_old_end_in_one_step_misses_what_it_went_past() -> (
    None
):
    records = told(("7", 100), ("8", 1), ("8", 2), ("8", 105), ("8", 106))

    found = findings(records, profile="generation", density="dense")

    assert [(one["code"], one["id"]) for one in found] == [("EPOCH_CHANGE", "1"), ("GAP", "3")]
    assert found[1]["facts"]["ids"] == "3 to 104"


def test_an_old_id_after_a_reset_without_epochs_is_late() -> None:
    ids = [100, 1, 2, 3, 101, 4, 5, 6]

    found = codes_of(told(*((None, one) for one in ids)))

    assert found == [("RESET_NO_EPOCH", "1"), ("INTERLEAVE", "101")]
