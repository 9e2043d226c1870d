"""What a reader keeps of each row that it has seen, packed: 16 bytes a row, 64 ids a block.

It is enough to tell that a row is another one now, and what may have happened in between.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from jobs.domain.oban_values import text_of, whole_of
from ledger.domain import plain

BLOCK_BITS = 6
BLOCK_SIZE = 1 << BLOCK_BITS
STATES = (
    "", "suspended", "scheduled", "available", "executing", "retryable",
    "completed", "discarded", "cancelled",
)  # fmt: skip
TERMINAL = frozenset({"completed", "discarded", "cancelled"})
_TERMINAL_CODES = frozenset(code for code, state in enumerate(STATES) if state in TERMINAL)
_CODES = {state: code for code, state in enumerate(STATES)}
_ENTRY = struct.Struct(">BqBHHBB")
_STATE_AT = 9
_MOST_SHORT, _MOST_BYTE = 0xFFFF, 0xFF


class Seen(NamedTuple):
    """One row as it was seen: a digest of all its columns, and what tells its next step.

    `state` is empty for one that we do not know; counts stop at what their bytes hold.
    """

    digest: int
    state: str
    attempt: int
    max_attempts: int
    errors: int
    snoozed: int

    @property
    def is_open(self) -> bool:
        """Tell whether the job may still run without anybody's doing."""
        return self.state not in TERMINAL


def seen_of(row: Mapping[str, Any], digest: int) -> Seen:
    """Return what to keep of a row."""
    state = text_of(row.get("state")) or ""
    errors = whole_of(row.get("errors_count"))
    snoozed = whole_of(plain.object_of(row.get("meta")).get("snoozed"))
    return Seen(
        digest,
        state if state in _CODES else "",
        min(whole_of(row.get("attempt")) or 0, _MOST_SHORT),
        min(whole_of(row.get("max_attempts")) or 0, _MOST_SHORT),
        min(len(plain.list_of(row.get("errors"))) if errors is None else errors, _MOST_BYTE),
        min(snoozed or 0, _MOST_BYTE),
    )


def block_of(number: int) -> int:
    """Return the block that an id lies in."""
    return number >> BLOCK_BITS


def first_of(block: int) -> int:
    """Return the least id of a block."""
    return block << BLOCK_BITS


def pack(rows: Mapping[int, Seen]) -> bytes:
    """Return the bytes of the rows of one block, by id."""
    return b"".join(
        _ENTRY.pack(number & (BLOCK_SIZE - 1), one.digest, _CODES[one.state], *one[2:])
        for number, one in sorted(rows.items())
    )


def unpack(block: int, packed: bytes) -> dict[int, Seen]:
    """Return the rows of a block by id."""
    first = first_of(block)
    return {
        first + offset: Seen(digest, STATES[code], *rest)
        for offset, digest, code, *rest in _ENTRY.iter_unpack(packed)
    }


def pick(packed: bytes, numbers: Iterable[int]) -> dict[int, Seen]:
    """Return some rows of a block, those that are in it; the others are not even unpacked."""
    offsets = packed[:: _ENTRY.size]
    places = {number: offsets.find(number & (BLOCK_SIZE - 1)) for number in numbers}
    return {number: _entry(packed, at) for number, at in places.items() if at >= 0}


def pick_open(block: int, packed: bytes) -> dict[int, Seen]:
    """Return the rows of a block that may still run."""
    first, offsets = first_of(block), packed[:: _ENTRY.size]
    states = packed[_STATE_AT :: _ENTRY.size]
    return {
        first + offsets[at]: _entry(packed, at)
        for at, code in enumerate(states)
        if code not in _TERMINAL_CODES
    }


def _entry(packed: bytes, at: int) -> Seen:
    _, digest, code, *rest = _ENTRY.unpack_from(packed, at * _ENTRY.size)
    return Seen(digest, STATES[code], *rest)
