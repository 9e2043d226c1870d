"""Applying a sources file: an act for each source that differs, and one for the whole."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from access.rows import COMMAND_LINE
from config.sources import history
from config.sources.history import Applied
from config.sources.reading import Entry
from kit import clock
from ledger import ingest
from ledger.domain.draft import Envelope
from ledger.domain.leaf import rfc3339

SCHEMA, SYSTEM = "counterfoil.receipt/1", "counterfoil"
CONFIGURE, APPLY = "configure", "apply"


class AppliedMeanwhile(RuntimeError):
    """Somebody else applied a file at the same moment; look at it with `sources diff`."""


def apply(project_id: int, applied: Applied, changed: Sequence[Entry], text: str) -> int:
    """Store the acts and give the number of this one; raises AppliedMeanwhile."""
    number, at = applied.number + 1, clock.now()
    entries = {**applied.entries, **{one.target: one for one in changed}}
    acts = [_configure(project_id, number, one, at) for one in changed]
    acts.append(_apply(project_id, number, entries, changed, text, at))
    raws = [json.dumps(one, ensure_ascii=True, sort_keys=True).encode("ascii") for one in acts]
    outcomes = ingest.ingest(raws, Envelope(project_id=project_id, received_at=at))
    if any(one.is_conflict for one in outcomes):
        raise AppliedMeanwhile(AppliedMeanwhile.__doc__)
    return number


def _configure(project_id: int, number: int, entry: Entry, at: datetime) -> dict[str, Any]:
    return {
        **_act(at, CONFIGURE, entry.target),
        "id": history.act_id(project_id, number, entry.target),
        "settings": entry.settings,
    }


def _apply(
    project_id: int,
    number: int,
    entries: Mapping[str, Entry],
    changed: Sequence[Entry],
    text: str,
    at: datetime,
) -> dict[str, Any]:
    act = _act(at, APPLY, "sources")
    act["act"] |= {
        "number": str(number),
        "changed": [one.target for one in changed],
        "digest": f"sha256:{hashlib.sha256(text.encode()).hexdigest()}",
    }
    listed = {
        target: {"kind": one.kind, "name": one.name, "settings": one.settings}
        for target, one in entries.items()
    }
    return {**act, "id": history.act_id(project_id, number), "sources": listed}


def _act(at: datetime, verb: str, target: str) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "kind": "act",
        "occurred_at": rfc3339(at),
        "source": {"system": SYSTEM, "via": "client"},
        "actor": asdict(COMMAND_LINE),
        "act": {"verb": verb, "target": target},
    }
