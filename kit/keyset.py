"""Keyset paging: a page starts after the last row of the one before, never at a number.

Rows that arrive meanwhile neither move nor repeat what a reader walks through. Rows are sorted by
values that end in a unique one; a cursor holds these values of the row it stands at.
Source: reference/style-and-libraries.md section 3.5, reference/jobs.md section 5 line 11.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Generic, Literal, TypeVar

Row = TypeVar("Row")
SortValue = str | int | datetime
Direction = Literal["next", "newer"]

VERSION = 1
MAX_TOKEN = 2_000
"""Characters of a cursor; a longer one is not ours."""

_TOKEN = re.compile(r"[A-Za-z0-9_-]+")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class BadCursor(ValueError):
    """This cursor was not made for this list; start again from the first page."""

    def __init__(self) -> None:
        super().__init__(self.__doc__)


@dataclass(frozen=True)
class Cursor:
    """A place in a sorted list and the way to go from it.

    `next` goes on in the order of the list (to older rows where newest come first), `newer` goes
    back towards its head.
    """

    values: tuple[SortValue, ...]
    direction: Direction = "next"


@dataclass(frozen=True)
class Page(Generic[Row]):
    """Rows in the list's order, with cursors to both sides.

    `newer` counts rows that arrived before the first page's head since the reader saw it; `back`
    is the cursor of the page before this one.
    """

    items: tuple[Row, ...]
    next: str | None = None
    newer: int = 0
    back: str | None = None


def encode(cursor: Cursor, of: str) -> str:
    """Write a cursor as an opaque token for the list named `of` (list, order, whatever counts)."""
    body = {
        "v": VERSION,
        "of": of,
        "d": cursor.direction,
        "k": [_packed(value) for value in cursor.values],
    }
    text = json.dumps(body, separators=(",", ":"), sort_keys=True)
    return base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()


def decode(token: str, of: str, shape: Sequence[type]) -> Cursor:
    """Read a token made by `encode` for the same list.

    `shape` holds the types of the sort values (str, int, datetime). Raises BadCursor for anything
    else, so that no invented value ever reaches the database.
    """
    body = _body(token)
    values = body.get("k")
    if body.get("v") != VERSION or body.get("of") != of or not isinstance(values, list):
        raise BadCursor
    if len(values) != len(shape):
        raise BadCursor
    unpacked = tuple(_unpacked(value, kind) for value, kind in zip(values, shape, strict=True))
    return Cursor(unpacked, _direction(body.get("d")))


def _direction(value: object) -> Direction:
    if value == "next":
        return "next"
    if value == "newer":
        return "newer"
    raise BadCursor


def _body(token: str) -> dict[str, object]:
    if len(token) > MAX_TOKEN or not _TOKEN.fullmatch(token):
        raise BadCursor
    try:
        body = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
    except (ValueError, RecursionError) as error:
        raise BadCursor from error
    if not isinstance(body, dict):
        raise BadCursor
    return body


def _packed(value: SortValue) -> str | int | list[str]:
    if isinstance(value, datetime):
        return ["t", value.astimezone(UTC).isoformat(timespec="microseconds")]
    return value


def _unpacked(value: object, kind: type) -> SortValue:
    if kind is datetime and isinstance(value, list) and len(value) == 2 and value[0] == "t":
        return _time(value[1])
    if kind is int and type(value) is int and -(2**63) <= value < 2**63:
        return value
    if kind is str and isinstance(value, str) and not _UNSTORABLE.search(value):
        return value
    raise BadCursor


def _time(value: object) -> datetime:
    try:
        at = datetime.fromisoformat(str(value))
        if at.tzinfo is None:
            raise BadCursor
        return at.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise BadCursor from error


def take(rows: Sequence[Row], limit: int) -> tuple[tuple[Row, ...], bool]:
    """Cut `limit` rows off a fetch of `limit + 1` and say whether there are more."""
    return tuple(islice(rows, limit)), len(rows) > limit


def page(
    rows: Sequence[Row],
    limit: int,
    at: Cursor | None,
    key: Callable[[Row], tuple[SortValue, ...]],
    of: str,
    newer: int = 0,
) -> Page[Row]:
    """Make a page of the rows fetched from `at`, `limit + 1` of them if there are so many.

    Rows fetched in the direction `newer` come nearest first and are turned round here.
    """
    kept, has_more = take(rows, limit)
    is_back = at is not None and at.direction == "newer"
    items = kept[::-1] if is_back else kept
    has_next = bool(items) and (is_back or has_more)
    has_back = bool(items) and at is not None and (has_more if is_back else True)
    return Page(
        items,
        encode(Cursor(key(items[-1]), "next"), of) if has_next else None,
        newer,
        encode(Cursor(key(items[0]), "newer"), of) if has_back else None,
    )
