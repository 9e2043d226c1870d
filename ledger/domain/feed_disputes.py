"""Whose word on a spool counts: that of the token which first spoke for it, and of its like.

A token's like is one with the same declared source (`token create --source`), since tokens are
replaced. What any other token says changes nothing of a spool but that it is disputed, until a
person says whether the two are one producer.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from ledger.domain import arrivals, feeds
from ledger.domain.arrivals import Arrived, Run
from ledger.domain.feed_lines import Line
from ledger.domain.feeds import Dispute, Spool

MOST = 20
"""Tokens whose word is kept apart; and of each the runs of numbers that are kept, times five."""


def take(before: Spool | None, told: Arrived | Line, declared: str = "") -> Spool:
    """Take what a token of a declared source tells of a spool."""
    at = told.runs[0].at if isinstance(told, Arrived) else told.received_at
    spool = before or feeds.begin(told.spool, at)
    if not speaks_for(spool, told.token, declared):
        return _disputed(spool, told)
    if not spool.owners:
        spool = replace(spool, owners=(told.token,), declared=declared)
    if isinstance(told, Line):
        return feeds.feed(spool, told)
    return _conflicting(feeds.arrive(spool, told), told)


def speaks_for(spool: Spool, token: int | None, declared: str) -> bool:
    """Tell whether the word of a token counts for a spool."""
    is_alike = declared != "" and declared == spool.declared
    return not spool.owners or token in spool.owners or is_alike


def settle(spool: Spool, *, is_same: bool) -> Spool:
    """Take a person's word on whether those who disputed a spool are the same producer.

    If so, the numbers that they handed in count from now on.
    """
    disputes = spool.disputes if is_same else ()
    spool = replace(spool, disputes=(), disputed_at=None, conflicts=0)
    for one in disputes:
        if one.token not in spool.owners:
            spool = replace(spool, owners=(*spool.owners, one.token))
        if one.runs:
            last_at = max(run.at for run in one.runs)
            spool = feeds.arrive(spool, Arrived(spool.name, one.runs, last_at, 0, one.token))
    return spool


def _conflicting(spool: Spool, told: Arrived) -> Spool:
    """Note numbers whose receipts stand in conflict: another content had their id first."""
    if not told.conflicts:
        return spool
    at = spool.disputed_at or told.last_at
    return replace(spool, conflicts=spool.conflicts + told.conflicts, disputed_at=at)


def _disputed(spool: Spool, told: Arrived | Line) -> Spool:
    at = told.runs[0].at if isinstance(told, Arrived) else told.received_at
    runs = told.runs if isinstance(told, Arrived) else ()
    known = {one.token: one for one in spool.disputes}
    if told.token in known or len(known) < MOST:
        before = known.get(told.token, Dispute(told.token, at))
        known[told.token] = replace(before, runs=_kept([*before.runs, *runs]))
    return replace(
        spool, disputes=tuple(known.values()), disputed_at=_earliest(spool.disputed_at, at)
    )


def _kept(runs: Iterable[Run]) -> tuple[Run, ...]:
    # The newest runs are dropped first: what is missing after a waiver then lies at the end.
    return tuple(arrivals.merge(runs)[: MOST * 5])


def _earliest(one: datetime | None, other: datetime) -> datetime:
    return other if one is None else min(one, other)
