"""Identifiers: UUIDv7, their short names, public ids of derived rows, and texts in a path."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import threading
import time
import uuid
from datetime import datetime
from itertools import accumulate

_CROCKFORD = "0123456789abcdefghjkmnpqrstvwxyz"
_PAIRS = [high + low for high in _CROCKFORD for low in _CROCKFORD]
_TO_PYTHON_DIGITS = str.maketrans(_CROCKFORD, "0123456789abcdefghijklmnopqrstuv")
_REF = re.compile(r"r[0-7][0-9a-hjkmnp-tv-z]{25}")
_PLAIN_SEGMENT = re.compile(r"[A-Za-z0-9_:-]{1,100}")
_CODED_SEGMENT = re.compile(r"~[A-Za-z0-9_-]*")


_REMEMBERED = 256


class _ByClock:
    """The last UUIDv7 that the clock gave, so that the next of its millisecond sorts after it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.ms = -1
        self.tail = 0

    def draw(self, ms: int) -> tuple[int, int]:
        with self.lock:
            (self.tail,) = _next_tails(self.tail if ms <= self.ms else None, 1)
            self.ms = max(self.ms, ms)
            return self.ms, self.tail


class _ByCaller:
    """The last tails of the milliseconds asked for lately.

    Requests are read side by side, each with a time of its own: with one tail for all of them the
    lines of a batch would not sort in their order.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.tails: dict[int, int] = {}

    def draw(self, ms: int, count: int) -> list[int]:
        with self.lock:
            tails = _next_tails(self.tails.get(ms), count)
            if ms not in self.tails and len(self.tails) >= _REMEMBERED:
                del self.tails[next(iter(self.tails))]
            self.tails[ms] = tails[-1]
            return tails


def _next_tails(last: int | None, count: int) -> list[int]:
    rises = [1 + step for step in memoryview(os.urandom(4 * count)).cast("I")]
    # The top bit of the 74 stays 0, so that steps of 32 bits cannot run over.
    start = int.from_bytes(os.urandom(10), "big") >> 7 if last is None else last
    rises[0] += start
    return list(accumulate(rises))


_by_clock = _ByClock()
_by_caller = _ByCaller()


def _start_over() -> None:
    # A child of fork would otherwise go on from its parent's number, and may find the lock taken.
    global _by_clock, _by_caller
    _by_clock, _by_caller = _ByClock(), _ByCaller()


os.register_at_fork(after_in_child=_start_over)


def uuid7(at: datetime | None = None) -> uuid.UUID:
    """Return a new UUIDv7 (RFC 9562 section 5.7) that sorts after those made before it.

    Without `at` the time is the clock's, and a clock that steps back is held at its last
    millisecond. With `at`, an aware datetime since 1970, the id carries exactly that time: ids
    of one millisecond sort in the order of the calls, others by their times. Threads may share it.
    """
    if at is None:
        return _uuid7(*_by_clock.draw(time.time_ns() // 1_000_000))
    return uuid7s(at, 1)[0]


def uuid7s(at: datetime, count: int) -> list[uuid.UUID]:
    """Return UUIDv7s of one time in their order, as many calls of `uuid7` would, but faster."""
    if not count:
        return []
    ms = int(at.timestamp() * 1000)
    return [_uuid7(ms, tail) for tail in _by_caller.draw(ms, count)]


def _uuid7(ms: int, tail: int) -> uuid.UUID:
    head = (ms & 0xFFFF_FFFF_FFFF) << 16 | 0x7000 | tail >> 62
    return uuid.UUID(int=head << 64 | 0b10 << 62 | tail & 0x3FFF_FFFF_FFFF_FFFF)


def ref_of(value: uuid.UUID) -> str:
    """Return the short name of a UUID: "r" and 26 Crockford base32 characters, lower case.

    Short names sort like the UUIDs they spell.
    """
    number = value.int
    return "r" + _CROCKFORD[number >> 125] + _base32(number & (1 << 125) - 1, 25)


def uuid_of(ref: str) -> uuid.UUID | None:
    """Return the UUID that a short name spells; None for all that `ref_of` does not write."""
    if _REF.fullmatch(ref) is None:
        return None
    return uuid.UUID(int=int(ref[1:].translate(_TO_PYTHON_DIGITS), 32))


def public_id(letter: str, *natural_key: str) -> str:
    """Return the id of a derived row: its type's letter and 80 bits of SHA-256 of its natural key.

    The same key gives the same id in every rebuild. Parts are hashed as netstrings, so that
    ("a", "bc") and ("ab", "c") differ.
    """
    digest = hashlib.sha256()
    for part in natural_key:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(b"%d:%b," % (len(data), data))
    return letter + _base32(int.from_bytes(digest.digest()[:10], "big"), 16)


def segment(text: str) -> str:
    """Return a producer's text as one segment of a path.

    Text of 1 to 100 characters `[A-Za-z0-9_:-]` stands as itself, any other as "~" and the
    unpadded base64url of its UTF-8.
    """
    if _PLAIN_SEGMENT.fullmatch(text):
        return text
    data = base64.urlsafe_b64encode(text.encode("utf-8", "surrogatepass"))
    return "~" + data.rstrip(b"=").decode("ascii")


def find_segment(segment: str) -> str | None:
    """Return the text that a segment of a path stands for, or None if `segment` wrote no such."""
    if _PLAIN_SEGMENT.fullmatch(segment):
        return segment
    if _CODED_SEGMENT.fullmatch(segment) is None:
        return None
    return _decode_segment(segment)


def _decode_segment(coded: str) -> str | None:
    data = coded[1:].encode("ascii")
    try:
        text = base64.urlsafe_b64decode(data + b"=" * (-len(data) % 4))
        found = text.decode("utf-8", "surrogatepass")
    except ValueError:
        return None
    return found if segment(found) == coded else None


def _base32(number: int, length: int) -> str:
    pairs = [_PAIRS[number >> shift & 1023] for shift in range(5 * (length & ~1) - 10, -1, -10)]
    if length & 1:
        pairs.insert(0, _CROCKFORD[number >> 5 * (length - 1)])
    return "".join(pairs)
