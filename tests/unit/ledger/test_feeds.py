"""What is folded of a spool, and what it comes to: a table of cases, and properties."""

from __future__ import annotations

import itertools
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.domain import arrivals, feed_lines, feed_states, feeds
from ledger.domain.arrivals import Arrived, Run
from ledger.domain.feed_lines import Line
from ledger.domain.feeds import Hole, Spool

NINE = datetime(2026, 10, 5, 9, tzinfo=UTC)
NAME = "w7:payouts-d-0123456789:4711:1759654800"


def at(minutes: float) -> datetime:
    return NINE + timedelta(minutes=minutes)


def came(*ranges: tuple[int, int], minute: float = 0, replayed: int = 0) -> Arrived:
    runs = tuple(Run(first, last, at(minute)) for first, last in ranges)
    return Arrived(NAME, runs, at(minute), replayed, 3)


def line(minute: float, written: int | None, unsent: int | None = 0, **more: Any) -> Line:
    given_line = Line(NAME, at(minute), at(minute), written, unsent)
    return replace(given_line, **more)


def spool_of(*events: Arrived | Line) -> Spool:
    spool = feeds.begin(NAME, NINE)
    for event in events:
        take = feeds.arrive if isinstance(event, Arrived) else feeds.feed
        spool = take(spool, event)  # type: ignore[arg-type]
    return spool


def state_of(spool: Spool, minute: float) -> tuple[str, str, datetime | None]:
    found = feed_states.standing(spool, at(minute))
    return found.state, found.rule, found.since


