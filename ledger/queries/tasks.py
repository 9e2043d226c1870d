"""Tasks: what each type of work did and declined to do, from the roll-ups."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from kit import bulk
from kit.search import Term, render
from ledger.domain.leaf import rfc3339
from ledger.domain.names import column
from ledger.projectors.roll_ups import bucket_of
from ledger.queries import heads, sights, watched
from ledger.queries.as_of import LAST_LEAF, AsOf
from ledger.queries.sights import InForce, Seen

Document = dict[str, Any]
MOST = 500
FAILED = ("fail", "discard")


def list_tasks(project_id: int, after: datetime, now: datetime) -> Document:
    """Give every task that happened since a moment, the busiest first."""
    start = bucket_of(after)
    rows = bulk.select_rows(
        "SELECT task, kind, reason, sum(count), sum(tallied), max(bucket_at) FROM roll_up "
        "WHERE project_id = %s AND bucket_at >= %s AND task <> '' GROUP BY task, kind, reason",
        [project_id, start],
    )
    found: dict[str, Document] = {}
    for task, *counted in rows:
        _add(found.setdefault(task, _empty(task)), *counted)
    ordered = sorted(found.values(), key=lambda one: (-_busy(one), one["task"]))
    seen = sights.find_sights(project_id, (one["task"] for one in ordered[:MOST]))
    in_force = sights.policies_in_force(project_id)
    for one in ordered[:MOST]:
        one |= _told_of(one["task"], seen.get(one["task"], Seen()), in_force)
        one["q"] = _query(one["task"], start)
        one["tallies_q"] = _tallies_query(seen.get(one["task"], Seen()), start)
    return {
        "items": ordered[:MOST],
        "window": _window(project_id, start, complete=len(ordered) <= MOST),
        "as_of": now,
    }


def task_document(project_id: int, task: str, after: datetime, now: datetime) -> Document:
    """Give what one task did since a moment: outcomes, reasons, deliveries beside executions."""
    start = bucket_of(after)
    rows = bulk.select_rows(
        "SELECT queue, kind, reason, sum(count), sum(tallied), max(bucket_at) FROM roll_up "
        "WHERE project_id = %s AND bucket_at >= %s AND task = %s GROUP BY queue, kind, reason",
        [project_id, start, column(task)],
    )
    one = _empty(task)
    for _, *counted in rows:
        _add(one, *counted)
    seen = sights.find_sights(project_id, [task]).get(column(task), Seen())
    return {
        **one,
        **_told_of(task, seen, sights.policies_in_force(project_id)),
        "queues": sorted({queue for queue, *_ in rows if queue}),
        "came_of": _came_of(one["kinds"]),
        "q": _query(task, start),
        "tallies_q": _tallies_query(seen, start),
        "window": _window(project_id, start, complete=True),
        "watched_since": watched.since(project_id, AsOf(LAST_LEAF, now, is_now=True), seen.sources),
        "as_of": now,
    }


def _told_of(task: str, seen: Seen, in_force: InForce) -> Document:
    return {**seen.as_json(), "recording": sights.recording_of(task, seen.sources, in_force)}


def _busy(one: Document) -> int:
    return int(one["receipts"] + one["tallied"]["done"] + one["tallied"]["retried"])


def _empty(task: str) -> Document:
    return {
        "task": task,
        "receipts": 0,
        "done": 0,
        "skipped": 0,
        "failed": 0,
        "tallied": {"done": 0, "retried": 0},
        "skipped_by_reason": {},
        "kinds": {},
        "deliveries": None,
        "executions": None,
        "last_at": None,
    }


_TALLIED = {"done": "done", "retry": "retried"}


def _add(one: Document, kind: str, reason: str, count: Any, tallied: Any, last_at: Any) -> None:
    singly, last = int(count), bulk.as_time(last_at)
    one["last_at"] = max(one["last_at"] or last, last)
    if tallied:
        one["tallied"][_TALLIED[kind]] += int(tallied)
    if singly:
        _add_receipts(one, kind, reason, singly)


def _add_receipts(one: Document, kind: str, reason: str, count: int) -> None:
    one["receipts"] += count
    one["kinds"][kind] = one["kinds"].get(kind, 0) + count
    if kind == "skip":
        one["skipped"] += count
        reasons = one["skipped_by_reason"]
        reasons[reason] = reasons.get(reason, 0) + count
    elif kind in FAILED:
        one["failed"] += count
    elif kind in _NUMBERED:
        name = _NUMBERED[kind]
        one[name] = (one[name] or 0) + count


_NUMBERED = {"done": "done", "start": "executions", "deliver": "deliveries"}


def _came_of(kinds: dict[str, int]) -> str:
    """Say what the ledger can see of a task by what has come of it, and what it cannot."""
    seen = [
        kind for kind in ("enqueue", "deliver", "start", "done", "fail", "skip") if kind in kinds
    ]
    missing = [kind for kind in ("start", "done", "skip") if kind not in kinds]
    text = f"Receipts came of: {', '.join(seen) or 'nothing'}."
    if missing:
        text += f" None came of {', '.join(missing)}: that is not known to be zero."
    return text


def _tallies_query(seen: Seen, start: datetime) -> str:
    """List the tallies of the task's sources: each is about many tasks, so not of it alone."""
    names = sorted({sights.joined(*source) for source in seen.sources} - {""})
    terms = [Term("kind", ("tally",)), Term("after", (rfc3339(start),))]
    return render([*terms, Term("source", tuple(names))] if names else terms)


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
