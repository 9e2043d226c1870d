"""The list of receipts: newest number first, by pages that do not move."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kit import bulk, counts, keyset
from kit.counts import Count
from kit.http import bad_query
from kit.search import Query, parse
from ledger.queries import bodies, heads, items
from ledger.queries.as_of import AsOf
from ledger.queries.fields import BODIES_READ, FIELDS
from ledger.queries.where import Where, where

NAME = "receipts"
MOST = 500
USUAL = 50
CHUNK = 200
Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """A list as it was asked for."""

    query: Query
    as_of: AsOf
    limit: int = USUAL
    cursor: str = ""


def parse_query(text: str) -> Query:
    """Read `q`; what is not understood is among the query's faults."""
    return parse(text, FIELDS)


def list_receipts(project_id: int, asked: Asked) -> Document:
    """Give one page of the list (contract, section 4); raises for a query with faults."""
    if asked.query.faults:
        raise bad_query(asked.query)
    after, top = _place(asked.cursor)
    found = where(project_id, asked.query, asked.as_of)
    top = asked.as_of.leaf if top is None else top
    rows, searched_to = _rows(project_id, found, asked, after, min(top, asked.as_of.leaf))
    page, has_more = keyset.take(rows, asked.limit)
    documents = items.items(project_id, page, asked.as_of)
    following = None
    if has_more:
        values = (int(page[-1][0]), top)
        following = keyset.encode(keyset.Cursor(values), NAME)
    return {
        "items": documents,
        "next": following,
        "newer": _newer(found, top, asked) if asked.cursor else 0,
        "window": _window(project_id, found, asked, searched_to),
        "count": _count(found, asked, rows),
        "feed": feed_of(project_id),
    }


def stream_receipts(project_id: int, asked: Asked) -> Iterator[Document]:
    """Give every row of a query, page by page, for an export."""
    cursor = ""
    while True:
        page = list_receipts(project_id, Asked(asked.query, asked.as_of, MOST, cursor))
        yield from page["items"]
        if page["next"] is None:
            return
        cursor = page["next"]


def feed_of(project_id: int) -> Document:
    """Say what is known of holes in what producers sent: nothing yet, which is not zero."""
    return {
        "complete_until": None,
        "silent": None,
        "gaps": None,
        "dropped": None,
        "unnumbered": None,
    }


def _place(cursor: str) -> tuple[int | None, int | None]:
    """Give the leaf that a page goes on after, and the newest leaf of the first page."""
    if not cursor:
        return None, None
    after, top = keyset.decode(cursor, NAME, (int, int)).values
    return int(str(after)), int(str(top))


def _rows(
    project_id: int, found: Where, asked: Asked, after: int | None, top: int
) -> tuple[list[tuple[Any, ...]], int]:
    """Fetch one row more than a page has, and say down to which leaf was looked."""
    below = top + 1 if after is None else after
    if not found.paths:
        return _fetch(found, below, asked.limit + 1), found.first
    kept: list[tuple[Any, ...]] = []
    read = 0
    while len(kept) <= asked.limit and read < BODIES_READ:
        rows = _fetch(found, below, CHUNK)
        kept.extend(bodies.matching(project_id, rows, found.paths))
        read += len(rows)
        if len(rows) < CHUNK:
            return kept, found.first
        below = rows[-1][0]
    return kept, below


def _fetch(found: Where, below: int, limit: int) -> list[tuple[Any, ...]]:
    statement = (
        f"SELECT {items.select(found.pointer)} {found.text()} AND e.leaf_index < %s "
        "ORDER BY e.leaf_index DESC LIMIT %s"
    )
    return bulk.select_rows(statement, [*found.parameters, below, limit])


def _newer(found: Where, top: int, asked: Asked) -> int:
    if found.paths:
        return 0
    sql = f"SELECT 1 {found.text()} AND e.leaf_index > %s"
    parameters = bulk.adapt([*found.parameters, top])
    return counts.capped(sql, parameters, as_of=asked.as_of.at).value


def _count(found: Where, asked: Asked, rows: list[tuple[Any, ...]]) -> Count:
    """Count the whole list, up to ten thousand; a list by bodies knows its page alone."""
    if found.paths:
        is_all = len(rows) <= asked.limit and not asked.cursor
        return Count(len(rows), "exact" if is_all else "capped", asked.as_of.at)
    if not asked.query.terms and not asked.query.words:
        return Count(asked.as_of.end, "exact", asked.as_of.at)
    sql = f"SELECT 1 {found.text()}"
    return counts.capped(sql, bulk.adapt(found.parameters), as_of=asked.as_of.at)


def _window(project_id: int, found: Where, asked: Asked, searched_to: int) -> Document:
    """Say what was searched: how many receipts, from when, and up to when the lists reach."""
    end = asked.as_of.end
    oldest = heads.head_of(project_id, searched_to) if searched_to and end else None
    newest = heads.head_of(project_id, asked.as_of.leaf) if end else None
    lag = heads.reach_of(project_id).lag if asked.as_of.is_now else 0
    return {
        "searched": max(0, end - searched_to),
        "complete": searched_to == 0 and lag == 0,
        "from": oldest,
        "to": newest,
        "lag": lag,
    }
