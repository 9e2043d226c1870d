"""Large ids are read both ways, and the reading that is nearer to their arrival is kept."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.domain import incarnations
from events.domain.incarnations import BASE, NANOSECONDS
from events.domain.times import micros, moment

SEPTEMBER = micros(datetime(2026, 9, 20, 12, tzinfo=UTC))
DAY = 86_400_000_000
TIMES = st.integers(
    micros(datetime(2022, 1, 1, tzinfo=UTC)), micros(datetime(2100, 1, 1, tzinfo=UTC))
)
# From 2022 on an id of either kind is above 2^59.


def base_id(at: int, counter: int = 1) -> int:
    return (at // 1_000 << 20) + counter


@given(TIMES, st.integers(1, 2**20 - 1), st.integers(0, 399 * DAY))
def test_an_id_with_a_base_tells_the_start_of_its_process_and_its_place(
    started: int, counter: int, age: int
) -> None:
    found = incarnations.read(base_id(started, counter), started + age)

    assert found is not None
    assert (found.kind, found.at, found.counter) == (BASE, started // 1_000 * 1_000, counter)
    assert found.base + counter == base_id(started, counter)


@given(TIMES, st.integers(0, 999))
def test_an_id_in_nanoseconds_tells_its_own_time(at: int, rest: int) -> None:
    found = incarnations.read(at * 1_000 + rest, at)

    assert found is not None
    assert (found.kind, found.at) == (NANOSECONDS, at)


def test_two_ids_of_one_process_have_one_base_and_a_restart_has_another() -> None:
    first, second = (incarnations.read_base(base_id(SEPTEMBER, one)) for one in (1, 900))
    later = incarnations.read_base(base_id(SEPTEMBER + 1_000))

    assert first.base == second.base < later.base


def test_the_wrong_reading_of_an_id_of_september_2026_is_years_away() -> None:
    late = moment(base_id(SEPTEMBER) // 1_000) - moment(SEPTEMBER)
    early = moment(SEPTEMBER) - moment(incarnations.read_base(SEPTEMBER * 1_000).at)

    assert timedelta(days=2.7 * 365) < late < timedelta(days=2.8 * 365)
    assert timedelta(days=2.6 * 365) < early < timedelta(days=2.7 * 365)


@pytest.mark.parametrize(
    ("number", "has_base"),
    [(0, False), (-1, False), (2**59 - 1, False), (2**59, True), (1_876_951_040_000_000_001, True)],
)
def test_an_id_carries_a_time_from_two_to_the_59th_on(number: int, has_base: bool) -> None:
    assert incarnations.has_base(number) is has_base
    assert has_base or incarnations.read(number, SEPTEMBER) is None


@pytest.mark.parametrize("days", [-401, 401])
def test_an_id_without_a_time_near_its_arrival_is_junk(days: int) -> None:
    assert incarnations.read(base_id(SEPTEMBER + days * DAY), SEPTEMBER) is None


@pytest.mark.parametrize("days", [-399, 399])
def test_an_id_within_400_days_of_its_arrival_is_none(days: int) -> None:
    assert incarnations.read(base_id(SEPTEMBER + days * DAY), SEPTEMBER) is not None


def test_the_last_id_of_a_bus_in_one_process_is_read() -> None:
    end = datetime(2248, 9, 26, 15, 10, 22, 207_000, tzinfo=UTC)

    found = incarnations.read(2**63 - 1, micros(end))

    assert found is not None
    assert (found.kind, found.at, found.counter) == (BASE, micros(end), 2**20 - 1)
