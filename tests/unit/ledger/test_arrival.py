"""The feed line of a request (contract section 3)."""

from __future__ import annotations

import pytest

from ledger.domain import arrival
from ledger.domain.arrival import Feed


@pytest.mark.parametrize(
    ("header", "feed"),
    [
        (None, None),
        ("", None),
        ("  ", None),
        ("payouts.w7.812; first=1", Feed("payouts.w7.812", 1)),
        ("a;first=42", Feed("a", 42)),
        (" a ; FIRST = 42 ; later=x", Feed("a", 42)),
        ("a; first=9223372036854775807", Feed("a", 2**63 - 1)),
        ("x" * 200 + "; first=1", Feed("x" * 200, 1)),
    ],
)
def test_a_feed_header_is_read(header: str | None, feed: Feed | None) -> None:
    assert arrival.read_feed(header) == feed


@pytest.mark.parametrize(
    "header",
    [
        "a",
        "; first=1",
        "a b; first=1",
        "é; first=1",
        "x" * 201 + "; first=1",
        "a; first=",
        "a; first=0",
        "a; first=01",
        "a; first=-1",
        "a; first=1.0",
        "a; first=\u0661",
        "a; first=9223372036854775808",
        "a; first=1; first=1",
        "a; last=1",
    ],
)
def test_a_header_that_is_no_feed_is_refused(header: str) -> None:
    with pytest.raises(arrival.FeedFault):
        arrival.read_feed(header)


def test_the_lines_of_a_request_are_numbered_on_from_the_first() -> None:
    feed = Feed("a:b", 41)

    assert [feed.number_of(line) for line in range(3)] == [41, 42, 43]
    assert feed.id_of(1) == "feed:a:b:42"


def test_the_id_of_a_line_is_no_longer_than_an_id_may_be() -> None:
    assert len(Feed("x" * arrival.MAX_SPOOL, arrival.MAX_NUMBER).id_of(0)) <= 255
