"""The outbox of who did what; the follower drains it into `act` receipts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from access.models import Action
from access.rows import Actor
from kit import clock
from kit.db import write_transaction

_LABEL_LENGTH = 200
_TARGET_LENGTH = 300
# PostgreSQL refuses NUL and lone surrogates in a text, and both can stand in a refused address.
_UNSTORABLE = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")


def record_action(
    *,
    project_id: int | None,
    actor: Actor,
    verb: str,
    target: str,
    reason: str = "",
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
    outcome: str = "done",
) -> int:
    """Write one action into the outbox and return its id; `outcome` is done or denied.

    Call it inside the transaction of the change that it records. No secret may be in `before`
    or `after`: they end in the log, where nothing is taken back.
    """
    with write_transaction():
        action = Action.objects.create(
            project_id=project_id,
            at=clock.now(),
            actor_type=actor.type,
            actor_id=actor.id,
            actor_label=_storable(actor.label)[:_LABEL_LENGTH],
            verb=verb,
            target=_storable(target)[:_TARGET_LENGTH],
            reason=_storable(reason),
            before=_json_text(before),
            after=_json_text(after),
            outcome=outcome,
        )
    return action.id


def mark_drained(action_ids: Iterable[int]) -> int:
    """Mark actions as written to the log; return how many were not yet."""
    with write_transaction():
        waiting = Action.objects.filter(id__in=list(action_ids), drained_at__isnull=True)
        return waiting.update(drained_at=clock.now())


def _storable(text: str) -> str:
    return _UNSTORABLE.sub("\ufffd", text)


def _json_text(value: Mapping[str, Any] | None) -> str:
    if value is None:
        return ""
    return json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
