"""Receipts after which the work may not have been done, though nothing on record is missing."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from urllib.parse import quote

from kit.search import Query, Term, render
from ledger.queries import census
from ledger.queries.as_of import LAST_LEAF, AsOf
from ledger.queries.census import Census
from ledger.queries.selection import Where
from ledger.queries.where import where
from ledger.registry import AttentionItem, WatchedVerdict, registry

WATCHED = (
    # A skip whose original is missing is among the pointers that were not found.
    WatchedVerdict(
        "skip.original_failed",
        "A skip points to work that did not succeed.",
        "skips point to work that did not succeed.",
        "the work may not have been done at all",
    ),
    WatchedVerdict(
        "skip.holder_lost",
        "A skip met a key whose holder was lost.",
        "skips met a key whose holder was lost.",
        "nothing on record shows that the work was done",
        (Term("outcome", ("done",), negated=True),),
    ),
    WatchedVerdict(
        "retry.swallowed",
        "A job asked to run again, and nothing was published.",
        "jobs asked to run again, and nothing was published.",
        "the work will not be done unless somebody starts it anew",
    ),
)


def verdict_items(project_id: int, now: datetime) -> Iterator[AttentionItem]:
    """Give an item for each verdict that means the work may have to be done yet."""
    as_of = AsOf(LAST_LEAF, now, is_now=True)
    wanted = {watched.code: _skips(project_id, watched, as_of) for watched in registry.watched}
    found = census.take(project_id, wanted)
    for watched in registry.watched:
        if watched.code in found:
            yield _item(watched, found[watched.code])


def _query(watched: WatchedVerdict) -> Query:
    return Query((Term("verdict", (watched.code,)), *watched.further))


def _skips(project_id: int, watched: WatchedVerdict, as_of: AsOf) -> Where:
    found = where(project_id, _query(watched), as_of)
    # Until its pointer is due alone: one that came to this by waiting is among those not found.
    found.add("e.verdict = %s", watched.code)
    return found


def _item(watched: WatchedVerdict, found: Census) -> AttentionItem:
    return AttentionItem(
        code=f"verdict.{watched.code}",
        subject="",
        sentence=watched.one if found.count == 1 else f"{found.number} {watched.many}",
        since=found.since,
        severity="bad",
        facts=f"{found.newest}:{found.count}:{found.total}",
        next_label="list them",
        next_path=f"receipts?q={quote(render(_query(watched).terms), safe=':.')}",
        small=watched.small,
    )
