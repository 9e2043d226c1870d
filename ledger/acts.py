"""What people did in Counterfoil itself, written into the log as `act` receipts.

Each action has an id of its own in the outbox, which makes the receipt's id: a follower that dies
between storing and marking stores the same receipt again, which is a replay.
"""

from __future__ import annotations

import json
from typing import Any

from access import queries as access_queries
from access import store as access_store
from access.rows import ActionRow
from kit import clock
from ledger import ingest
from ledger.domain.draft import Envelope
from ledger.domain.leaf import rfc3339

BATCH = 100
SYSTEM = "counterfoil"


def drain(project_id: int) -> int:
    """Store the actions of a project that are not in its log yet; gives how many."""
    waiting = list(access_queries.iter_undrained_actions(project_id, BATCH))
    if not waiting:
        return 0
    envelope = Envelope(project_id=project_id, received_at=clock.now())
    ingest.ingest([_raw(action) for action in waiting], envelope)
    access_store.mark_drained([action.id for action in waiting])
    return len(waiting)


def _raw(action: ActionRow) -> bytes:
    return json.dumps(_body(action), ensure_ascii=True, sort_keys=True).encode("ascii")


def _body(action: ActionRow) -> dict[str, Any]:
    return {
        "schema": "counterfoil.receipt/1",
        "id": f"action:{action.id}",
        "kind": "act",
        "occurred_at": rfc3339(action.at),
        "source": {"system": SYSTEM, "via": "page"},
        "actor": {
            "type": action.actor.type,
            "id": action.actor.id,
            "label": action.actor.label,
        },
        "act": {
            **(action.after or {}),
            "verb": action.verb,
            "target": action.target,
            "reason": action.reason,
            "outcome": action.outcome,
            **({"before": action.before} if action.before else {}),
        },
    }
