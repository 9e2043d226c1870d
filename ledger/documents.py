"""The answers of the API as documents: what pages show and what their JSON twins say."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from kit import clock
from ledger import waive
from ledger.queries import (
    as_of,
    attention,
    counts,
    explanations,
    feeds,
    lists,
    policies,
    producers,
    receipts,
    set_aside,
    subjects,
    tasks,
    watched,
)
from ledger.queries.lists import Asked
from ledger.queries.receipts import Found

Document = dict[str, Any]
RECENT = timedelta(hours=24)


def asked(
    project_id: int, q: str, limit: int = lists.USUAL, cursor: str = "", as_of_text: str = ""
) -> Asked:
    """Read what a list is asked for."""
    cut = as_of.find_as_of(project_id, as_of_text, clock.now())
    return Asked(lists.parse_query(q), cut, limit, cursor)


def find_cut(project_id: int, as_of_text: str) -> as_of.AsOf:
    """Read as of when a page is asked for."""
    return as_of.find_as_of(project_id, as_of_text, clock.now())


def find_past(project_id: int, as_of_text: str) -> as_of.AsOf | None:
    """Read as of when a page is asked for; None for now, which needs no words."""
    return find_cut(project_id, as_of_text) if as_of_text else None


def refuse_as_of(as_of_text: str) -> None:
    """Refuse an earlier time where only the present is kept: ignoring it would show a wrong one."""
    if as_of_text:
        raise as_of.BadAsOf(
            "Counts, tasks, producers, what was set aside and what needs someone are shown as they "
            "are now; leave as_of out."
        )


def receipt_list(project_id: int, wanted: Asked) -> Document:
    """Give a page of receipts."""
    return lists.list_receipts(project_id, wanted)


def receipt(project_id: int, ref: str, as_of_text: str = "") -> Document:
    """Give one receipt by its name."""
    return receipt_of(project_id, receipts.get_receipt(project_id, ref), as_of_text)


def receipt_of(project_id: int, found: Found, as_of_text: str = "") -> Document:
    """Give one receipt."""
    if not as_of_text:
        return receipts.receipt_document(project_id, found)
    cut = as_of.find_as_of(project_id, as_of_text, clock.now())
    if found.leaf_index is None or found.leaf_index > cut.leaf:
        raise as_of.BadAsOf(f"This receipt came later than {cut.label}.")
    return receipts.receipt_document(project_id, found, cut)


def explanation(project_id: int, ref: str, as_of_text: str = "") -> Document:
    """Explain one receipt by its name."""
    return explanation_of(project_id, receipts.get_receipt(project_id, ref), as_of_text)


def explanation_of(project_id: int, found: Found, as_of_text: str = "") -> Document:
    """Explain one receipt."""
    cut = as_of.find_as_of(project_id, as_of_text, clock.now())
    return explanations.explain_receipt(project_id, found, cut)


def count_rows(project_id: int, q: str, by: str, bucket: str) -> Document:
    """Count receipts by facets."""
    names = [name for name in by.split(",") if name]
    return counts.counts_document(project_id, lists.parse_query(q), names, bucket, clock.now())


def subject(project_id: int, kind: str, name: str, as_of_text: str = "") -> Document:
    """Say what became of one business object."""
    cut = as_of.find_as_of(project_id, as_of_text, clock.now())
    return subjects.subject_document(project_id, kind, name, cut)


def watched_since(project_id: int) -> datetime | None:
    """Give the first moment for which anything of a project was watched."""
    return watched.since(project_id, find_cut(project_id, ""))


def task_list(project_id: int) -> Document:
    """Give the tasks of the last 24 hours."""
    now = clock.now()
    return _with_feed(project_id, tasks.list_tasks(project_id, now - RECENT, now))


def task(project_id: int, name: str) -> Document:
    """Give what one task did in the last 24 hours."""
    now = clock.now()
    return _with_feed(project_id, tasks.task_document(project_id, name, now - RECENT, now))


def _with_feed(project_id: int, document: Document) -> Document:
    """Say with what is counted whether all that was sent is among it."""
    feed, window = lists.feed_of(project_id), document["window"]
    whole = window["complete"] and feeds.is_whole(feed)
    return {**document, "window": {**window, "complete": whole}, "feed": feed}


def producer_list(
    project_id: int, limit: int = lists.USUAL, cursor: str = "", *, incomplete: bool = False
) -> Document:
    """Give the producers, those first that are not complete."""
    return producers.list_producers(
        project_id, clock.now(), limit=limit, cursor=cursor, incomplete=incomplete
    )


def spool(project_id: int, name: str) -> Document:
    """Give all about one spool."""
    return waive.get_spool(project_id, name)


def policy_list(project_id: int, as_of_text: str = "") -> Document:
    """Give the recording policies, and from when to when each was in force."""
    return policies.list_policies(project_id, find_cut(project_id, as_of_text))


def set_aside_list(
    project_id: int, limit: int = lists.USUAL, cursor: str = "", *, open_only: bool = False
) -> Document:
    """Give a page of what was set aside."""
    return set_aside.list_set_aside(
        project_id, clock.now(), limit=limit, cursor=cursor, open_only=open_only
    )


def attention_list(project_id: int, *, acknowledged: bool = False) -> Document:
    """Give what needs someone."""
    return attention.attention_document(project_id, clock.now(), acknowledged=acknowledged)
