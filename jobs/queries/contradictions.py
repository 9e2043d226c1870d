"""Contradictions that stand: a page of them, those of one receipt, and what needs someone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jobs.domain.invariants import BY_CODE, INVARIANTS, RULE_WORDS
from kit import bulk, counts, ids, keyset
from ledger.queries import feeds, heads, lists
from ledger.queries.as_of import LAST_LEAF, AsOf
from ledger.registry import AttentionItem

NAME = "contradictions"
NO_OTHER = -1
Document = dict[str, Any]
_COLUMNS = "c.at_leaf, c.invariant, c.leaf_index, c.other_leaf, c.since, c.rule, c.sentence"
_ORDER = "ORDER BY c.at_leaf DESC, c.invariant, c.leaf_index, c.other_leaf"
_AFTER = (
    "(c.at_leaf < %s OR (c.at_leaf = %s AND (c.invariant, c.leaf_index, c.other_leaf) > "
    "(%s, %s, %s)))"
)
_RECEIPTS = (
    "SELECT leaf_index, receipt, kind, occurred_at, received_at, task, job FROM entry "
    "WHERE project_id = %s AND leaf_index IN ({values})"
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A page of contradictions as it is asked for."""

    cut: AsOf
    invariant: str = ""
    limit: int = lists.USUAL
    cursor: str = ""


def list_contradictions(project_id: int, wanted: Wanted) -> Document:
    """Give one page of what stands, the one that was found last first."""
    text, parameters = _standing(project_id, wanted.cut, wanted.invariant)
    after, top = _place(wanted.cursor)
    placed = f" AND {_AFTER}" if after else ""
    rows = bulk.select_rows(
        f"SELECT {_COLUMNS} {text}{placed} {_ORDER} LIMIT %s",
        [*parameters, *after, wanted.limit + 1],
    )
    page, has_more = keyset.take(rows, wanted.limit)
    top = top if top is not None else (page[0][0] if page else wanted.cut.leaf)
    reach = heads.reach_of(project_id)
    lag = reach.lag if wanted.cut.is_now else 0
    feed = lists.feed_of(project_id, wanted.cut)
    return {
        "items": _items(project_id, page),
        "next": _next(page[-1], top) if has_more else None,
        "newer": _count(f"{text} AND c.at_leaf > %s", [*parameters, top], wanted.cut.at).value
        if after
        else 0,
        "count": _count(text, parameters, wanted.cut.at),
        "window": {
            "searched": wanted.cut.end,
            "complete": lag == 0 and feeds.is_whole(feed),
            "from": None,
            "to": heads.head_of(project_id, wanted.cut.leaf) if wanted.cut.end else None,
            "lag": lag,
        },
        "feed": feed,
    }


def _standing(project_id: int, cut: AsOf, invariant: str = "") -> tuple[str, list[Any]]:
    """Give FROM and WHERE of what stands as of a leaf and a clock."""
    text = "FROM contradiction c WHERE c.project_id = %s"
    parameters: list[Any] = [project_id]
    if invariant:
        text, parameters = f"{text} AND c.invariant = %s", [*parameters, invariant]
    if cut.is_now:
        text = f"{text} AND c.gone_leaf IS NULL"
    else:
        text = f"{text} AND c.at_leaf <= %s AND (c.gone_leaf IS NULL OR c.gone_leaf > %s)"
        parameters += [cut.leaf, cut.leaf]
    return f"{text} AND c.since <= %s", [*parameters, cut.at]


def _place(cursor: str) -> tuple[list[Any], int | None]:
    """Give the values that a page goes on after, and the newest leaf of the first page."""
    if not cursor:
        return [], None
    at, invariant, leaf, other, top = keyset.decode(cursor, NAME, (int, str, int, int, int)).values
    return [at, at, invariant, leaf, other], int(str(top))


def _next(row: Sequence[Any], top: int) -> str:
    return keyset.encode(keyset.Cursor((*row[:4], top)), NAME)


def _count(text: str, parameters: list[Any], at: datetime) -> counts.Count:
    return counts.capped(f"SELECT 1 {text}", bulk.adapt(parameters), as_of=at)


def _items(project_id: int, rows: Iterable[Sequence[Any]]) -> list[Document]:
    listed = list(rows)
    leaves = {leaf for row in listed for leaf in row[2:4] if leaf != NO_OTHER}
    found = bulk.select_in(_RECEIPTS, [project_id], sorted(leaves))
    receipts = {row[0]: _receipt(row) for row in found}
    return [_item(row, receipts) for row in listed]


