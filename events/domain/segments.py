"""Segments: up to 1,000 messages of one lane in one receipt, and how they are read back.

What a segment says of its epochs lies in the stub, its messages in `data`. Source: design
section 2, contract section 2.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from events.domain import rows
from events.domain.open_segments import LONGEST, Lane, OpenSegment
from events.domain.records import HOLE, Record
from events.domain.rows import Row
from events.domain.times import micros
from ledger.domain import plain

__all__ = [
    "LONGEST",
    "Builder",
    "Lane",
    "Messages",
    "Segment",
    "read_messages",
    "record_of",
    "records_of",
    "row_of",
    "start_of",
]


class Segment(NamedTuple):
    """A finished segment: `raw` is the receipt as JSON in UTF-8, times in microseconds."""

    raw: bytes
    n: int
    rows: int
    begins: int
    ends: int

    @property
    def body(self) -> dict[str, Any]:
        """Give the receipt as an object."""
        return dict(json.loads(self.raw))


@dataclass(slots=True)
class Builder:
    """Gathers the rows of a lane into segments; `n` is the number of the next one."""

    lane: Lane
    n: int = 0
    _open: OpenSegment | None = None

    @property
    def begun_at(self) -> int | None:
        """Give the time of the first row of the segment that is open, or None."""
        return None if self._open is None else self._open.begins

    def add(self, row: Row, masked: tuple[str, ...] = ()) -> Segment | None:
        """Add a row; give the segment before it where the row had to begin another.

        `masked` names the members of its body that were masked.
        """
        if self._open is None or not self._open.takes(row):
            finished = self.close()
            self._open = OpenSegment(row.at)
            self._open.add(row, masked)
            return finished
        self._open.add(row, masked)
        return None

    def close(self) -> Segment | None:
        """Give the segment that is open, and begin none; None where no row was added."""
        if self._open is None:
            return None
        ended, n = self._open, self.n
        self._open, self.n = None, n + 1
        raw = ended.written(self.lane, n)
        return Segment(raw, n, len(ended.texts), ended.begins, ended.ends)


class Messages(NamedTuple):
    """What was read of a segment: its records, and how many rows were faulty."""

    records: list[Record]
    faulty: int


def records_of(stub: Mapping[str, Any], messages: Iterable[object], leaf: int = 0) -> list[Record]:
    """Turn the rows of a segment back into records; faulty rows are left out.

    `stub` is the receipt's body without `data`, `messages` what `data.messages` holds. A record's
    place is the leaf and the row's index among all rows, faulty ones counted.
    """
    return read_messages(stub, messages, leaf).records


def read_messages(stub: Mapping[str, Any], messages: Iterable[object], leaf: int = 0) -> Messages:
    """Read the rows of a segment into records, and count the faulty ones; never raises."""
    start = start_of(stub)
    names = tuple(plain.name_of(stub.get(one)) for one in ("installation", "bus", "replica"))
    found: list[Record] = []
    total = 0
    for index, members in enumerate(messages):
        total += 1
        row = None if start is None else rows.read(members, start)
        if row is not None:
            found.append(record_of(row, names[0], names[1], names[2], (leaf, index)))
    return Messages(found, total - len(found))


def start_of(stub: Mapping[str, Any]) -> int | None:
    """Give the time that a segment's rows count from, or None where it is unreadable."""
    at = plain.time_of(stub.get("from"))
    return None if at is None else micros(at)


def row_of(stub: Mapping[str, Any], members: object) -> Row | None:
    """Read one row of a segment with its body, or None where it is faulty."""
    start = start_of(stub)
    return None if start is None else rows.read(members, start)


def record_of(
    row: Row, installation: str, bus: str, replica: str, place: tuple[int, int] = (0, 0)
) -> Record:
    """Make the record that detectors take from a row of a lane."""
    until = row.at + row.length if row.form == HOLE else 0
    return Record(
        row.at, installation, bus, replica, row.scope, row.form, row.epoch, row.id,
        row.fingerprint, row.publisher, row.source, until, place,
    )  # fmt: skip
