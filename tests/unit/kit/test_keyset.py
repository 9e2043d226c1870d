"""Keyset paging: opaque cursors, and walks that see each row once."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import keyset
from kit.keyset import BadCursor, Cursor

AT = datetime(2026, 10, 5, 9, 0, 30, 123456, tzinfo=UTC)
LIST = "receipts:newest"


def token_of(body: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(body).encode()).rstrip(b"=").decode()


GOOD = {"v": 1, "of": LIST, "d": "next", "k": [5]}


def test_a_cursor_reads_back() -> None:
    cursor = Cursor((AT, 7, "ä:1"), "newer")

    token = keyset.encode(cursor, LIST)

    assert keyset.decode(token, LIST, (datetime, int, str)) == cursor
    assert token.isascii()


def test_a_time_in_another_zone_is_the_same_place() -> None:
    local = AT.astimezone(timezone(timedelta(hours=2)))

    assert keyset.encode(Cursor((local,)), LIST) == keyset.encode(Cursor((AT,)), LIST)


BAD = {
    "empty": "",
    "not base64": "%%%",
    "not JSON": "AAAA",
    "padded": token_of(GOOD) + "=",
    "one character too many": token_of(GOOD) + "A",
    "far too long": "A" * 5_000,
    "brackets": base64.urlsafe_b64encode(b"[" * 1_400).decode().rstrip("="),
    "a number of 1,000 digits": base64.urlsafe_b64encode(b"9" * 1_000).decode().rstrip("="),
    "no object": token_of([1]),
    "another version": token_of(GOOD | {"v": 2}),
    "another list": token_of(GOOD | {"of": "jobs"}),
    "another direction": token_of(GOOD | {"d": "sideways"}),
    "no direction": token_of({key: GOOD[key] for key in ("v", "of", "k")}),
    "no values": token_of(GOOD | {"k": 5}),
    "too many values": token_of(GOOD | {"k": [5, 6]}),
    "another type": token_of(GOOD | {"k": ["5"]}),
    "true": token_of(GOOD | {"k": [True]}),
    "more than 64 bits": token_of(GOOD | {"k": [2**63]}),
}


@pytest.mark.parametrize("token", BAD.values(), ids=BAD.keys())
def test_a_cursor_that_is_not_ours_is_refused(token: str) -> None:
    with pytest.raises(BadCursor, match="start again from the first page"):
        keyset.decode(token, LIST, (int,))


BAD_VALUES = {
    "a NUL": (str, "a\x00"),
    "a lone surrogate": (str, "\ud800"),
    "a time without zone": (datetime, ["t", "2026-10-05T09:00:00"]),
    "no time": (datetime, ["t", "soon"]),
    "a time that is no text": (datetime, ["t", None]),
    "a time out of range": (datetime, ["t", "0001-01-01T00:00:00+14:00"]),
    "a bare text for a time": (datetime, "2026-10-05T09:00:00Z"),
}


@pytest.mark.parametrize(("kind", "value"), BAD_VALUES.values(), ids=BAD_VALUES.keys())
def test_a_value_that_no_database_takes_is_refused(kind: type, value: object) -> None:
    with pytest.raises(BadCursor):
        keyset.decode(token_of(GOOD | {"k": [value]}), LIST, (kind,))


@given(st.text(max_size=200))
def test_any_text_is_a_cursor_or_a_bad_one(token: str) -> None:
    with pytest.raises(BadCursor):
        keyset.decode(token, LIST, (int,))


@given(st.text(), st.integers(-(2**63), 2**63 - 1), st.datetimes(timezones=st.just(UTC)))
def test_every_storable_value_survives(text: str, number: int, at: datetime) -> None:
    text = text.replace("\x00", "").encode("utf-8", "ignore").decode()
    cursor = Cursor((text[:50], number, at))

    assert keyset.decode(keyset.encode(cursor, LIST), LIST, (str, int, datetime)) == cursor


def test_taking_says_whether_there_is_more() -> None:
    assert keyset.take([1, 2, 3], 2) == ((1, 2), True)
    assert keyset.take([1, 2], 2) == ((1, 2), False)
    assert keyset.take([], 2) == ((), False)


Row = tuple[int, str]


def fetch(table: list[Row], at: Cursor | None, limit: int) -> list[Row]:
    """Answer as a database would: newest first, ties broken by the id."""
    ordered = sorted(table, reverse=True)
    if at is None:
        return ordered[: limit + 1]
    if at.direction == "next":
        return [row for row in ordered if row < at.values][: limit + 1]
    return [row for row in reversed(ordered) if row > at.values][: limit + 1]


def page(table: list[Row], token: str | None, limit: int) -> keyset.Page[Row]:
    at = None if token is None else keyset.decode(token, LIST, (int, str))
    return keyset.page(fetch(table, at, limit), limit, at, lambda row: row, LIST)


tables = st.lists(st.tuples(st.integers(0, 5), st.uuids().map(str)), unique=True, max_size=30)


@given(tables, st.integers(1, 12), st.data())
def test_a_walk_sees_each_row_once_while_rows_arrive_at_the_head(
    table: list[Row], limit: int, data: st.DataObject
) -> None:
    live, seen, token = list(table), [], None

    while True:
        found = page(live, token, limit)
        seen += found.items
        live += [(9, key) for key in data.draw(st.lists(st.uuids().map(str), max_size=3))]
        token = found.next
        if token is None:
            break

    assert seen == sorted(table, reverse=True)


@given(tables, st.integers(1, 12))
def test_a_walk_back_sees_the_same_pages(table: list[Row], limit: int) -> None:
    forth = [page(table, None, limit)]
    while forth[-1].next:
        forth.append(page(table, forth[-1].next, limit))

    back = [forth[-1]]
    while back[-1].back and len(back) < len(forth):
        back.append(page(table, back[-1].back, limit))

    assert [one.items for one in reversed(back)] == [one.items for one in forth]
    assert len(forth) == 1 or back[-1].back is None


def test_the_first_page_has_no_way_back() -> None:
    first = page([(1, "a"), (2, "b")], None, 1)

    assert first.items == ((2, "b"),)
    assert first.back is None
    assert first.newer == 0
