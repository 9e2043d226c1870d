"""What people did in Counterfoil itself, written into the log as `act` receipts.

Each action has a number of its own in the outbox, which makes the receipt's id: a follower that
dies between storing and marking stores the same receipt again, which is a replay. The id is keyed
with the project's secret, so that no producer can take it beforehand and leave ours in conflict.
"""

from __future__ import annotations

import json
from typing import Any

from access import queries as access_queries
from access import store as access_store
from access.rows import ActionRow
from kit import clock
from ledger import ingest, keys
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
    ingest.ingest([_raw(project_id, action) for action in waiting], envelope)
    access_store.mark_drained([action.id for action in waiting])
    return len(waiting)


def _raw(project_id: int, action: ActionRow) -> bytes:
    body = {"id": action_id(project_id, action.id), **_body(action)}
    return json.dumps(body, ensure_ascii=True, sort_keys=True).encode("ascii")


def action_id(project_id: int, number: int) -> str:
    """Give the id of the receipt of an action; only who has the project's key can tell it."""
    return f"action:{keys.keyed(project_id, 'action', str(number)).hex()[:32]}"


def _body(action: ActionRow) -> dict[str, Any]:
    return {
        "schema": "counterfoil.receipt/1",
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
