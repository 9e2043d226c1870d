"""One row of a segment: a message as it is stored, in memory and as JSON.

The order of its members is that of the agreed receipt: microseconds after the segment's "from",
form, epoch, id, scope, fingerprint, length, body, encoding, note, publisher, source. Trailing
empty members are left out. Source: design section 2, segments.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from functools import lru_cache
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import NamedTuple

from events.domain.records import BARE, FRAME, HOLE, JUNK, LIVE, PREFIXED
from ledger.domain import plain

BASE64 = "b64"
FORMS = frozenset({BARE, PREFIXED, FRAME, JUNK, HOLE})
_INTEGER = re.compile(r"-?[0-9]{1,19}")
_ID = re.compile(r"-?[0-9]{1,80}")


class Row(NamedTuple):
    """A message, a liveness frame, junk or a hole as a segment keeps it.

    `at` is in microseconds since 1970 by the observer's clock. `length` is that of the raw message
    in bytes, and the duration of a hole in microseconds. `body` is None where none is kept; with
    the encoding `b64` it is base64 of bytes that are not UTF-8. `note` says why a message is junk,
    why a hole is one, or `cut` for a body of which the beginning is kept.
    """

    at: int
    form: str
    epoch: str | None
    id: int | None
    scope: str
    fingerprint: str
    length: int
    body: str | None = None
    encoding: str = ""
    note: str = ""
    publisher: str = ""
    source: str = LIVE

    @property
    def kept(self) -> bytes | None:
        """Give the bytes of the body that is kept, None where none is."""
        if self.body is None:
            return None
        if self.encoding != BASE64:
            return self.body.encode("utf-8", "surrogatepass")
        try:
            return base64.b64decode(self.body, validate=True)
        except ValueError:
            return None


def hole(at: int, until: int, why: str) -> Row:
    """Make the row of a time in which we did not watch: `reconnect`, `buffer_full`, `start` …"""
    return Row(at, HOLE, None, None, "", "", max(until - at, 0), note=why)


def json_of(row: Row, start: int) -> str:
    """Write a row as JSON, its time counted from `start` in microseconds since 1970."""
    head = (
        f'[{row.at - start},"{row.form}",{_text(row.epoch)},'
        f"{_id_text(row.id)},{_text(row.scope)}"
        f',"{row.fingerprint}",{row.length}'
    )
    if row.publisher or row.source != LIVE:
        source = "" if row.source == LIVE else f",{_text(row.source)}"
        rest = f"{_text(row.encoding)},{_text(row.note)},{_text(row.publisher)}{source}"
        return f"{head},{_body(row.body)},{rest}]"
    if row.note:
        return f"{head},{_body(row.body)},{_text(row.encoding)},{_text(row.note)}]"
    if row.encoding:
        return f"{head},{_body(row.body)},{_text(row.encoding)}]"
    return f"{head}]" if row.body is None else f"{head},{_body(row.body)}]"


def _id_text(number: int | None) -> str:
    return "null" if number is None else f'"{number}"'


def _body(body: str | None) -> str:
    return "null" if body is None else encode_basestring(body)


@lru_cache(4096)
def _text(text: str | None) -> str:
    # A channel's name may hold lone surrogates, which only ASCII escapes bring over.
    return "null" if text is None else encode_basestring_ascii(text)


def read(members: object, start: int) -> Row | None:
    """Read a row back, as the ledger's parser or any other gives it; None for a faulty one."""
    if not isinstance(members, list | tuple) or not 7 <= len(members) <= 12:
        return None
    texts = (members[1], members[4], members[5], *members[8:])
    if not all(isinstance(one, str) for one in texts) or members[1] not in FORMS:
        return None
    return _read_checked(members, start)


def _read_checked(members: Sequence[object], start: int) -> Row | None:
    offset, length = integer_of(members[0]), integer_of(members[6])
    epoch, number = members[2], members[3]
    body = members[7] if len(members) > 7 else None
    if (
        offset is None
        or length is None
        or length < 0
        or not _may_be_text(epoch)
        or not _may_be_text(body)
    ):
        return None
    if number is not None and not (isinstance(number, str) and _ID.fullmatch(number)):
        return None
    rest = [str(one) for one in members[8:]]
    given = None if number is None else int(number)
    texts = [str(members[at]) for at in (1, 4, 5)]
    return Row(
        start + offset, texts[0], _or_none(epoch), given, texts[1], texts[2], length,
        _or_none(body), *rest,
    )  # fmt: skip


def integer_of(value: object) -> int | None:
    """Read a JSON number that is an int64, or None."""
    token = plain.number_token(value)
    return int(token) if token is not None and _INTEGER.fullmatch(token) else None


def _may_be_text(value: object) -> bool:
    return value is None or isinstance(value, str)


def _or_none(value: object) -> str | None:
    return value if isinstance(value, str) else None
