"""Tasks: what each type of work did and declined to do, from the roll-ups."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from access import queries as access_queries
from kit import bulk
from kit.search import Term, render
from ledger.domain.leaf import rfc3339
from ledger.domain.names import column
from ledger.projectors.roll_ups import bucket_of
from ledger.queries import heads

Document = dict[str, Any]
MOST = 500
FAILED = ("fail", "discard")


def list_tasks(project_id: int, after: datetime, now: datetime) -> Document:
    """Give every task that happened since a moment, the busiest first."""
    start = bucket_of(after)
    rows = bulk.select_rows(
        "SELECT task, kind, reason, sum(count), max(bucket_at) FROM roll_up "
        "WHERE project_id = %s AND bucket_at >= %s AND task <> '' GROUP BY task, kind, reason",
        [project_id, start],
    )
    found: dict[str, Document] = {}
    for task, kind, reason, count, last_at in rows:
        one = found.setdefault(task, _empty(task))
        _add(one, kind, reason, int(count), bulk.as_time(last_at))
    ordered = sorted(found.values(), key=lambda one: (-one["receipts"], one["task"]))
    for one in ordered:
        one["q"] = _query(one["task"], start)
    return {
        "items": ordered[:MOST],
        "window": _window(project_id, start, complete=len(ordered) <= MOST),
        "as_of": now,
    }


def task_document(project_id: int, task: str, after: datetime, now: datetime) -> Document:
    """Give what one task did since a moment: outcomes, reasons, deliveries beside executions."""
    start = bucket_of(after)
    rows = bulk.select_rows(
        "SELECT kind, reason, queue, sum(count), max(bucket_at) FROM roll_up "
        "WHERE project_id = %s AND bucket_at >= %s AND task = %s GROUP BY kind, reason, queue",
        [project_id, start, column(task)],
    )
    one = _empty(task)
    queues: set[str] = set()
    for kind, reason, queue, count, last_at in rows:
        _add(one, kind, reason, int(count), bulk.as_time(last_at))
        queues.update([queue] if queue else [])
    return {
        **one,
        "queues": sorted(queues),
        "sees": _sees(one["kinds"]),
        "q": _query(task, start),
        "window": _window(project_id, start, complete=True),
        "watched_since": access_queries.get_project(project_id).created_at,
        "as_of": now,
    }


def _empty(task: str) -> Document:
    return {
        "task": task,
        "receipts": 0,
        "done": 0,
        "skipped": 0,
        "failed": 0,
        "skipped_by_reason": {},
        "kinds": {},
        "deliveries": None,
        "executions": None,
        "last_at": None,
    }


def _add(one: Document, kind: str, reason: str, count: int, last_at: datetime) -> None:
    one["receipts"] += count
    one["kinds"][kind] = one["kinds"].get(kind, 0) + count
    one["last_at"] = max(one["last_at"] or last_at, last_at)
    if kind == "skip":
        one["skipped"] += count
        reasons = one["skipped_by_reason"]
        reasons[reason] = reasons.get(reason, 0) + count
    elif kind == "done":
        one["done"] += count
    elif kind in FAILED:
        one["failed"] += count
    if kind == "start":
        one["executions"] = (one["executions"] or 0) + count
    elif kind == "deliver":
        one["deliveries"] = (one["deliveries"] or 0) + count


def _sees(kinds: dict[str, int]) -> str:
    """Say what the ledger can see of a task by what has come of it, and what it cannot."""
    seen = [
        kind for kind in ("enqueue", "deliver", "start", "done", "fail", "skip") if kind in kinds
    ]
    missing = [kind for kind in ("start", "done", "skip") if kind not in kinds]
    text = f"Receipts came of: {', '.join(seen) or 'nothing'}."
    if missing:
        text += f" None came of {', '.join(missing)}: that is not known to be zero."
    return text


def _query(task: str, start: datetime) -> str:
    return render([Term("task", (task,)), Term("after", (rfc3339(start),))])


def _window(project_id: int, start: datetime, *, complete: bool) -> Document:
    reach = heads.reach_of(project_id)
    return {
        "from": start,
        "to": reach.derived_at,
        "complete": complete and reach.lag == 0,
        "lag": reach.lag,
    }
