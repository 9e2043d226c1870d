"""One spool: how it stands, its gaps and what became of them, and its last words."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from kit import bulk
from ledger.domain.feed_lines import producer_of
from ledger.domain.feed_states import RULES, Standing, is_open_gap, standings
from ledger.domain.feeds import Hole, Spool
from ledger.projectors.feed_rows import select, spool_of
from ledger.queries import feeds

Document = dict[str, Any]
GAPS_SHOWN = 50
WORDS_SHOWN = 20
_NEWEST = (
    f"SELECT {select()}, leaf_index FROM feed_spool "  # noqa: S608
    "WHERE project_id = %s AND spool = %s ORDER BY leaf_index DESC LIMIT 1"
)


def find_spool(project_id: int, name: str) -> tuple[Spool, int] | None:
    """Find a spool as it is now, with the leaf that left it so."""
    rows = bulk.select_rows(_NEWEST, [project_id, name])
    if not rows:
        return None
    statement = (
        "SELECT first_number, last_number, since FROM feed_gap "
        "WHERE project_id = %s AND spool = %s AND until_leaf IS NULL"
    )
    holes = bulk.select_rows(statement, [project_id, name])
    missing = [Hole(first, last, bulk.as_time(at)) for first, last, at in holes]
    return spool_of(rows[0][:-1], missing), rows[0][-1]


def spool_page(project_id: int, name: str, now: datetime) -> Document | None:
    """Give all about one spool: how it stands, its gaps and what became of them, its last words."""
    found = find_spool(project_id, name)
    if found is None:
        return None
    spool, leaf = found
    return {
        **spool_document(spool, leaf, senders_of([spool]), now),
        "closed_gaps": _closed_gaps(project_id, name),
        "history": _history(project_id, name),
        "feed": feeds.feed_at(project_id, feeds.now_of(now)),
        "as_of": now,
    }


def spool_document(spool: Spool, leaf: int, senders: dict[int, str], now: datetime) -> Document:
    """Give a spool's facts and what they come to at a clock."""
    worst, *also = standings(spool, now)
    tail = [] if spool.tail is None else [spool.tail]
    return {
        "spool": spool.name,
        "producer": producer_of(spool.name),
        **standing_document(worst),
        "also": [standing_document(one) for one in also],
        "complete_until": spool.complete_until,
        "heard_at": spool.heard_at,
        "reported_at": spool.fed_at,
        "written": spool.written,
        "arrived": spool.arrived,
        "unsent": spool.unsent,
        "oldest_unsent_at": spool.oldest_at,
        "dropped": spool.dropped + spool.outcomes_lost,
        "waived": spool.waived + spool.outcomes_waived,
        "sent_again": spool.replayed,
        "gaps": [_gap(hole, now) for hole in [*spool.holes, *tail]][:GAPS_SHOWN],
        "gaps_count": sum(is_open_gap(hole, now) for hole in [*spool.holes, *tail]),
        "closed_at": spool.closed_at,
        "end": spool.end or None,
        "skew_s": None if spool.skew is None else spool.skew.total_seconds(),
        "client": spool.client or None,
        "source": spool.source or None,
        "sender": senders.get(spool.token or 0),
        "conflicts": spool.conflicts,
        "disputed_by": [senders.get(one.token or 0) for one in spool.disputes],
        "watched_since": spool.first_at,
        "leaf_index": str(leaf),
    }


def standing_document(one: Standing) -> Document:
    """Give a state with the rule that spoke."""
    return {
        "state": one.state,
        "rule": one.rule,
        "rule_words": RULES[one.rule],
        "since": one.since,
        "missing": one.count,
    }


def _gap(hole: Hole, now: datetime) -> Document:
    return {
        "gap": f"{hole.first}-{hole.last}",
        "first": str(hole.first),
        "last": str(hole.last),
        "missing": hole.width,
        "since": hole.since,
        "is_open": is_open_gap(hole, now),
    }


def _closed_gaps(project_id: int, name: str) -> list[Document]:
    """Give the gaps that came to an end, the newest first; those that closed in time were none."""
    rows = bulk.select_rows(
        "SELECT first_number, last_number, since, until_at, until_leaf, closed_by, reason, actor "
        "FROM feed_gap WHERE project_id = %s AND spool = %s AND until_leaf IS NOT NULL "
        "ORDER BY until_leaf DESC, first_number LIMIT %s",
        [project_id, name, GAPS_SHOWN],
    )
    found = []
    for first, last, since, until_at, leaf, closed_by, reason, actor in rows:
        hole, ended_at = Hole(first, last, bulk.as_time(since)), bulk.as_time(until_at)
        if closed_by == "waived" or is_open_gap(hole, ended_at):
            one = {**_gap(hole, ended_at), "is_open": False, "closed_at": ended_at}
            told = {"closed_by": closed_by, "reason": reason or None, "actor": actor or None}
            found.append({**one, **told, "leaf_index": str(leaf)})
    return found


def _history(project_id: int, name: str) -> list[Document]:
    """Give the newest receipts that told of the spool, with what was known after each."""
    rows = bulk.select_rows(
        "SELECT leaf_index, heard_at, high, written, unsent, dropped, closed_at FROM feed_spool "
        "WHERE project_id = %s AND spool = %s ORDER BY leaf_index DESC LIMIT %s",
        [project_id, name, WORDS_SHOWN],
    )
    return [
        {
            "leaf_index": str(leaf),
            "heard_at": bulk.as_time(heard_at),
            "highest": high,
            "written": written,
            "unsent": unsent,
            "dropped": dropped,
            "is_closed": closed_at is not None,
        }
        for leaf, heard_at, high, written, unsent, dropped, closed_at in rows
    ]


def senders_of(spools: Iterable[Spool]) -> dict[int, str]:
    """Give the names of the tokens that handed spools in."""
    told = [(spool.token, *(one.token for one in spool.disputes)) for spool in spools]
    tokens = {token for tokens in told for token in tokens if token is not None}
    statement = "SELECT id, name FROM access_apitoken WHERE id IN ({values})"
    return dict(bulk.select_in(statement, [], sorted(tokens)))
