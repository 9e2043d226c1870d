"""Answers of a Redis, read from bytes that may end anywhere (protocol version 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

MOST_PARTS = 1_000_000
_END = b"\r\n"


class Unfinished(Exception):
    """The bytes end within an answer."""


@dataclass(frozen=True, slots=True)
class Fault:
    """An answer that is an error."""

    text: str


def read(raw: bytes, at: int) -> tuple[Any, int]:
    """Give the answer that begins at a place, and where it ends.

    Texts are bytes, numbers int, a missing one None, errors a Fault. Raises Unfinished where it
    ends too early, ValueError where this is not the protocol.
    """
    end = raw.find(_END, at)
    if end < 0:
        raise Unfinished
    kind, line, after = raw[at : at + 1], raw[at + 1 : end], end + 2
    if kind == b"$":
        return _bulk(raw, int(line), after)
    if kind == b"*":
        return _parts(raw, int(line), after)
    if kind == b"+":
        return bytes(line), after
    if kind == b":":
        return int(line), after
    if kind == b"-":
        return Fault(line.decode("utf-8", "replace")), after
    raise ValueError("the server speaks another protocol")


def _bulk(raw: bytes, length: int, at: int) -> tuple[bytes | None, int]:
    if length < 0:
        return None, at
    end = at + length
    if len(raw) < end + 2:
        raise Unfinished
    return bytes(raw[at:end]), end + 2


def _parts(raw: bytes, count: int, at: int) -> tuple[list[Any] | None, int]:
    if count < 0:
        return None, at
    if count > MOST_PARTS:
        raise ValueError("the server sends a list without end")
    parts = []
    for _ in range(count):
        part, at = read(raw, at)
        parts.append(part)
    return parts, at
