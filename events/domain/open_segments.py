"""A segment that still grows: its rows as JSON, and what it says of them.

It ends with 1,000 rows, 1 second or 768 KiB, whichever comes first. Source: design section 2,
contract section 2.
"""

from __future__ import annotations

import json
import uuid
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from events.domain import rows
from events.domain.records import FRAME, HOLE, JUNK, SECOND
from events.domain.rows import Row
from events.domain.times import moment
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


@dataclass(slots=True)
class _Epoch:
    first: int
    last: int
    least: int
    greatest: int
    count: int = 1


@dataclass(slots=True)
class OpenSegment:
    """The rows so far of the segment that begins at a time, written as JSON already."""

    begins: int
    ends: int = 0
    size: int = _HEAD
    texts: list[str] = field(default_factory=list)
    forms: Counter[str] = field(default_factory=Counter)
    epochs: dict[str | None, _Epoch] = field(default_factory=dict)
    masked: Counter[tuple[str, ...]] = field(default_factory=Counter)

    def takes(self, row: Row) -> bool:
        """Tell whether a row may still belong to it."""
        if len(self.texts) >= MOST_ROWS or not 0 <= row.at - self.begins < LONGEST:
            return False
        longest = len(row.body or "") * 6
        if self.size + longest < MOST_BYTES:
            return True
        return self.size + len(rows.json_of(row, self.begins).encode()) + _EPOCH < MOST_BYTES

    def add(self, row: Row, masked: tuple[str, ...]) -> None:
        """Add a row that it takes, with the names of what was masked in its body."""
        text = rows.json_of(row, self.begins)
        self.texts.append(text)
        self.size += 1 + (len(text) if text.isascii() else len(text.encode()))
        self.forms[row.form] += 1
        self.ends = max(self.ends, row.at + (row.length if row.form == HOLE else 0))
        if masked:
            self.masked[masked] += 1
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

    def written(self, lane: Lane, n: int) -> bytes:
        """Write it as a receipt."""
        head = json.dumps(self._stub(lane, n), separators=(",", ":"))
        messages = ",".join(self.texts)
        return f'{head[:-1]},"data":{{"messages":[{messages}]}}}}'.encode()

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
            **({"masked": self._masked()} if self.masked else {}),
        }

    def _masked(self) -> dict[str, int]:
        counted: Counter[str] = Counter()
        for names, count in self.masked.items():
            for name in names:
                is_told = name in counted or len(counted) < MOST_MASKED
                counted[column(name) if is_told else OTHERS] += count
        return dict(sorted(counted.items()))


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
