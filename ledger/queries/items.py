"""Rows of the list of receipts as documents, the same for pages, JSON and exports."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from kit import bulk, ids
from kit.db import indexed_by
from ledger.domain import pointers, words
from ledger.queries.as_of import AsOf

Item = dict[str, Any]

_OWN = (
    "leaf_index", "receipt", "kind", "word", "state", "token", "id_text", "occurred_at",
    "received_at", "happened_at", "system", "instance", "job", "job_number", "task", "queue",
    "scope", "invoke", "generation", "recipe", "key_digest", "reason", "rule", "actor", "trace",
    "pointer_text",
)  # fmt: skip
_JUDGED = (
    "verdict", "verdict_when_due", "level", "pointer_state", "outcome", "due_at", "target",
    "terminal",
)  # fmt: skip
COLUMNS = (*_OWN, *_JUDGED)


def select(pointer: str) -> str:
    """Give the column list of a SELECT; `pointer` is the table that pointers are read from."""
    own = [f"e.{name}" for name in _OWN]
    if pointer == "e":
        return ", ".join([*own, *(f"e.{name}" for name in _JUDGED)])
    kept = {"verdict", "verdict_when_due", "level"}
    past = [f"coalesce(p.{name}, e.{name})" if name in kept else f"p.{name}" for name in _JUDGED]
    return ", ".join([*own, *past])


def items(project_id: int, rows: Iterable[Sequence[Any]], as_of: AsOf) -> list[Item]:
    """Make documents of rows that `select` named the columns of."""
    found = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
    subjects = _subjects(project_id, [row["leaf_index"] for row in found])
    receipts = {row["leaf_index"]: bulk.as_uuid(row["receipt"]) for row in found}
    deliveries = _deliveries(list(receipts.values()), as_of.at)
    targets = _refs(project_id, {row["target"] for row in found if row["target"] is not None})
    return [
        _item(row, receipts[row["leaf_index"]], subjects, deliveries, targets, as_of.at)
        for row in found
    ]


def _item(
    row: dict[str, Any],
    receipt: uuid.UUID,
    subjects: dict[int, list[Item]],
    deliveries: dict[uuid.UUID, int],
    targets: dict[int, str],
    at: datetime,
) -> Item:
    shown, code = _at_clock(row, at)
    badge = words.badge(code)
    return {
        "ref": ids.ref_of(receipt),
        "leaf_index": str(row["leaf_index"]),
        "id": row["id_text"],
        "kind": row["kind"],
        "word": row["word"],
        "state": row["state"],
        "verdict": {"code": code, "word": badge.word},
        "level": row["level"],
        "reason": row["reason"] or None,
        "task": row["task"] or None,
        "queue": row["queue"] or None,
        "source": "/".join(part for part in (row["system"], row["instance"]) if part) or None,
        "job": _job(row),
        "subjects": subjects.get(row["leaf_index"], []),
        "invoke": _invoke(row),
        "key": _key(row),
        "rule": row["rule"] or None,
        "actor": row["actor"] or None,
        "trace": row["trace"] or None,
        "pointer": _pointer(row, shown, targets),
        "occurred_at": _time(row["occurred_at"]),
        "received_at": _time(row["received_at"]),
        "deliveries": deliveries.get(receipt, 0),
    }


def _at_clock(row: dict[str, Any], at: datetime) -> tuple[str, str]:
    """Give the pointer's state and the verdict's code as they read at a clock."""
    state = row["pointer_state"] or ""
    shown = pointers.shown_state(state, _time(row["due_at"]), at) if state else ""
    is_overdue = state == "waiting" and shown == "dangling"
    return shown, row["verdict_when_due" if is_overdue else "verdict"]


def _pointer(row: dict[str, Any], shown: str, targets: dict[int, str]) -> Item | None:
    if not shown:
        return None
    return {
        "state": shown,
        "chip": pointers.chip(shown, row["outcome"] or ""),
        "outcome": row["outcome"] or None,
        "named": row["pointer_text"] or None,
        "target": targets.get(row["target"]),
        "due_at": _time(row["due_at"]),
    }


def _job(row: dict[str, Any]) -> Item | None:
    if not row["job_number"]:
        return None
    return {
        "system": row["system"] or None,
        "instance": row["instance"] or None,
        "id": row["job_number"],
    }


def _invoke(row: dict[str, Any]) -> Item | None:
    if not (row["scope"] or row["invoke"]):
        return None
    return {"scope": row["scope"], "id": row["invoke"], "generation": row["generation"] or None}


def _key(row: dict[str, Any]) -> Item | None:
    if not row["key_digest"]:
        return None
    return {"recipe": row["recipe"] or None, "digest": row["key_digest"]}


def _time(value: Any) -> datetime | None:
    return None if value is None else bulk.as_time(value)


def _subjects(project_id: int, leaves: Iterable[int]) -> dict[int, list[Item]]:
    statement = (
        f"SELECT leaf_index, type, subject FROM entry_subject{indexed_by('entry_subject_by_leaf')} "  # noqa: S608
        "WHERE project_id = %s AND leaf_index IN ({values})"
    )
    found: dict[int, list[Item]] = defaultdict(list)
    for leaf, kind, name in sorted(bulk.select_in(statement, [project_id], leaves)):
        found[leaf].append({"type": kind, "id": name})
    return found


def _deliveries(receipts: Sequence[uuid.UUID], at: datetime) -> dict[uuid.UUID, int]:
    """Count how often each receipt was handed over by a moment."""
    rows = "SELECT receipt, count(*) FROM delivery WHERE at <= %s AND receipt IN ({values})"
    found = {
        bulk.as_uuid(one): count
        for one, count in bulk.select_in(rows + " GROUP BY receipt", [at], receipts)
    }
    tails = "SELECT receipt, more FROM delivery_tail WHERE last_at <= %s AND receipt IN ({values})"
    for one, more in bulk.select_in(tails, [at], receipts):
        found[bulk.as_uuid(one)] = found.get(bulk.as_uuid(one), 0) + more
    return found


def _refs(project_id: int, leaves: Iterable[int]) -> dict[int, str]:
    statement = (
        "SELECT leaf_index, receipt FROM entry WHERE project_id = %s AND leaf_index IN ({values})"
    )
    rows = bulk.select_in(statement, [project_id], leaves)
    return {leaf: ids.ref_of(bulk.as_uuid(receipt)) for leaf, receipt in rows}
