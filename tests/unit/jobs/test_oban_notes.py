"""What a reader keeps: packed rows, holes in the ids, and the names of changes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.domain import oban_changes, oban_known, oban_table
from jobs.domain.oban_changes import change_between, has_unseen_steps
from jobs.domain.oban_holes import MOST, Hole, fill, find_gaps, keep_young
from jobs.domain.oban_known import Seen, seen_of

NOON = datetime(2026, 10, 5, 12, tzinfo=UTC)
JUST_NOW = NOON - timedelta(seconds=3)
LONG_AGO = NOON - timedelta(days=2)


def seen(state: str, **other: int) -> Seen:
    given = {"attempt": 1, "max_attempts": 20, "errors": 0, "snoozed": 0, **other}
    return Seen(digest=given.pop("digest", 1), state=state, **given)


@given(
    st.integers(-(2**50), 2**50),
    st.dictionaries(
        st.integers(0, 63),
        st.builds(
            Seen,
            st.integers(-(2**63), 2**63 - 1),
            st.sampled_from(oban_known.STATES),
            st.integers(0, 65_535),
            st.integers(0, 65_535),
            st.integers(0, 255),
            st.integers(0, 255),
        ),
    ),
)
def test_packed_rows_come_out_as_they_went_in(block: int, offsets: dict[int, Seen]) -> None:
    rows = {oban_known.first_of(block) + offset: one for offset, one in offsets.items()}

    assert oban_known.unpack(block, oban_known.pack(rows)) == rows
    assert {oban_known.block_of(number) for number in rows} <= {block}
    assert len(oban_known.pack(rows)) == 16 * len(rows)


@given(st.sets(st.integers(0, 63)), st.sets(st.integers(0, 63)), st.integers(-9, 9))
def test_rows_are_picked_from_a_block_without_the_others(
    there: set[int], wanted: set[int], block: int
) -> None:
    first = oban_known.first_of(block)
    rows = {first + n: seen(oban_known.STATES[n % 9], digest=n) for n in there}
    packed = oban_known.pack(rows)

    found = oban_known.pick(packed, {first + n for n in wanted})

    assert found == {first + n: rows[first + n] for n in there & wanted}
    assert oban_known.pick_open(block, packed) == {n: r for n, r in rows.items() if r.is_open}


def test_what_is_kept_of_a_row_fits_whatever_the_row_says() -> None:
    row = {"state": "paused", "attempt": 10**6, "max_attempts": "x", "errors_count": 700,
           "meta": [1], "errors": None}  # fmt: skip

    assert seen_of(row, 5) == Seen(5, "", 65_535, 0, 255, 0)
    assert seen_of(row, 5).is_open


def test_ids_that_are_left_out_are_a_hole() -> None:
    rows = [(11, JUST_NOW), (12, JUST_NOW), (15, JUST_NOW)]

    assert find_gaps(9, rows, NOON) == [Hole(10, 10, NOON), Hole(13, 14, NOON)]


def test_there_may_be_a_hole_below_the_first_row_of_all() -> None:
    assert find_gaps(None, [(3, JUST_NOW)], NOON) == [Hole(1, 2, NOON)]


def test_below_a_row_of_long_ago_nothing_is_awaited() -> None:
    assert find_gaps(None, [(5, LONG_AGO), (9, LONG_AGO), (12, None)], NOON) == [Hole(10, 11, NOON)]


def test_an_id_that_comes_leaves_the_rest_of_its_hole() -> None:
    hole = Hole(10, 14, NOON)

    assert fill([hole], [12]) == [Hole(10, 11, NOON), Hole(13, 14, NOON)]
    assert fill([hole], [10, 14]) == [Hole(11, 13, NOON)]
    assert fill([Hole(10, 10, NOON)], [10]) == []
    assert fill([hole], [9, 15]) == [hole]


def test_holes_are_young_for_fifteen_minutes_and_bounded() -> None:
    young, old = Hole(1, 1, NOON - timedelta(minutes=14)), Hole(3, 3, NOON - timedelta(minutes=15))
    many = [Hole(2 * n, 2 * n, NOON) for n in range(MOST + 10)]

    assert keep_young([old, young], NOON) == [young]
    assert keep_young(many, NOON) == many[10:]


@pytest.mark.parametrize(
    ("before", "after", "name"),
    [
        (None, seen("available"), "new"),
        (seen("available", attempt=0), seen("executing"), "moved on"),
        (seen("executing"), seen("completed"), "moved on"),
        (seen("executing"), seen("retryable", errors=1), "moved on"),
        (seen("scheduled"), seen("available"), "moved on"),
        (seen("completed"), seen("available"), "retried"),
        (seen("discarded", attempt=20), seen("available", attempt=20, max_attempts=21), "retried"),
        (seen("completed"), seen("completed", attempt=2), "retried"),
        (seen("executing"), seen("scheduled", max_attempts=21), "snoozed"),
        (seen("executing"), seen("scheduled", attempt=0, snoozed=1), "snoozed"),
        (seen("scheduled", snoozed=1), seen("scheduled", snoozed=3), "snoozed"),
        (seen("executing"), seen("available"), "rescued"),
        (seen("executing"), seen("discarded"), "rescued"),
        (seen("executing"), seen("discarded", errors=1), "moved on"),
        (seen("scheduled"), seen("cancelled"), "cancelled"),
        (seen("executing"), seen("cancelled", errors=1), "cancelled"),
        (seen("completed"), seen("completed", digest=2), "rewritten"),
        (seen("available"), seen("available", digest=2), "rewritten"),
    ],
)
def test_the_last_step_between_two_sightings_has_a_name(
    before: Seen | None, after: Seen, name: str
) -> None:
    assert change_between(before, after) == name
    assert name in oban_changes.NAMES


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (None, seen("available", attempt=0), False),
        (None, seen("executing"), False),
        (None, seen("completed"), True),
        (None, seen("retryable", attempt=3), True),
        (seen("available", attempt=0), seen("executing"), False),
        (seen("executing"), seen("completed"), False),
        (seen("available", attempt=0), seen("completed"), True),
        (seen("retryable"), seen("retryable", attempt=3), True),
        (seen("completed"), seen("completed", attempt=2), True),
        (seen("completed"), seen("available"), False),
    ],
)
def test_steps_that_nobody_saw_are_told_from_those_that_follow(
    before: Seen | None, after: Seen, expected: bool
) -> None:
    assert has_unseen_steps(before, after) is expected


@pytest.mark.parametrize("comment", ["9", "11", " 14 "])
def test_known_migrations_need_no_word(comment: str) -> None:
    assert oban_table.warnings_of(comment, oban_table.COLUMNS) == []


@pytest.mark.parametrize("comment", [None, "", "8", "15", "Pro 1.5", "9" * 30, "\0"])
def test_an_unknown_migration_is_one_sentence(comment: str | None) -> None:
    (sentence,) = oban_table.warnings_of(comment, oban_table.COLUMNS)

    assert sentence.endswith("9 to 14 are known; the columns decide what is read.")


@pytest.mark.parametrize("types", [{}, {"id": "bigint"}, dict.fromkeys(oban_table.NEEDED, "uuid")])
def test_a_table_without_a_jobs_columns_is_not_obans(types: dict[str, str]) -> None:
    with pytest.raises(oban_table.NotOban, match="is no table of Oban's"):
        oban_table.check_columns("public.jobs", types)


@pytest.mark.parametrize("name", ["", "a\0b", "é" * 32])
def test_a_name_that_postgresql_cannot_have_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="1 to 63 bytes"):
        oban_table.check_identifier(name)


def test_grants_name_only_what_is_missing_in_quotes() -> None:
    given: dict[str, Any] = {"needs_schema": False, "needs_table": True}

    assert oban_table.grants('s"x', "t", "r", **given) == 'GRANT SELECT ON "s""x"."t" TO "r";'
