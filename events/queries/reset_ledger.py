"""Resets of replay buffers that replicas told of: a page of them, the newest first.

Source: reference/pad.md sections 3.4 and 7 (point 3).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from events.domain.resets import REASONS, reset_row
from events.domain.times import moment
from events.queries import bus_documents, rows
from events.queries.rows import Document
from kit import bulk, counts, keyset
from ledger.queries import lists
from ledger.queries.as_of import AsOf

LIST = "resets"
COLUMNS = "leaf_index, place, replica, at, reason, word, workspace, fields"
_AFTER = " AND (at, leaf_index, place) < (%s, %s, %s)"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A page of resets as it is asked for; empty texts narrow nothing."""

    installation: str
    cut: AsOf
    reason: str = ""
    replica: str = ""
    limit: int = lists.USUAL
    cursor: str = ""


def list_resets(project_id: int, wanted: Wanted) -> Document:
    """Give a page of resets in the list form of the contract."""
    where, parameters = _where(project_id, wanted)
    after = _place(wanted.cursor)
    found = rows.select(
        COLUMNS,
        f"{where}{_AFTER if after else ''} ORDER BY at DESC, leaf_index DESC, place DESC LIMIT %s",
        [*parameters, *after[:3], wanted.limit + 1],
    )
    page, has_more = keyset.take(found, wanted.limit)
    top = after[3] if after else (page[0]["at"] if page else 0)
    newer = _count(f"{where} AND at > %s", [*parameters, top], wanted).value if after else 0
    return {
        "items": _documents(project_id, page),
        "next": _next(page[-1], top) if has_more else None,
        "newer": newer,
        "count": _count(where, parameters, wanted),
        "reasons": _by_reason(where, parameters),
        **bus_documents.around_list(project_id, wanted.cut),
    }


def _where(project_id: int, wanted: Wanted) -> tuple[str, list[Any]]:
    where = "FROM bus_reset WHERE project_id = %s AND installation_id = %s AND leaf_index <= %s"
    parameters: list[Any] = [project_id, wanted.installation, wanted.cut.leaf]
    for name in ("reason", "replica"):
        if value := getattr(wanted, name):
            where, parameters = f"{where} AND {name} = %s", [*parameters, value]
    return where, parameters


def _by_reason(where: str, parameters: Sequence[Any]) -> list[Document]:
    """Count the newest by reason and replica: a number beside what is expected of it."""
    newest = f"SELECT reason, replica {where} ORDER BY at DESC LIMIT {counts.CAP}"
    found = bulk.select_rows(
        f"SELECT reason, replica, count(*) FROM ({newest}) AS newest "  # noqa: S608
        "GROUP BY reason, replica ORDER BY reason, replica",
        parameters,
    )
    return [
        {
            "reason": one,
            "replica": replica,
            "count": many,
            "expected": REASONS[one].expected if one in REASONS else None,
        }
        for one, replica, many in found
    ]


def _place(cursor: str) -> list[int]:
    """Give the values that a page goes on after, and the newest time of the first page."""
    if not cursor:
        return []
    values = keyset.decode(cursor, LIST, (int, int, int, int)).values
    return [int(str(one)) for one in values]


def _next(row: Document, top: int) -> str:
    values = (row["at"], row["leaf_index"], row["place"], top)
    return keyset.encode(keyset.Cursor(values), LIST)


def _count(where: str, parameters: Sequence[Any], wanted: Wanted) -> counts.Count:
    return counts.capped(f"SELECT 1 {where}", bulk.adapt(parameters), as_of=wanted.cut.at)


def _documents(project_id: int, found: Sequence[Document]) -> list[Document]:
    refs = rows.refs_of(project_id, {row["leaf_index"] for row in found})
    return [{**_document(row), "ref": refs.get(row["leaf_index"])} for row in found]


def _document(row: Document) -> Document:
    """Give a reset beside what is known of its reason."""
    fields = _fields(row["fields"])
    told = reset_row(row["word"], fields, row["workspace"] or None)
    return {
        "reason": row["reason"],
        "spelled": row["word"],
        "known": told.is_known,
        "meaning": told.meaning or None,
        "expected": told.expected or None,
        "scope": told.scope,
        "floor": told.floor,
        "replica": row["replica"],
        "channel": told.workspace,
        "old_epoch": told.old_epoch,
        "new_epoch": told.new_epoch,
        "id": rows.as_text(told.id),
        "high_water": rows.as_text(told.high_water),
        "at": moment(row["at"]),
        "fields": fields,
        "leaf_index": str(row["leaf_index"]),
    }


def _fields(text: str) -> Document:
    try:
        found = json.loads(text or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
