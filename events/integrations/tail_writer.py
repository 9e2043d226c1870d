"""Receipts of a tail, stored together with how far it has come.

One transaction holds a batch of receipts and the place after it, so that a tail that is killed
knows at its next start until when it had watched.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from events.integrations import tail_place
from events.integrations.tail_place import Place
from kit import clock
from kit.db import write_transaction
from ledger import ingest, store
from ledger.domain.draft import Draft, Envelope
from ledger.domain.leaf import rfc3339

SCHEMA = "counterfoil.receipt/1"
SYSTEM = "redis"
NAMESPACE = uuid.UUID("5b0c9a63-7d53-5a0e-8d5f-7f0d3c2b9e11")
"""The namespace of the ids of what a tail says of itself, fixed with the first one."""


class TailWriter:
    """Stores what a tail found, under numbers without a hole."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.stored = 0

    def store(self, bodies: Sequence[bytes], watched_to: int | None = None, entry: str = "") -> int:
        """Store receipts; `watched_to` is until when they reach. Gives how many were new."""
        drafts = self._prepare(bodies)
        with write_transaction():
            tail_place.lock(self.place)
            numbered = [_numbered(one, n) for n, one in enumerate(drafts, self.place.next_number)]
            outcomes = store.append(numbered)
            self.place.next_number += len(numbered)
            self.place.watched_to = watched_to or self.place.watched_to
            self.place.entry = entry or self.place.entry
            tail_place.save(self.place)
        fresh = sum(one.is_new for one in outcomes)
        self.stored += fresh
        return fresh

    def feed(
        self,
        instance: str,
        data: Mapping[str, Any],
        *,
        is_closed: bool,
        watched_to: int | None = None,
    ) -> None:
        """Store the line that a spool sends of itself once a minute and when it closes."""
        at = rfc3339(clock.now())
        written = self.place.next_number - 1
        name = f"feed\n{self.place.spool}\n{written}\n{at}"
        receipt = {
            "schema": SCHEMA,
            "id": str(uuid.uuid5(NAMESPACE, name)),
            "kind": "observe",
            "what": "feed",
            "occurred_at": at,
            "source": {"system": SYSTEM, "instance": instance},
            "spool": self.place.spool,
            "written": written,
            "sent": {"count": written},
            "unsent": 0,
            "dropped": 0,
            "oldest_unsent_s": None,
            **({"closed": True, "end": "in_order"} if is_closed else {}),
            "data": data,
        }
        self.store([as_bytes(receipt)], watched_to)

    def _prepare(self, bodies: Iterable[bytes]) -> list[Draft]:
        """Read the bodies, under the numbers that they have if nobody else writes meanwhile."""
        now, place = clock.now(), self.place
        return [
            ingest.prepare(raw, Envelope(place.project_id, now, feed_spool=place.spool,
                                         feed_number=number))
            for number, raw in enumerate(bodies, place.next_number)
        ]  # fmt: skip


def as_bytes(receipt: Mapping[str, Any]) -> bytes:
    """Write a receipt as it is stored."""
    return json.dumps(receipt, ensure_ascii=True, separators=(",", ":"), sort_keys=True).encode()


def _numbered(draft: Draft, number: int) -> Draft:
    if draft.envelope.feed_number == number:
        return draft
    return replace(draft, envelope=replace(draft.envelope, feed_number=number))
