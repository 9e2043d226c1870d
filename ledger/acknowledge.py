"""A person's word on an attention item: seen, for a reason, until its facts change or a time."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from access import store as access_store
from access.rows import Actor
from kit import clock
from kit.http import ProblemError
from kit.search import is_time, moment
from ledger.domain.leaf import rfc3339
from ledger.queries import attention

NO_ITEM = "Nothing of this id needs anyone now; it may have been settled meanwhile."
BAD_UNTIL = "`until` takes a time with its zone that is still to come, or a date."


def acknowledge(project_id: int, item_id: str, actor: Actor, reason: str, until: str) -> Any:
    """Record that an item was seen; gives the item. Raises a problem for an unknown item."""
    now = clock.now()
    item = attention.find_item(project_id, item_id, now)
    if item is None:
        raise ProblemError(404, "not_found", "No such item", NO_ITEM)
    ends = _until(until, now)
    access_store.record_action(
        project_id=project_id,
        actor=actor,
        verb="acknowledge",
        target=f"attention:{item_id}",
        reason=reason,
        after={
            "facts": item["facts"],
            "code": item["code"],
            "subject": item["subject"],
            "until": None if ends is None else rfc3339(ends),
        },
    )
    return item


def _until(text: str, now: datetime) -> datetime | None:
    if not text:
        return None
    # A browser's own field gives a time without a zone; the page says that it is UTC.
    given = f"{text}Z" if "T" in text and not text.endswith("Z") and "+" not in text else text
    at = moment(given, now) if is_time(given) else None
    if at is None or at <= now:
        raise ProblemError(400, "until", "Until when?", BAD_UNTIL)
    return at
