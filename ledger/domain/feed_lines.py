"""Readers of what is said of spools: a spool's own line, and a person's waiver."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from ledger.domain import plain
from ledger.domain.arrival import MAX_NUMBER
from ledger.domain.statement import Statement

FEED = "feed"
WAIVE = "waive"
TARGET = "feed:"
MOST = 10**12
"""The greatest count that is believed: sums of them must fit a column."""

_DISPUTED = {"same": True, "other": False}

LONGEST = timedelta(days=36_500)
_CLIENT = re.compile(
    r"(?P<program>[A-Za-z0-9-]+:.+?)(-[dwt]-[0-9a-f]{10})?:[0-9]{1,10}:[0-9]{1,20}"
)


@dataclass(frozen=True, slots=True)
class Line:
    """What a spool says of itself at `said_at`, by its own clock.

    `written` lines have numbers, `unsent` of them wait, `dropped` were given up; what it does not
    say is None. `oldest` is how long the oldest has waited, `began` is when the first one was
    written. A spool of tallies also says since how long ordinary outcomes wait to be tallied, and
    how many were lost.
    """

    spool: str
    received_at: datetime
    said_at: datetime | None = None
    written: int | None = None
    unsent: int | None = None
    dropped: int = 0
    oldest: timedelta | None = None
    is_closed: bool = False
    end: str = ""
    token: int | None = None
    source: str = ""
    client: str = ""
    began: datetime | None = None
    outcomes_oldest: timedelta | None = None
    outcomes_lost: int = 0


@dataclass(frozen=True, slots=True)
class Waiver:
    """A person's word that numbers of a spool, or all that is missing of it, will never come.

    With `is_same` it is on nothing but whether those who disputed the spool are its producer.
    """

    spool: str
    at: datetime
    first: int | None
    last: int | None
    reason: str
    actor: str
    is_same: bool | None = None


def is_line(statement: Statement) -> bool:
    """Tell whether a receipt is the line of a spool."""
    is_told = statement.kind == "observe" and statement.what == FEED
    return is_told and statement.is_readable


def read_line(statement: Statement) -> Line | None:
    """Read the line of a spool; None when it names none."""
    body = statement.body
    spool = plain.name_of(body.get("spool"))
    if not spool or not is_line(statement):
        return None
    oldest = plain.seconds_of(body.get("oldest_unsent_s"))
    client = plain.object_of(body.get("client"))
    outcomes = plain.object_of(body.get("outcomes"))
    named = [plain.name_of(client.get(name)) for name in ("name", "version")]
    return Line(
        spool=spool,
        received_at=statement.received_at,
        said_at=statement.occurred_at,
        written=count_of(body.get("written")),
        unsent=count_of(body.get("unsent")),
        dropped=count_of(body.get("dropped")) or 0,
        oldest=None if oldest is None else _length(oldest),
        outcomes_oldest=_waiting(outcomes),
        outcomes_lost=count_of(outcomes.get("lost")) or 0,
        is_closed=body.get("closed") is True,
        end=(plain.name_of(body.get("end")) or "in_order")[:40],
        token=statement.token_id,
        source=statement.source,
        began=plain.time_of(body.get("began")),
        client=" ".join(part for part in named if part) or plain.name_of(body.get("client")),
    )


def is_waiver(statement: Statement) -> bool:
    """Tell our own acts of waiving from a producer's: ours come without a token."""
    is_ours = statement.kind == "act" and statement.token_id is None
    return is_ours and statement.act_verb == WAIVE and statement.act_target.startswith(TARGET)


def read_waiver(statement: Statement) -> Waiver:
    """Read an act of waiving, which `is_waiver` tells."""
    act = statement.act
    first, last = number_of(act.get("first")), number_of(act.get("last"))
    return Waiver(
        spool=plain.name_of(act.get("spool")),
        at=statement.received_at,
        first=first,
        last=first if last is None else last,
        reason=plain.prose_of(act.get("reason")),
        actor=statement.actor_label or statement.actor_id,
        is_same=_DISPUTED.get(plain.name_of(act.get("disputed_by"))),
    )


def producer_of(spool: str) -> str:
    """Name the program that a spool is of, as `host:name`: its processes have one spool each.

    The client's spools are called `HOST:NAME-LEVEL-TOKEN:PID:START`; any other name is its own.
    """
    found = _CLIENT.fullmatch(spool)
    return found["program"] if found else spool


def count_of(value: object) -> int | None:
    """Read a count as a number of at most a billion thousands, else None."""
    number = number_of(value)
    return None if number is None else min(number, MOST)


def number_of(value: object) -> int | None:
    """Read a whole number that a column holds, else None."""
    token = value if isinstance(value, str) else plain.number_token(value)
    if token is None or len(token) > 19 or not token.isascii() or not token.isdecimal():
        return None
    return number if (number := int(token)) <= MAX_NUMBER else None


def _waiting(outcomes: Mapping[str, object]) -> timedelta | None:
    """Give how long outcomes have waited; where that is not said, longer than anything."""
    if not count_of(outcomes.get("waiting")):
        return None
    oldest = plain.seconds_of(outcomes.get("oldest_s"))
    return LONGEST if oldest is None else _length(oldest)


def _length(seconds: float) -> timedelta:
    return timedelta(seconds=min(seconds, LONGEST.total_seconds()))
