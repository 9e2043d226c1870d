"""The receipt of an import, and what it says of the time that was watched."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ledger.domain import plain
from ledger.domain.leaf import rfc3339
from ledger.domain.statement import Statement

NAMESPACE = uuid.UUID("0d6a1f1e-35a5-5a1c-8f0f-1f6f4f4a0c11")
SCHEMA = "counterfoil.receipt/1"
WHAT = "import"
OWN_SYSTEM = "counterfoil"


def is_heard_live(statement: Statement) -> bool:
    """Tell whether a receipt shows that its source was watched when it came.

    History that was imported does not, nor do our own acts, nor what could not be read.
    """
    if not statement.is_readable or statement.via == WHAT:
        return False
    return statement.token_id is not None or statement.system != OWN_SYSTEM


def imported_span(statement: Statement) -> tuple[datetime, datetime] | None:
    """Return the time that an import covers; None for any other receipt.

    Only our own command writes such receipts, so a producer's claim of one counts for nothing.
    """
    if statement.kind != "observe" or statement.what != WHAT or statement.token_id is not None:
        return None
    told = plain.object_of(statement.body.get(WHAT))
    first, last = plain.time_of(told.get("first_at")), plain.time_of(told.get("last_at"))
    if first is None or last is None or told.get("covers") == "some":
        return None
    return min(first, last), max(first, last)


def not_watched_before(source: str, first: datetime) -> str:
    """Say that what is not here may be older than all that is watched."""
    whose = f"{source} is" if source else "anything here is"
    return (
        f"Whether its original is from before {first:%Y-%m-%d %H:%M:%S} UTC, the first moment for "
        f"which {whose} watched."
    )


def line_id(source: str, digest: str, ordinal: int, part: int = 0) -> str:
    """Return the id of the receipt of a line, given the line's digest.

    `ordinal` counts the equal lines before it in its file, `part` the receipts that the line
    makes. So a file that has grown, or that was rotated under another name, adds its new lines
    only, and two equal lines of one file are two receipts.
    """
    return str(uuid.uuid5(NAMESPACE, f"{source}\n{digest}\n{ordinal}\n{part}"))


@dataclass(frozen=True, slots=True)
class Told:
    """What one import read: the file and the map by their digests, and what became of its lines."""

    source: tuple[str, str]
    file: str
    file_sha256: str
    length: int
    map_name: str
    map_sha256: str
    covers: str
    lines: int
    taken: int
    left_out: int
    told_live: int
    set_aside: int
    receipts: int
    first_at: datetime | None
    last_at: datetime | None
    faults: tuple[tuple[int, str], ...] = ()


def import_receipt(told: Told) -> dict[str, Any]:
    """Return the receipt of an import that was read to its end.

    Its id follows from the file, its name and the map, and all that it says follows from these
    too, so the same import once more is the same receipt.
    """
    system, instance = told.source
    spans = {"first_at": told.first_at, "last_at": told.last_at}
    covered = {name: rfc3339(at) for name, at in spans.items() if at is not None}
    counted = [told.taken, told.told_live, told.set_aside, told.receipts]
    named = [told.file, told.file_sha256, told.map_sha256, *counted, *covered.values()]
    told_by = "\n".join(str(part) for part in named)
    return {
        "schema": SCHEMA,
        "id": str(uuid.uuid5(NAMESPACE, f"import\n{system}/{instance}\n{told_by}")),
        "kind": "observe",
        "what": WHAT,
        "source": {"system": system, "instance": instance, "via": WHAT},
        WHAT: {
            "file": told.file,
            "sha256": told.file_sha256,
            "bytes": told.length,
            "map": told.map_name,
            "map_sha256": told.map_sha256,
            "covers": told.covers,
            "lines": told.lines,
            "taken": told.taken,
            "left_out": told.left_out,
            "told_live": told.told_live,
            "set_aside": told.set_aside,
            "receipts": told.receipts,
            **covered,
        },
        "data": {"set_aside": [{"line": line, "why": why} for line, why in told.faults]},
    }
