"""Messages of a subscription, cut from the bytes of a connection as they come.

The way of the ordinary message is written out, since all of it is done for each of some 30,000 a
second: the general reader takes four times as long.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from events.integrations import redis_replies
from events.integrations.redis_replies import Fault, Unfinished

LONGEST = 4 * 1024 * 1024
"""Of a longer message only the beginning is ever in memory."""

BEGINNING = 64 * 1024
Message = tuple[bytes, bytes, int]
"""A channel, what was published on it or its beginning, and the length of the whole."""

_END = b"\r\n"


class _Long(NamedTuple):
    """A long message that is still coming: what is kept of it, and how many bytes are to come."""

    channel: bytes
    kept: bytes
    length: int
    to_come: int


class Pushes:
    """Cuts the bytes of one connection; `faults` are errors that came between messages."""

    def __init__(self, channels: Iterable[str] = (), patterns: Iterable[str] = ()) -> None:
        heads = [b"*3\r\n$7\r\nmessage\r\n$"] if tuple(channels) else []
        self._heads = (*heads, *map(_head, patterns))
        self._left = b""
        self._long: _Long | None = None
        self.faults: list[str] = []

    def cut(self, chunk: bytes) -> list[Message]:
        """Give the messages that these bytes complete; raises ValueError on another protocol."""
        found: list[Message] = []
        if self._long is not None:
            chunk = self._pass_over(self._long, chunk, found)
        raw = self._left + chunk if self._left else chunk
        at = self._cut(raw, found)
        self._left = raw[at:]
        if len(self._left) > BEGINNING:
            self._long = _find_long(self._left)
            self._left = b"" if self._long else self._left
        return found

    def _cut(self, raw: bytes, found: list[Message]) -> int:
        at = self._cut_ordinary(raw, 0, found)
        while at < len(raw):
            try:
                push, end = redis_replies.read(raw, at)
            except Unfinished:
                break
            self._take(push, found)
            at = self._cut_ordinary(raw, end, found)
        return at

    def _cut_ordinary(self, raw: bytes, at: int, found: list[Message]) -> int:
        for head in self._heads:
            at = _cut_ordinary(raw, at, head, found)
        return at

    def _take(self, push: object, found: list[Message]) -> None:
        if isinstance(push, Fault):
            self.faults.append(push.text)
        elif isinstance(push, list) and push and push[0] in (b"message", b"pmessage"):
            found.append((push[-2], push[-1], len(push[-1])))

    def _pass_over(self, long: _Long, chunk: bytes, found: list[Message]) -> bytes:
        """Go past more of a long message; give the bytes behind its end."""
        kept = long.kept + chunk[: max(0, min(BEGINNING - len(long.kept), long.to_come - 2))]
        to_come = long.to_come - len(chunk)
        self._long = long._replace(kept=kept, to_come=to_come)
        if to_come > 0:
            return b""
        self._long = None
        found.append((long.channel, kept, long.length))
        return chunk[len(chunk) + to_come :]


def _head(pattern: str) -> bytes:
    """Give the bytes that each message of a pattern begins with, up to its channel's length."""
    name = pattern.encode("utf-8", "surrogateescape")
    return b"*4\r\n$8\r\npmessage\r\n$%d\r\n%b\r\n$" % (len(name), name)


def _cut_ordinary(raw: bytes, at: int, head: bytes, found: list[Message]) -> int:
    """Cut messages with one head for as long as one follows the other; give where that ends."""
    size, end, find = len(head), len(raw), raw.find
    while raw.startswith(head, at):
        channel = find(_END, at + size)
        if channel < 0:
            break
        channel_end = channel + 2 + int(raw[at + size : channel])
        body = find(_END, channel_end + 3)
        if body < 0:
            break
        length = int(raw[channel_end + 3 : body])
        body_end = body + 2 + length
        if body_end + 2 > end:
            break
        found.append((raw[channel + 2 : channel_end], raw[body + 2 : body_end], length))
        at = body_end + 2
    return at


def _find_long(raw: bytes) -> _Long | None:
    """Find the long message that bytes begin with, None where it is not long."""
    try:
        parts, at = _count(raw)
        channel = b""
        for _ in range(parts - 1):
            channel, at = redis_replies.read(raw, at)
    except (Unfinished, ValueError):
        return None
    end = raw.find(_END, at)
    if end < 0 or raw[at : at + 1] != b"$" or (length := int(raw[at + 1 : end])) <= LONGEST:
        return None
    kept = raw[end + 2 :][:BEGINNING]
    return _Long(channel, kept, length, length + 2 - (len(raw) - end - 2))


def _count(raw: bytes) -> tuple[int, int]:
    end = raw.find(_END)
    if end < 0 or raw[:1] != b"*":
        raise ValueError("no message begins here")
    return int(raw[1:end]), end + 2
