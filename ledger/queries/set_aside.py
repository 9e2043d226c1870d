"""What was set aside, newest first, with the reasons and what became of it."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kit import bulk, ids, keyset
from kit.counts import CAP, Count
from ledger.models import Quarantine, Receipt, ReceiptBody, SetAside
from ledger.queries import feeds, lists

NAME = "quarantine"
BEGINNING = 120
Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Waiting:
    """How many receipts wait set aside, the oldest and the newest of them."""

    count: int
    oldest_at: datetime | None
    newest_leaf: int | None


def list_set_aside(
    project_id: int, now: datetime, *, limit: int, cursor: str = "", open_only: bool = False
) -> Document:
    """Give one page of what was set aside."""
    rows = SetAside.objects.filter(project_id=project_id)
    if open_only:
        rows = rows.filter(is_open=True)
    total = min(rows.count(), CAP + 1)
    if cursor:
        (after,) = keyset.decode(cursor, NAME, (int,)).values
        rows = rows.filter(leaf_index__lt=after)
    page, has_more = keyset.take(list(rows.order_by("-leaf_index")[: limit + 1]), limit)
    following = None
    if has_more:
        following = keyset.encode(keyset.Cursor((page[-1].leaf_index,)), NAME)
    waiting = waiting_set_aside(project_id)
    feed = lists.feed_of(project_id)
    return {
        "items": _items(list(page)),
        "next": following,
        "newer": 0,
        "window": {"searched": None, "complete": feeds.is_whole(feed), "from": None, "to": None},
        "count": Count(min(total, CAP), "capped" if total > CAP else "exact", now),
        "open": waiting.count,
        "oldest_at": waiting.oldest_at,
        "feed": feed,
    }


def waiting_set_aside(project_id: int) -> Waiting:
    """Say how much waits, since when."""
    ((count, oldest, newest),) = bulk.select_rows(
        "SELECT count(*), min(received_at), max(leaf_index) FROM set_aside "
        "WHERE project_id = %s AND is_open",
        [project_id],
    )
    return Waiting(count, oldest and bulk.as_time(oldest), newest)


def _items(rows: list[SetAside]) -> list[Document]:
    receipts = [row.receipt for row in rows]
    reasons = dict(Quarantine.objects.filter(pk__in=receipts).values_list("receipt", "reasons"))
    found = {row.pk: row for row in Receipt.objects.filter(pk__in=receipts)}
    bodies = {row.pk: row for row in ReceiptBody.objects.filter(pk__in=receipts)}
    names = _token_names({one.token_id for one in found.values() if one.token_id})
    return [_item(row, reasons, found[row.receipt], bodies.get(row.receipt), names) for row in rows]


def _item(
    row: SetAside,
    reasons: dict[uuid.UUID, str],
    receipt: Receipt,
    body: ReceiptBody | None,
    names: dict[int, str],
) -> Document:
    state = "open" if row.is_open else "redriven" if row.redriven_leaf is not None else "closed"
    return {
        "ref": ids.ref_of(row.receipt),
        "leaf_index": str(row.leaf_index),
        "state": state,
        "reasons": json.loads(reasons.get(row.receipt, "[]")),
        "received_at": row.received_at,
        "length": receipt.length,
        "first_bytes": None
        if body is None
        else bytes(body.raw[:BEGINNING]).decode("utf-8", "replace"),
        "token": names.get(receipt.token_id or 0),
        "redriven_leaf": None if row.redriven_leaf is None else str(row.redriven_leaf),
        "closed_leaf": None if row.closed_leaf is None else str(row.closed_leaf),
        "closed_reason": row.closed_reason or None,
    }


def _token_names(tokens: set[int]) -> dict[int, str]:
    statement = "SELECT id, name FROM access_apitoken WHERE id IN ({values})"
    return dict(bulk.select_in(statement, [], tokens))


def is_settled(project_id: int, receipt: uuid.UUID) -> bool:
    """Say whether a receipt that was set aside has been closed or sent through by now."""
    rows = SetAside.objects.filter(project_id=project_id, receipt=receipt, is_open=False)
    return rows.exists()