CLOSED: dict[str, Any] = {"is_closed": True, "end": "in_order"}
Case = tuple[list[Arrived | Line], float, tuple[str, str, datetime | None]]
CASES: dict[str, Case] = {
    "all that was written came": (
        [came((1, 9)), line(1, 9)], 2, ("complete", "all_written_came", at(1)),
    ),
    "an idle spool that reports is complete": (
        [line(0, 0), line(1, 0)], 2, ("complete", "all_written_came", at(1)),
    ),
    "one that never reported is not known": (
        [came((1, 9))], 2, ("unknown", "no_line_yet", at(0)),
    ),
    "silent after five minutes": (
        [came((1, 9)), line(1, 9)], 6.1, ("silent", "no_word_for_five_minutes", at(1)),
    ),
    "not silent at five minutes": (
        [came((1, 9)), line(1, 9)], 6, ("complete", "all_written_came", at(1)),
    ),
    "closed in order is never silent": (
        [came((1, 9)), line(1, 9, **CLOSED)], 900, ("closed", "closed_in_order", at(1)),
    ),
    "closed because its writer died": (
        [came((1, 9)), line(1, 9, is_closed=True, end="writer_gone")],
        900, ("closed", "writer_gone", at(1)),
    ),
    "a hole that is young is late": (
        [came((1, 6), (8, 9)), line(1, 9)], 4.9, ("late", "later_number_just_came", at(0)),
    ),
    "a hole that is old is a gap": (
        [came((1, 6), (8, 9)), line(4, 9)], 5, ("gap", "missing_after_a_later_number", at(0)),
    ),
    "a gap stays when the spool closes": (
        [came((1, 6), (8, 9)), line(1, 9, **CLOSED)],
        900, ("gap", "missing_after_a_later_number", at(0)),
    ),
    "a gap closes when the number comes": (
        [came((1, 6), (8, 9)), line(1, 9), came((7, 7), minute=8), line(9, 9)],
        10, ("complete", "all_written_came", at(9)),
    ),
    "a tail that was sent and never came": (
        [came((1, 400)), line(1, 412), line(6, 412)], 7, ("gap", "said_to_be_sent", at(1)),
    ),
    "a tail that was sent two minutes before": (
        [came((1, 400)), line(1, 412)], 3, ("late", "just_said_to_be_sent", at(1)),
    ),
    "what is told once a minute is not late before two": (
        [came((1, 400)), line(1, 400), line(2, 412)],
        3.9, ("complete", "all_written_came", at(1)),
    ),
    "a tail of a spool that closed": (
        [came((1, 400)), line(1, 412, 12, **CLOSED)], 7, ("gap", "said_to_be_sent", at(1)),
    ),
    "a tail that still waits is late, not lost": (
        [came((1, 400)), line(1, 412, 12, oldest=timedelta(minutes=1)),
         line(6, 412, 12, oldest=timedelta(minutes=6))],
        7, ("late", "lines_wait", at(0)),
    ),
    "lines that wait for a moment are nothing to tell": (
        [came((1, 400)), line(1, 400), line(2, 412, 12, oldest=timedelta(seconds=9))],
        2, ("complete", "all_written_came", at(1)),
    ),
    "dropped lines": (
        [came((1, 400)), line(1, 400, dropped=3)],
        2, ("dropped", "given_up_by_the_producer", at(1)),
    ),
    "a tail where it does not say what waits": (
        [came((1, 400)), line(1, 412, None), line(6, 412, None)],
        7, ("gap", "said_to_be_sent", at(1)),
    ),
    "a line about a stream that others carry": (
        [line(1, 412, None)], 4, ("unknown", "carried_by_others", NINE),
    ),
    "a line about a stream that others carry, gone silent": (
        [line(1, 412, None)], 9, ("silent", "no_word_for_five_minutes", at(1)),
    ),
    "silent and with a gap is silent first": (
        [came((1, 6), (8, 9)), line(1, 9)], 60, ("silent", "no_word_for_five_minutes", at(1)),
    ),
    "what is written and not compared yet": (
        [line(1, 5, 5)], 2, ("unknown", "nothing_compared_yet", NINE),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_spool_stands_as_the_case_says(case: str) -> None:
    events, minute, expected = CASES[case]

    assert state_of(spool_of(*events), minute) == expected


def test_every_rule_that_can_speak_has_its_words() -> None:
    spoken = {rule for _, _, (_, rule, _) in CASES.values()}

    # Those of disputes have a table of their own.
    others = {
        "spoken_for_by_another_token",
        "came_as_conflicts",
        "closed_by_a_person",
        "ten_intervals_missed",
        "no_numbers",
    }
    assert spoken | others == set(feed_states.RULES)


def test_a_hole_keeps_the_time_of_the_first_later_number_when_a_part_of_it_comes() -> None:
    spool = spool_of(came((1, 1), (8, 9), minute=1), came((3, 4), minute=3))

    assert spool.holes == (Hole(2, 2, at(1)), Hole(5, 7, at(1)))
    assert (spool.low, spool.high, spool.arrived) == (1, 9, 5)


def test_a_hole_is_as_old_as_the_earliest_of_all_later_numbers() -> None:
    runs = (Run(1, 6, at(0)), Run(8, 8, at(4)), Run(10, 10, at(2)))

    spool = feeds.arrive(feeds.begin(NAME, NINE), Arrived(NAME, runs, at(4), 0, None))

    assert spool.holes == (Hole(7, 7, at(2)), Hole(9, 9, at(2)))


def test_complete_until_waits_at_the_last_report_before_a_hole() -> None:
    spool = spool_of(
        came((1, 6)), line(1, 6), came((8, 9), minute=1.5), line(2, 9), line(3, 9), line(4, 9)
    )

    assert spool.complete_until == at(1)
    assert feeds.arrive(spool, came((7, 7), minute=5)).complete_until == at(4)


def test_complete_until_is_the_earlier_of_both_clocks() -> None:
    ahead = spool_of(came((1, 1)), line(2, 1, said_at=at(60)))
    behind = spool_of(came((1, 1)), line(2, 1, said_at=at(-60)))

    assert (ahead.complete_until, ahead.skew) == (at(2), timedelta(minutes=-58))
    assert (behind.complete_until, behind.skew) == (at(-60), timedelta(minutes=62))


def test_a_report_that_came_before_its_numbers_is_told_when_they_come() -> None:
    spool = spool_of(line(1, 9))

    assert spool.complete_until is None
    assert feeds.arrive(spool, came((1, 9), minute=2)).complete_until == at(1)


def test_before_anything_is_compared_a_spool_is_complete_until_it_began() -> None:
    new = replace(came((1, 3), minute=9), began=at(8))

    spool = spool_of(new)

    assert spool.complete_until == at(8)
    assert spool_of(line(9, 5, began=at(8)), new, line(10, 3)).complete_until == at(10)
    assert spool_of(came((1, 3)), line(1, 3), replace(new, began=at(0))).complete_until == at(1)
    assert spool_of(line(9, 5, began=at(99))).complete_until == at(9)


def test_a_spool_that_speaks_after_its_end_is_open_again() -> None:
    spool = spool_of(came((1, 9)), line(1, 9, is_closed=True))

    assert spool.is_settled
    assert feeds.feed(spool, line(2, 9)).closed_at is None
    assert feeds.arrive(spool, came((10, 10), minute=2)).closed_at is None
    assert feeds.arrive(spool, came((3, 4), minute=2, replayed=2)).is_settled


@pytest.mark.parametrize(
    ("events", "settled"),
    [
        ([came((1, 9)), line(1, 9, is_closed=True)], True),
        ([came((1, 9)), line(1, 9)], False),
        ([came((1, 8)), line(1, 9, is_closed=True)], False),
        ([came((1, 7), (9, 9)), line(1, 9, is_closed=True)], False),
        ([came((1, 9)), line(1, 9, dropped=1, is_closed=True)], False),
        ([line(1, 0, is_closed=True)], True),
        ([came((1, 9)), line(1, 9, outcomes_lost=1, is_closed=True)], False),
    ],
)
def test_only_a_whole_and_closed_spool_is_settled(
    events: list[Arrived | Line], settled: bool
) -> None:
    assert spool_of(*events).is_settled is settled


def test_a_waiver_takes_missing_numbers_and_nothing_else() -> None:
    spool = spool_of(came((1, 6), (8, 9)), line(1, 9))

    waived = feeds.waive(spool, at(9), 7, 7)

    assert (waived.holes, waived.waived, waived.arrived) == ((), 1, 8)
    assert feeds.waive(spool, at(9), 1, 6) == spool
    assert feeds.waive(waived, at(10), 7, 7) == waived


def test_a_waived_tail_is_over() -> None:
    spool = feeds.waive(spool_of(came((1, 400)), line(1, 412)), at(9), 401, 412)

    assert (spool.tail, spool.waived, spool.arrived) == (None, 12, 400)
    assert state_of(spool, 5) == ("complete", "all_written_came", at(1))


def test_a_spool_that_is_given_up_ends_with_all_that_is_missing_waived() -> None:
    spool = spool_of(came((1, 6), (8, 9)), line(1, 12, 3, dropped=1))

    over = feeds.waive(spool, at(9))

    assert (over.holes, over.lost, over.arrived, over.waived) == ((), 0, 8, 4)
    assert (state_of(over, 99), over.is_settled) == (
        ("closed", "closed_by_a_person", at(9)), True,
    )  # fmt: skip
    assert not feeds.feed(over, line(10, 12)).is_settled


def test_outcomes_that_wait_to_be_tallied_bound_what_is_complete() -> None:
    waits = spool_of(came((1, 9)), line(9, 9, outcomes_oldest=timedelta(minutes=2)))
    unsaid = spool_of(came((1, 9)), line(9, 9, outcomes_oldest=feed_lines.LONGEST))

    assert waits.complete_until == at(7)
    assert unsaid.complete_until == at(9) - feed_lines.LONGEST


def test_lost_outcomes_are_told_as_lost_until_somebody_waives_them() -> None:
    spool = spool_of(came((1, 5), (7, 9)), line(1, 9, dropped=1, outcomes_lost=4))

    one = feeds.waive(spool, at(2), 6, 6)
    over = feeds.waive(one, at(3))

    assert (spool.lost, one.lost, over.lost) == (5, 4, 0)
    assert state_of(one, 2) == ("dropped", "given_up_by_the_producer", at(1))
    assert feeds.feed(over, line(4, 9, dropped=1, outcomes_lost=4)).lost == 0
    assert feeds.feed(over, line(4, 9, dropped=1, outcomes_lost=5)).lost == 1


def test_nothing_is_complete_from_where_outcomes_were_lost_until_that_is_waived() -> None:
    spool = spool_of(came((1, 9)), line(1, 9), line(2, 9, outcomes_lost=4), line(3, 9))

    waived = feeds.feed(feeds.waive(spool, at(4)), line(5, 9, outcomes_lost=4))

    assert (spool.complete_until, waived.complete_until) == (at(1), at(5))


def test_a_long_hole_keeps_few_marks_and_stays_on_the_safe_side() -> None:
    spool = spool_of(came((1, 1), (3, 3)))
    for minute in range(1, 500):
        spool = feeds.feed(spool, line(minute, 3 + minute))

    assert len(spool.marks) <= feeds.MOST_MARKS
    whole = feeds.arrive(spool, came((2, 2), (4, 400), minute=500))
    assert whole.complete_until is not None
    assert at(0) < whole.complete_until <= at(397)


@pytest.mark.parametrize(
    ("spool", "producer"),
    [
        (NAME, "w7:payouts"),
        ("w7:payouts-w-0123456789:4711:1759654800", "w7:payouts"),
        ("w7:payouts:4711:1759654800", "w7:payouts"),
        ("w7:a:b:4711:1759654800", "w7:a:b"),
        ("oban_sync/prod-1/7", "oban_sync/prod-1/7"),
        ("w7", "w7"),
        (":", ":"),
    ],
)
def test_a_spools_producer_is_its_host_and_program(spool: str, producer: str) -> None:
    assert feed_lines.producer_of(spool) == producer


@pytest.mark.parametrize(
    ("value", "number"),
    [("7", 7), (7, 7), (0, 0), ("-1", None), ("1.5", None), (True, None), (None, None),
     ("9" * 19, None), (2**63 - 1, 2**63 - 1), ("٣", None), ([], None)],
)  # fmt: skip
def test_numbers_are_read_or_left_out(value: object, number: int | None) -> None:
    assert feed_lines.number_of(value) == number


def test_silence_of_a_token_is_ten_of_its_usual_intervals() -> None:
    heard = [at(5 * n) for n in range(20)]

    assert feed_states.silence(heard, at(95 + 50)) is None
    assert feed_states.silence(heard, at(95 + 50.1)) == (timedelta(minutes=5), at(95))
    assert feed_states.silence(heard[:9], at(9_000)) is None


numbers = st.sets(st.integers(1, 40))


@given(numbers, st.data())
def test_holes_are_what_is_missing_below_the_greatest_however_it_came(
    given_numbers: set[int], data: st.DataObject
) -> None:
    left = list(data.draw(st.permutations(sorted(given_numbers))))
    spool, minute = feeds.begin(NAME, NINE), 0
    while left:
        size = data.draw(st.integers(1, len(left)))
        runs = arrivals.merge(Run(n, n, at(minute)) for n in left[:size])
        spool = feeds.arrive(spool, Arrived(NAME, tuple(runs), at(minute), 0, None))
        left, minute = left[size:], minute + 1

    high = max(given_numbers, default=0)
    missing = set(range(1, high + 1)) - given_numbers
    told = [n for hole in spool.holes for n in range(hole.first, hole.last + 1)]
    assert (spool.high, told) == (high, sorted(missing))
    assert spool.arrived == len(given_numbers)
    assert list(spool.holes) == sorted(spool.holes)


@given(st.lists(st.tuples(st.integers(1, 30), st.integers(0, 5)), max_size=12))
def test_merged_runs_are_sorted_apart_and_hold_the_same_numbers(
    pairs: list[tuple[int, int]],
) -> None:
    runs = [Run(first, first + more, at(n)) for n, (first, more) in enumerate(pairs)]

    merged = arrivals.merge(runs)

    assert {n for run in runs for n in range(run.first, run.last + 1)} == {
        n for run in merged for n in range(run.first, run.last + 1)
    }
    assert all(a.last + 1 < b.first for a, b in itertools.pairwise(merged))


@given(numbers, st.lists(st.integers(0, 40), max_size=6))
def test_nothing_is_complete_beyond_a_report_whose_numbers_are_not_all_here(
    given_numbers: set[int], reports: list[int]
) -> None:
    spool = feeds.begin(NAME, NINE)
    runs = arrivals.merge(Run(n, n, NINE) for n in given_numbers)
    if runs:
        spool = feeds.arrive(spool, Arrived(NAME, tuple(runs), NINE, 0, None))
    for minute, written in enumerate(reports, 1):
        spool = feeds.feed(spool, line(minute, written))

    whole = [
        at(minute)
        for minute, written in enumerate(reports, 1)
        if set(range(1, written + 1)) <= given_numbers
    ]
    assert spool.complete_until == max(whole, default=None)
