"""Producers: the open and broken spools of each host and program, the closed ones summed up."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from kit import bulk, counts, keyset
from kit.counts import Count
from kit.db import indexed_by
from ledger.domain.feed_lines import producer_of
from ledger.domain.feed_states import INCOMPLETE, Standing
from ledger.domain.feeds import Hole, Spool
from ledger.projectors.feed_rows import select, spool_of
from ledger.queries import feeds, heads
from ledger.queries.spools import senders_of, spool_document, standing_document

Document = dict[str, Any]
Known = tuple[Spool, int]
NAME = "producers"
MOST_SPOOLS = 2_000
SPOOLS_SHOWN = 50
_OPEN = (
    f"SELECT {select('s')}, s.leaf_index FROM feed_spool s "  # noqa: S608
    "WHERE s.project_id = %s AND s.span IS NULL ORDER BY s.heard_at LIMIT %s"
)
_GAPS = (
    "SELECT spool, first_number, last_number, since FROM feed_gap "
    "WHERE project_id = %s AND until_leaf IS NULL ORDER BY since"
)
_SETTLED = (
    "SELECT producer, spools, arrived, waived, first_at, last_at FROM feed_producer "
    "WHERE project_id = %s AND spools > 0"
)
_NONE_OPEN = (
    "NOT EXISTS (SELECT 1 FROM feed_spool s WHERE s.project_id = feed_producer.project_id "
    "AND s.producer = feed_producer.producer AND s.span IS NULL)"
)
_ALL = (
    "SELECT producer FROM feed_producer WHERE project_id = %s AND spools > 0 UNION "
    "SELECT producer FROM feed_spool{index} WHERE project_id = %s AND span IS NULL"
)
_WORST = ("silent", "gap", "dropped", "disputed", "late", "unknown", "complete", "closed")
"""The states of spools, from what needs somebody to what needs nobody."""


def list_producers(
    project_id: int, now: datetime, *, limit: int, cursor: str = "", incomplete: bool = False
) -> Document:
    """Give the producers: those with an open or broken spool, then those that closed in order.

    `incomplete` leaves only what is not complete.
    """
    known = open_spools(project_id)
    items = [] if cursor else _items(project_id, known, now)
    following = None
    if incomplete:
        items = [one for one in items if one["not_complete"]]
    else:
        ended, following = _ended(project_id, limit, cursor)
        items += ended
    feed = feeds.feed_at(project_id, feeds.now_of(now))
    reach = heads.reach_of(project_id)
    return {
        "items": items,
        "unnumbered": _unnumbered(project_id, now, incomplete=incomplete),
        "next": following,
        "newer": 0,
        "window": {
            "searched": None,
            "complete": not reach.lag and feeds.is_whole(feed) and len(known) < MOST_SPOOLS,
            "from": None,
            "to": reach.derived_at,
            "lag": reach.lag,
        },
        "count": _count(project_id, items, now, incomplete=incomplete),
        "feed": feed,
        "as_of": now,
    }


def open_spools(project_id: int) -> list[Known]:
    """Give the spools that are open or not whole, with their holes."""
    holes: dict[str, list[Hole]] = defaultdict(list)
    for name, first, last, since in bulk.select_rows(_GAPS, [project_id]):
        holes[name].append(Hole(first, last, bulk.as_time(since)))
    rows = bulk.select_rows(_OPEN, [project_id, MOST_SPOOLS])
    return [(spool_of(row[:-1], holes.get(row[0], ())), row[-1]) for row in rows]


def _items(project_id: int, known: Sequence[Known], now: datetime) -> list[Document]:
    """Group spools by producer, those first that need somebody."""
    senders = senders_of([spool for spool, _ in known])
    grouped: dict[str, list[Document]] = defaultdict(list)
    for spool, leaf in known:
        grouped[producer_of(spool.name)].append(spool_document(spool, leaf, senders, now))
    settled = _settled(project_id, grouped)
    items = [_item(name, spools, settled.get(name)) for name, spools in grouped.items()]
    return sorted(items, key=lambda one: (_badness(one), one["producer"]))


def _item(name: str, spools: list[Document], settled: Document | None) -> Document:
    ordered = sorted(spools, key=lambda one: (_badness(one), one["spool"]))
    closed = settled or {"spools": 0, "arrived": 0, "waived": 0}
    firsts = [one["watched_since"] for one in [*spools, *([settled] if settled else [])]]
    skews = [one["skew_s"] for one in spools if one["skew_s"] is not None]
    worst = ordered[0]
    return {
        "producer": name,
        **{key: worst[key] for key in ("state", "rule", "rule_words", "since")},
        "not_complete": sum(one["state"] in INCOMPLETE for one in spools),
        "spools": {"open": len(spools), "closed": closed["spools"]},
        "heard_at": max(one["heard_at"] for one in spools),
        "complete_until": _least([one["complete_until"] for one in spools]),
        "written": _sum([one["written"] for one in spools], closed["arrived"] + closed["waived"]),
        "arrived": sum(one["arrived"] for one in spools) + closed["arrived"],
        "dropped": sum(one["dropped"] for one in spools),
        "waived": sum(one["waived"] for one in spools) + closed["waived"],
        "gaps": sum(one["gaps_count"] for one in spools),
        "skew_s": max(skews, key=abs, default=None),
        "clients": sorted({one["client"] for one in spools if one["client"]}),
        "senders": sorted({one["sender"] for one in spools if one["sender"]}),
        "watched_since": min(firsts),
        "items": ordered[:SPOOLS_SHOWN],
    }


def _badness(one: Document) -> tuple[int, datetime]:
    return _WORST.index(one["state"]), one["since"] or one["watched_since"]


def _least(moments: list[datetime | None]) -> datetime | None:
    known = [at for at in moments if at is not None]
    return min(known) if len(known) == len(moments) else None


def _sum(values: Iterable[int | None], more: int) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) + more if known or more else None


def _settled(project_id: int, names: Iterable[str]) -> dict[str, Document]:
    rows = bulk.select_in(_SETTLED + " AND producer IN ({values})", [project_id], names)
    return {row[0]: _settled_document(row) for row in rows}


def _settled_document(row: Sequence[Any]) -> Document:
    _, spools, arrived, waived, first_at, last_at = row
    return {
        "spools": spools,
        "arrived": arrived,
        "waived": waived,
        "watched_since": bulk.as_time(first_at),
        "heard_at": bulk.as_time(last_at),
    }


def _ended(project_id: int, limit: int, cursor: str) -> tuple[list[Document], str | None]:
    """Give a page of the producers all of whose spools closed in order, the last heard first."""
    after = ""
    values: list[Any] = [project_id]
    if cursor:
        at, name = keyset.decode(cursor, NAME, (datetime, str)).values
        after = " AND (last_at < %s OR (last_at = %s AND producer > %s))"
        values += [at, at, name]
    statement = f"{_SETTLED}{after} AND {_NONE_OPEN} ORDER BY last_at DESC, producer LIMIT %s"
    rows = bulk.select_rows(statement, [*values, limit + 1])
    page, has_more = keyset.take(rows, limit)
    items = [_ended_item(row) for row in page]
    place = (bulk.as_time(page[-1][5]), page[-1][0]) if has_more else None
    return items, None if place is None else keyset.encode(keyset.Cursor(place), NAME)


def _ended_item(row: Sequence[Any]) -> Document:
    one = _settled_document(row)
    rule = "closed_in_order"
    return {
        "producer": row[0],
        **standing_document(Standing("closed", rule, one["heard_at"])),
        "not_complete": 0,
        "spools": {"open": 0, "closed": one["spools"]},
        "heard_at": one["heard_at"],
        "complete_until": one["heard_at"],
        "written": one["arrived"] + one["waived"],
        "arrived": one["arrived"],
        "dropped": 0,
        "waived": one["waived"],
        "gaps": 0,
        "skew_s": None,
        "clients": [],
        "senders": [],
        "watched_since": one["watched_since"],
        "items": [],
    }


def _unnumbered(project_id: int, now: datetime, *, incomplete: bool) -> list[Document]:
    """Give the tokens that number nothing, whose silence alone can be seen."""
    found = []
    for token in feeds.quiet_tokens(project_id, feeds.now_of(now)):
        standing = Standing("unknown", "no_numbers", None)
        if token.usual_s is not None:
            standing = Standing("silent", "ten_intervals_missed", token.last_at)
        if standing.is_incomplete or not incomplete:
            found.append(
                {
                    "token": token.name,
                    **standing_document(standing),
                    "heard_at": token.last_at,
                    "usual_interval_s": token.usual_s,
                }
            )
    return sorted(found, key=lambda one: (_WORST.index(one["state"]), one["token"]))


def _count(project_id: int, items: list[Document], now: datetime, *, incomplete: bool) -> Count:
    if incomplete:
        return Count(len(items), "exact", now)
    parameters = bulk.adapt([project_id, project_id])
    statement = _ALL.format(index=indexed_by("feed_spool_in_force"))
    return counts.capped(statement, parameters, as_of=now)
