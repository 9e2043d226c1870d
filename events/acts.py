"""What a person says of buses: acts that the follower writes into the log.

Source: design section 2, "what a verdict depends on and a person can change is a receipt".
"""

from __future__ import annotations

from datetime import datetime

from access import store as access_store
from access.rows import Actor
from events.domain.told.names import BusName
from events.domain.told.settings import ALIAS, MAINTAIN
from ledger.domain.leaf import rfc3339


class BadAct(ValueError):
    """What was said of a bus makes no sense; the message says what to say instead."""


def announce_maintenance(
    project_id: int, bus: BusName, span: tuple[datetime, datetime], actor: Actor, reason: str
) -> None:
    """Say when people are at work on a bus, so that a new epoch in that time counts as planned.

    It holds for what comes into the log after it. Raises BadAct for a time that ends before it
    begins.
    """
    begins, ends = span
    if begins >= ends:
        raise BadAct("The maintenance must end after it begins.")
    access_store.record_action(
        project_id=project_id,
        actor=actor,
        verb=MAINTAIN,
        target=f"bus:{bus.installation}/{bus.bus}",
        reason=reason,
        after={"from": rfc3339(begins), "to": rfc3339(ends)},
    )


def say_same(project_id: int, installation: str, other: str, actor: Actor, reason: str) -> None:
    """Say that two names are those of one installation, so that neither is held against the other.

    Raises BadAct for one name said twice.
    """
    if installation == other:
        raise BadAct("An installation needs no second name that is its first.")
    access_store.record_action(
        project_id=project_id,
        actor=actor,
        verb=ALIAS,
        target=f"installation:{installation}",
        reason=reason,
        after={"alias": other},
    )
