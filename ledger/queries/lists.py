"""The list of receipts: newest number first, by pages that do not move."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kit import bulk, counts, keyset
from kit.counts import Count
from kit.http import bad_query
from kit.search import Query, parse
from ledger.queries import bodies, feeds, heads, items
from ledger.queries.as_of import AsOf
from ledger.queries.fields import BODIES_READ, FIELDS
from ledger.queries.selection import Where
from ledger.queries.where import where

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
    found = where(project_id, asked.query, asked.as_of)
    page = _page(project_id, found, asked)
    feed = feed_of(project_id, asked.as_of)
    return {
        "items": items.items(project_id, page.rows, asked.as_of),
        "next": page.next,
        "newer": _newer(found, page.top, asked) if asked.cursor else 0,
        "window": _window(project_id, found, asked, page.searched_to, feed),
        "count": _count(found, asked, page),
        "feed": feed,
    }


def newest_receipts(project_id: int, asked: Asked) -> list[Document]:
    """Give the newest rows of a list alone, without how many there are."""
    page = _page(project_id, where(project_id, asked.query, asked.as_of), asked)
    return items.items(project_id, page.rows, asked.as_of)


def count_receipts(project_id: int, query: Query, as_of: AsOf) -> Count:
    """Count a list up to ten thousand, without its rows."""
    return _capped(where(project_id, query, as_of), as_of)


def stream_receipts(project_id: int, asked: Asked) -> Iterator[Document]:
    """Give every row of a query, page by page, for an export."""
    found = where(project_id, asked.query, asked.as_of)
    cursor: str | None = asked.cursor
    while cursor is not None:
        page = _page(project_id, found, Asked(asked.query, asked.as_of, MOST, cursor))
        yield from items.items(project_id, page.rows, asked.as_of)
        cursor = page.next


def feed_of(project_id: int, as_of: AsOf | None = None) -> Document:
    """Say what is known of holes in what producers sent, as of a leaf and a clock or as of now."""
    return feeds.feed_at(project_id, as_of or feeds.now_of())


def _place(cursor: str) -> tuple[int | None, int | None]:
    """Give the leaf that a page goes on after, and the newest leaf of the first page."""
    if not cursor:
        return None, None
    after, top = keyset.decode(cursor, NAME, (int, int)).values
    return int(str(after)), int(str(top))


@dataclass(frozen=True, slots=True)
class _Page:
    """The rows of a page, how far it looked, and where the next one goes on.

    `top` is the newest leaf of the first page. A search of bodies may stop before its page is
    full; then the next one goes on from there.
    """

    rows: tuple[tuple[Any, ...], ...]
    top: int
    searched_to: int
    next: str | None


def _page(project_id: int, found: Where, asked: Asked) -> _Page:
    after, top = _place(asked.cursor)
    top = asked.as_of.leaf if top is None else top
    below = min(top, asked.as_of.leaf) + 1 if after is None else after
    rows, searched_to, is_done = _rows(project_id, found, asked.limit, below)
    page, has_more = keyset.take(rows, asked.limit)
    following = None
    if has_more or not is_done:
        place = int(page[-1][0]) if has_more else searched_to
        following = keyset.encode(keyset.Cursor((place, top)), NAME)
    return _Page(page, top, searched_to, following)


def _rows(
    project_id: int, found: Where, limit: int, below: int
) -> tuple[list[tuple[Any, ...]], int, bool]:
    """Fetch one row more than a page has; say down to which leaf was looked, and if to the end."""
    if not found.paths:
        return _fetch(found, below, limit + 1), found.first, True
    kept: list[tuple[Any, ...]] = []
    read = 0
    while len(kept) <= limit and read < BODIES_READ:
        rows = _fetch(found, below, CHUNK)
        kept.extend(bodies.matching(project_id, rows, found.paths))
        read += len(rows)
        if len(rows) < CHUNK:
            return kept, found.first, True
        below = rows[-1][0]
    return kept, below, False


def _fetch(found: Where, below: int, limit: int) -> list[tuple[Any, ...]]:
    columns = items.select(found.pointer)
    many = _few(found, below, limit) if found.is_by_time else limit
    return bulk.select_rows(*found.newest(columns, many, "e.leaf_index < %s", below))


def _few(found: Where, below: int, limit: int) -> int:
    """Count by time how many rows a page will find.

    Looking for one more than there is would go on through all that happened before.
    """
    statement, parameters = found.ones(limit, "e.leaf_index < %s", below)
    limited = f"SELECT count(*) FROM ({statement} LIMIT %s) AS few"  # noqa: S608
    ((many,),) = bulk.select_rows(limited, [*parameters, limit])
    return int(many)


def _newer(found: Where, top: int, asked: Asked) -> int:
    if found.paths:
        return 0
    statement, parameters = found.ones(counts.CAP + 1, "e.leaf_index > %s", top)
    return counts.capped(statement, bulk.adapt(parameters), as_of=asked.as_of.at).value


def _count(found: Where, asked: Asked, page: _Page) -> Count:
    """Count the whole list, up to ten thousand; a list by bodies knows its page alone."""
    if found.paths:
        is_all = page.next is None and not asked.cursor
        return Count(len(page.rows), "exact" if is_all else "capped", asked.as_of.at)
    if not asked.query.terms and not asked.query.words:
        return Count(asked.as_of.end, "exact", asked.as_of.at)
    return _capped(found, asked.as_of)


def _capped(found: Where, as_of: AsOf) -> Count:
    statement, parameters = found.ones(counts.CAP + 1)
    return counts.capped(statement, bulk.adapt(parameters), as_of=as_of.at)


def _window(
    project_id: int, found: Where, asked: Asked, searched_to: int, feed: Document
) -> Document:
    """Say what was searched: how many receipts, from when, and up to when the lists reach.

    What is known not to have arrived was not searched either.
    """
    end = asked.as_of.end
    oldest = heads.head_of(project_id, searched_to) if end else None
    return {
        "searched": max(0, end - searched_to),
        "complete": searched_to == 0 and asked.as_of.lag == 0 and feeds.is_whole(feed),
        "from": oldest,
        "to": asked.as_of.committed_at,
        "lag": asked.as_of.lag,
    }