def _receipt(row: Sequence[Any]) -> Document:
    leaf, receipt, kind, occurred_at, received_at, task, job = row
    return {
        "ref": ids.ref_of(bulk.as_uuid(receipt)),
        "leaf_index": str(leaf),
        "kind": kind,
        "occurred_at": None if occurred_at is None else bulk.as_time(occurred_at),
        "received_at": bulk.as_time(received_at),
        "task": task or None,
        "job": job or None,
    }


def _item(row: Sequence[Any], receipts: dict[int, Document]) -> Document:
    _, code, leaf, other, since, rule, sentence = row
    invariant = BY_CODE[code]
    evidence = [
        {"is": said, **receipts[one]}
        for said, one in zip(invariant.pieces, (leaf, other), strict=True)
        if one in receipts
    ]
    return {
        "id": ids.public_id("x", code, str(leaf), str(other)),
        "invariant": code,
        "title": invariant.title,
        "sentence": sentence,
        "rule": rule,
        "rule_words": RULE_WORDS[rule],
        "since": bulk.as_time(since),
        "refs": [one["ref"] for one in evidence],
        "evidence": evidence,
    }


def of_receipt(project_id: int, leaf: int, end: int | None, at: datetime) -> list[Document]:
    """Give what a receipt contradicts as of the leaves below `end`, or of all, and a clock.

    `refs` are the other receipts alone.
    """
    cut = AsOf(LAST_LEAF if end is None else end - 1, at, is_now=end is None)
    text, parameters = _standing(project_id, cut)
    rows = bulk.select_rows(
        f"SELECT {_COLUMNS} {text} AND (c.leaf_index = %s OR c.other_leaf = %s) {_ORDER} LIMIT %s",
        [*parameters, leaf, leaf, lists.USUAL],
    )
    return [_without(one, leaf) for one in _items(project_id, rows)]


def _without(item: Document, leaf: int) -> Document:
    evidence = [one for one in item["evidence"] if one["leaf_index"] != str(leaf)]
    return {**item, "refs": [one["ref"] for one in evidence], "evidence": evidence}


def attention_items(project_id: int, now: datetime) -> Iterator[AttentionItem]:
    """Give an item for each invariant that anything breaks."""
    for code, found in census(project_id, now).items():
        invariant = BY_CODE[code]
        many = f"{found.count:,}" if found.count <= counts.CAP else f"{counts.CAP:,}+"
        sentence = "A contradiction stands" if found.count == 1 else f"{many} contradictions stand"
        yield AttentionItem(
            code=f"contradiction.{code}",
            subject="",
            sentence=f"{sentence}: {invariant.broken}.",
            since=found.since,
            severity="bad",
            facts=f"{found.newest}:{found.count}:{found.total}",
            next_label="see both sides",
            next_path=f"contradictions?invariant={code}",
            small="what was said cannot all be true",
        )


@dataclass(frozen=True, slots=True)
class Census:
    """How many contradictions of one invariant stand, up to one more than the cap."""

    count: int
    newest: int
    total: int
    since: datetime


def census(project_id: int, now: datetime) -> dict[str, Census]:
    """Count what stands by invariant, with one statement; what holds is left out."""
    parts: list[str] = []
    parameters: list[Any] = []
    for place, invariant in enumerate(INVARIANTS):
        text, values = _standing(project_id, AsOf(LAST_LEAF, now, is_now=True), invariant.code)
        parts.append(
            f"SELECT {place} AS place, count(*) AS many, max(at_leaf) AS newest, "  # noqa: S608
            f"sum(leaf_index) AS total, min(since) AS since FROM (SELECT c.at_leaf, c.leaf_index, "
            f"c.since {text} ORDER BY c.at_leaf DESC LIMIT {counts.CAP + 1}) AS found{place}"
        )
        parameters += values
    statement = (
        f"SELECT place, many, newest, total, since FROM ({' UNION ALL '.join(parts)}) AS counted "  # noqa: S608
        "WHERE many > 0 ORDER BY place"
    )
    return {
        INVARIANTS[place].code: Census(many, newest, int(total), bulk.as_time(since))
        for place, many, newest, total, since in bulk.select_rows(statement, parameters)
    }
