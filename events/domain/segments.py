"""Segments: up to 1,000 messages of one lane in one receipt, and how they are read back.

A segment ends with 1,000 rows, 1 second or 768 KiB, whichever comes first. What it says of its
epochs lies in the stub, its messages in `data`. Source: design section 2, contract section 2.
"""

from __future__ import annotations

import json
import uuid
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from events.domain import rows
from events.domain.records import FRAME, HOLE, JUNK, SECOND, Record
from events.domain.rows import Row
from events.domain.times import micros, moment
from ledger.domain import plain
from ledger.domain.leaf import rfc3339
from ledger.domain.names import column

MOST_ROWS = 1_000
LONGEST = SECOND
MOST_BYTES = 768 * 1024
NAMESPACE = uuid.UUID("8f1d6c1e-6c0a-5d0b-9a55-0c1f3f2e7a41")
"""The namespace of segments' ids, fixed with the first segment."""
MOST_MASKED = 32
"""Names of masked members that a segment tells; what further ones hold counts as `OTHERS`."""
OTHERS = "…"
_HEAD = 16 * 1024
_EPOCH = 160


@dataclass(frozen=True, slots=True)
class Lane:
    """Whose messages they are: names as texts, the profile by its second name.

    `incarnation` is a UUID minted when the tail started; segments are numbered within it.
    """

    installation: str
    bus: str
    replica: str
    profile: str
    incarnation: str
    system: str = "redis"


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
    _open: _Open | None = None

    @property
    def begun_at(self) -> int | None:
        """Give the time of the first row of the segment that is open, or None."""
        return None if self._open is None else self._open.begins

    def add(self, row: Row, masked: Iterable[str] = ()) -> Segment | None:
        """Add a row; give the segment before it where the row had to begin another.

        `masked` names the members of its body that were masked.
        """
        if self._open is None or not self._open.takes(row):
            finished = self.close()
            self._open = _Open(row.at)
            self._open.add(row, masked)
            return finished
        self._open.add(row, masked)
        return None

    def close(self) -> Segment | None:
        """Give the segment that is open, and begin none; None where no row was added."""
        if self._open is None:
            return None
        finished = self._open.segment(self.lane, self.n)
        self._open = None
        self.n += 1
        return finished


@dataclass(slots=True)
class _Epoch:
    first: int
    last: int
    least: int
    greatest: int
    count: int = 1


@dataclass(slots=True)
class _Open:
    begins: int
    ends: int = 0
    size: int = _HEAD
    texts: list[str] = field(default_factory=list)
    forms: Counter[str] = field(default_factory=Counter)
    epochs: dict[str | None, _Epoch] = field(default_factory=dict)
    masked: Counter[str] = field(default_factory=Counter)

    def takes(self, row: Row) -> bool:
        if len(self.texts) >= MOST_ROWS or not 0 <= row.at - self.begins < LONGEST:
            return False
        longest = len(row.body or "") * 6
        if self.size + longest < MOST_BYTES:
            return True
        return self.size + len(rows.json_of(row, self.begins).encode()) + _EPOCH < MOST_BYTES

    def add(self, row: Row, masked: Iterable[str]) -> None:
        text = rows.json_of(row, self.begins)
        self.texts.append(text)
        self.size += 1 + (len(text) if text.isascii() else len(text.encode()))
        self.forms[row.form] += 1
        self.ends = max(self.ends, row.at + (row.length if row.form == HOLE else 0))
        for name in masked:
            is_told = name in self.masked or len(self.masked) < MOST_MASKED
            self.masked[column(name) if is_told else OTHERS] += 1
        if row.id is not None:
            self._note(row.epoch, row.id)

    def _note(self, name: str | None, number: int) -> None:
        epoch = self.epochs.get(name)
        if epoch is None:
            self.epochs[name] = _Epoch(number, number, number, number)
            self.size += _EPOCH + 6 * len(name or "")
            return
        epoch.last = number
        epoch.count += 1
        if number < epoch.least:
            epoch.least = number
        elif number > epoch.greatest:
            epoch.greatest = number

    def segment(self, lane: Lane, n: int) -> Segment:
        head = json.dumps(self._stub(lane, n), separators=(",", ":"))
        messages = ",".join(self.texts)
        raw = f'{head[:-1]},"data":{{"messages":[{messages}]}}}}'.encode()
        return Segment(raw, n, len(self.texts), self.begins, self.ends)

    def _stub(self, lane: Lane, n: int) -> dict[str, Any]:
        forms = self.forms
        return {
            "schema": "counterfoil.receipt/1",
            "id": segment_id(lane, n),
            "kind": "observe",
            "what": "segment",
            "occurred_at": rfc3339(moment(self.ends)),
            "source": {"system": lane.system, "instance": lane.installation, "via": "client"},
            "installation": lane.installation,
            "bus": lane.bus,
            "replica": lane.replica,
            "profile": lane.profile,
            "incarnation": lane.incarnation,
            "n": n,
            "from": rfc3339(moment(self.begins)),
            "to": rfc3339(moment(self.ends)),
            "count": len(self.texts) - forms[HOLE],
            "frames": forms[FRAME],
            "junk": forms[JUNK],
            "holes": forms[HOLE],
            "epochs": [_epoch_json(name, one) for name, one in self.epochs.items()],
            **({"masked": dict(sorted(self.masked.items()))} if self.masked else {}),
        }


def _epoch_json(name: str | None, epoch: _Epoch) -> dict[str, Any]:
    ids = {
        "first": str(epoch.first),
        "last": str(epoch.last),
        "least": str(epoch.least),
        "greatest": str(epoch.greatest),
    }
    return {"epoch": name, **ids, "count": epoch.count}


def segment_id(lane: Lane, n: int) -> str:
    """Name a segment: sent twice, it is stored once."""
    parts = (lane.installation, lane.bus, lane.replica, lane.incarnation, str(n))
    return str(uuid.uuid5(NAMESPACE, "\n".join(parts)))


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
