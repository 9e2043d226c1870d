from __future__ import annotations

import pytest

from counterfoil import backoff
from counterfoil.forwarder import Outcome
from counterfoil.sender import BUSY_S, IDLE_S, wait_after


def test_the_wait_is_drawn_from_a_range_that_doubles_up_to_a_minute():
    bounds: list[float] = []
    waits = backoff.Backoff(lambda low, high: bounds.append(high) or high)

    for _ in range(9):
        waits.failed()

    assert bounds == [0.5, 1, 2, 4, 8, 16, 32, 60, 60]


def test_the_wait_may_be_anything_from_nothing_to_the_bound():
    waits = backoff.Backoff()
    for _ in range(3):
        waits.failed()

    drawn = {round(waits.failed(), 6) for _ in range(50)}

    assert len(drawn) > 30 and min(drawn) < 30


def test_a_success_begins_anew():
    waits = backoff.Backoff(lambda low, high: high)
    waits.failed(), waits.failed()

    waits.succeeded()

    assert waits.failed() == 0.5


def test_retry_after_is_never_undercut():
    waits = backoff.Backoff(lambda low, high: low)

    assert waits.failed(17.0) == 17.0


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (None, None),
        ("", None),
        ("7", 7.0),
        ("999999", 3600.0),
        ("soon", None),
        ("Thu, 01 Jan 1970 00:01:40 GMT", 90.0),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
        ("-5", None),
    ],
)
def test_retry_after_is_read_as_seconds_or_as_a_date(text, seconds):
    assert backoff.retry_after_seconds(text, now=10.0) == seconds


@pytest.mark.parametrize(
    ("outcome", "wait"),
    [
        (Outcome(), IDLE_S),
        (Outcome(is_busy=True), BUSY_S),
        (Outcome(problem="down", retry_after_s=9.0), 9.0),
    ],
)
def test_the_sender_waits_as_its_pass_went(outcome, wait):
    assert wait_after(outcome, backoff.Backoff(lambda low, high: low)) == wait
