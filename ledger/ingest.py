"""Bytes in, drafts out: the one door for the HTTP route, integrations and our own acts.

Nothing here refuses what could be read from the socket; what a draft's bytes say decides its
state, never whether it is kept.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from kit import clock, ids
from ledger import keys, store
from ledger.domain import draft as drafts
from ledger.domain.draft import Draft, Envelope
from ledger.domain.reading import MAX_BODY
from ledger.models import Pending
from ledger.store import Outcome


def prepare(raw: bytes, envelope: Envelope, receipt: uuid.UUID | None = None) -> Draft:
    """Read one body and key what it says, without storing it; `receipt` is its id when drawn."""
    key = keys.project_key(envelope.project_id)
    return drafts.draft(raw, envelope, key, receipt or ids.uuid7(envelope.received_at))


def prepare_oversize(
    raw: bytes, envelope: Envelope, receipt: uuid.UUID | None = None, *, truncated: bool = False
) -> Draft:
    """Prepare what is kept of a body over the limit, of which `raw` is all or what was read."""
    key = keys.project_key(envelope.project_id)
    digest = hashlib.sha256(raw).digest()
    receipt = receipt or ids.uuid7(envelope.received_at)
    return drafts.oversize(raw, digest, len(raw), truncated, envelope, key, receipt)


def ingest(raws: Iterable[bytes], envelope: Envelope) -> list[Outcome]:
    """Store bodies from inside the house: integrations, the follower, commands.

    The cap of the HTTP route holds here too.
    """
    prepared = [prepare(raw, envelope) for raw in raws]
    for one in prepared:
        if one.length > MAX_BODY:
            raise ValueError(f"A receipt of {one.length:,} bytes is over {MAX_BODY:,}.")
    return store.append(prepared)


def record(project_id: int, body: Mapping[str, Any], at: datetime | None = None) -> Outcome:
    """Store a receipt of our own making, such as an act."""
    raw = json.dumps(body, ensure_ascii=True, sort_keys=True).encode("ascii")
    (outcome,) = ingest([raw], Envelope(project_id=project_id, received_at=at or clock.now()))
    return outcome


def has_pending(project_id: int) -> bool:
    """Say whether any receipt of a project has no leaf yet."""
    return Pending.objects.filter(project_id=project_id).exists()
