"""Answers really given to clients that resumed: the ledger of them, and those beside a lane."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from events.domain import codes
from events.domain.axis import Axis
from events.domain.resume import SENTENCES
from events.domain.times import moment
from events.queries import bus_documents, rows
from events.queries.rows import Document
from kit import bulk, counts, keyset
from ledger.queries import lists
from ledger.queries.as_of import AsOf

LIST = "resumes"
TICKS = 2_000
ANY = "any"
"""In place of a code: every answer that the rule does not give."""
CODES = (codes.SILENT_SKIP, codes.AMBIGUOUS_RESUME, codes.NEEDLESS_RESYNC)
COLUMNS = (
    "leaf_index, bus, lane, installation, bus_name, replica, channel, at, cursor, cursor_epoch, "
    "given, served, first, last, answer, rule, code, missed_count, missed, epoch, floor, "
    "high_water, is_cold, is_partial"
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A page of answers as it is asked for; `code` may be `any` for all that disagree."""

    buses: Sequence[str]
    cut: AsOf
    code: str = ""
    limit: int = lists.USUAL
    cursor: str = ""


def list_answers(project_id: int, wanted: Wanted) -> Document:
    """Give a page of answers, the newest number first, in the list form of the contract."""
    where, parameters = _where(project_id, wanted)
    after = _place(wanted.cursor)
    placed = " AND leaf_index < %s" if after else ""
    found = rows.select(
        COLUMNS,
        f"{where}{placed} ORDER BY leaf_index DESC LIMIT %s",
        [*parameters, *after[:1], wanted.limit + 1],
    )
    page, has_more = keyset.take(found, wanted.limit)
    top = after[1] if after else (page[0]["leaf_index"] if page else 0)
    return {
        "items": documents(project_id, page),
        "next": _next(page[-1], top) if has_more else None,
        "newer": _count(f"{where} AND leaf_index > %s", [*parameters, top], wanted).value
        if after
        else 0,
        "count": _count(where, parameters, wanted),
        **bus_documents.around_list(project_id, wanted.cut),
    }


def in_range(
    project_id: int, lanes: Sequence[str], axis: Axis, cut: AsOf
) -> dict[str, list[Document]]:
    """Give the answers of some lanes in a range as ticks, by lane, in order of time."""
    where = (
        f"FROM bus_resume WHERE project_id = %s AND lane IN ({rows.marks(lanes)}) "
        "AND at >= %s AND at < %s AND leaf_index <= %s ORDER BY lane, at, leaf_index LIMIT %s"
    )
    given = [project_id, *lanes, axis.begin, axis.end, cut.leaf, TICKS]
    found = rows.select("leaf_index, lane, at, given, code", where, given)
    refs = rows.refs_of(project_id, {row["leaf_index"] for row in found})
    ticks: dict[str, list[Document]] = defaultdict(list)
    for row in found:
        tick = {"at_ms": axis.ms(row["at"]), "answer": row["given"], "code": row["code"] or None}
        ticks[row["lane"]].append({**tick, "ref": refs.get(row["leaf_index"])})
    return ticks


def of_lane(
    project_id: int, lane: str, channel: str, cut: AsOf, limit: int, cursor: str = ""
) -> list[Document]:
    """Give the newest answers of a lane in a channel, or those to one cursor."""
    where = "FROM bus_resume WHERE project_id = %s AND lane = %s AND leaf_index <= %s"
    parameters: list[Any] = [project_id, lane, cut.leaf]
    if channel:
        where, parameters = f"{where} AND channel IN (%s, '')", [*parameters, channel]
    if cursor:
        where, parameters = f"{where} AND cursor = %s", [*parameters, cursor]
    order = "ORDER BY at DESC, leaf_index DESC LIMIT %s"
    return documents(project_id, rows.select(COLUMNS, f"{where} {order}", [*parameters, limit]))


def documents(project_id: int, found: Sequence[Document]) -> list[Document]:
    """Give answers with the rule's beside them, and with what their clients missed."""
    refs = rows.refs_of(project_id, {row["leaf_index"] for row in found})
    return [_document(row, refs) for row in found]


def _document(row: Document, refs: dict[int, str]) -> Document:
    numbers = ("floor", "high_water")
    return {
        "ref": refs.get(row["leaf_index"]),
        "leaf_index": str(row["leaf_index"]),
        "at": moment(row["at"]),
        "installation": row["installation"],
        "bus": row["bus_name"],
        "bus_id": row["bus"],
        "lane": row["lane"],
        "replica": row["replica"],
        "channel": row["channel"] or None,
        "cursor": row["cursor"],
        "cursor_epoch": row["cursor_epoch"],
        "given": row["given"],
        "served": row["served"],
        "first": row["first"],
        "last": row["last"],
        "answer": row["answer"],
        "rule": row["rule"],
        "sentence": SENTENCES.get(row["rule"], ""),
        "code": row["code"] or None,
        "missed": json.loads(row["missed"] or "[]"),
        "missed_count": row["missed_count"],
        "epoch": row["epoch"],
        "cold": bool(row["is_cold"]),
        "partial": bool(row["is_partial"]),
        **{name: rows.as_text(row[name]) for name in numbers},
    }


def _where(project_id: int, wanted: Wanted) -> tuple[str, list[Any]]:
    where = (
        f"FROM bus_resume WHERE project_id = %s AND bus IN ({rows.marks(wanted.buses)}) "
        "AND leaf_index <= %s"
    )
    parameters: list[Any] = [project_id, *wanted.buses, wanted.cut.leaf]
    if wanted.code == ANY:
        return f"{where} AND code <> ''", parameters
    if wanted.code:
        return f"{where} AND code = %s", [*parameters, wanted.code]
    return where, parameters


def _place(cursor: str) -> list[int]:
    if not cursor:
        return []
    leaf, top = keyset.decode(cursor, LIST, (int, int)).values
    return [int(str(leaf)), int(str(top))]


def _next(row: Document, top: int) -> str:
    return keyset.encode(keyset.Cursor((row["leaf_index"], top)), LIST)


def _count(where: str, parameters: Sequence[Any], wanted: Wanted) -> counts.Count:
    return counts.capped(f"SELECT 1 {where}", bulk.adapt(parameters), as_of=wanted.cut.at)
