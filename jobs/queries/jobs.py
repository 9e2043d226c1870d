"""The list of jobs, and one job with everything that is on record about it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from jobs.domain import runs
from jobs.domain.runs import Run
from jobs.domain.state import Job, Known
from jobs.projectors import shelf
from jobs.queries import fold, job_where, rows
from jobs.queries.rows import Document
from kit import bulk, counts, keyset
from kit.clock import now
from kit.http import bad_query
from kit.search import Query
from ledger import statements, tallied
from ledger.domain.book import is_of_job
from ledger.domain.names import column
from ledger.domain.statement import Statement
from ledger.domain.tallies import Tallied
from ledger.queries import chosen, feeds, heads, lists
from ledger.queries.as_of import AsOf

LIST = "jobs"
STATES_SHOWN = 200
SKIPS_SHOWN = 20
TRACES_SHOWN = 5
ROWS_ONLY = (
    "Its source was read as rows alone. An insert that was declined as a duplicate leaves no row, "
    "so whether anything was skipped because of this job is not knowable from here."
)
TALLIED_ONLY = (
    "It stands in a tally alone: when it was asked for, handed out and begun, and how often, was "
    "not sent."
)
_POINTING = (
    "WHERE e.project_id = %s AND e.leaf_index < %s AND e.kind = 'skip' "
    "AND e.leaf_index IN (SELECT w.leaf_index FROM pointer_wait w WHERE w.project_id = %s "
    "AND ((w.name_kind = 'job' AND w.name = %s) OR (w.name_kind = 'key' AND w.name = %s))) "
    "AND {p}.target IN (SELECT o.leaf_index FROM entry o WHERE o.project_id = %s AND o.job = %s)"
)


def list_jobs(project_id: int, query: Query, limit: int, cursor: str) -> Document:
    """Give a page of jobs, the one heard of last first."""
    if query.faults:
        raise bad_query(query)
    condition, parameters = job_where.where(project_id, query)
    after = int(str(keyset.decode(cursor, LIST, (int,)).values[0])) if cursor else None
    paged = f"{condition} AND last_leaf < %s" if after is not None else condition
    found = shelf.select_jobs(
        f"{paged} ORDER BY last_leaf DESC LIMIT {limit + 1}",
        [*parameters, *([] if after is None else [after])],
    )
    page = found[:limit]
    known = shelf.load_calls(project_id, {job.call for job in page if job.call})
    more = len(found) > limit
    reach, feed = heads.reach_of(project_id), lists.feed_of(project_id)
    counted = f"SELECT 1 FROM job WHERE {condition}"  # noqa: S608
    return {
        "items": [rows.summary(job, known) for job in page],
        "next": keyset.encode(keyset.Cursor((page[-1].last_leaf,)), LIST) if more else None,
        "count": counts.capped(counted, parameters, as_of=now()),
        "window": {
            "from": None,
            "to": reach.derived_at,
            "lag": reach.lag,
            "complete": not reach.lag and feeds.is_whole(feed),
        },
        "feed": feed,
    }


def find_sources(project_id: int, number: str) -> list[tuple[str, str, str]]:
    """Give (system, instance, number) of all jobs with a bare number, in order."""
    found = bulk.select_rows(
        "SELECT system, instance, number FROM job WHERE project_id = %s AND number = %s "
        "ORDER BY name LIMIT 100",
        [project_id, column(number)],
    )
    return [(system, instance, one) for system, instance, one in found]


def find_job(project_id: int, name: str, as_of: AsOf) -> tuple[Job, Known] | None:
    """Give a job and its call, as they are or as they were."""
    known = shelf.load_around(project_id, name)
    if known is not None and not as_of.is_now:
        known = fold.known_below(project_id, known, as_of.end)
    if known is None or name not in known.jobs:
        known = fold.known_by_tallies(project_id, name, as_of.end)
    return None if known is None else (known.jobs[name], known)


def job_document(project_id: int, job: Job, known: Known, as_of: AsOf) -> Document:
    """Give everything about one job (contract, section 5, "Shapes of the other answers")."""
    told = _statements(project_id, job.name, as_of)
    listed = tallied.find(project_id, [job.name], as_of.end).get(job.name, [])
    verdict = rows.verdict(job, known)
    return {
        "job": rows.job_facts(job),
        "verdict": verdict,
        "generation": rows.generation(job, known),
        "logical_scope": job.logical_scope or None,
        "original": None if verdict["other"] is None else {"job": verdict["other"]},
        "deliveries": rows.deliveries(job),
        "tallied": job.tallied_leaf is not None,
        "executions": rows.executions(job),
        "states": _states(told, listed),
        "runs": [_run(one) for one in runs.runs_of(told)],
        "traces": list(dict.fromkeys(one.trace_id for one in told if one.trace_id))[:TRACES_SHOWN],
        "skipped_because": _skips(project_id, job, as_of),
        "call": [rows.summary(one, known) for one in _siblings(job, known)],
        "as_of": {"leaf_index": str(as_of.leaf), "time": as_of.at},
        "cannot_know": _cannot_know(told, listed),
        "feed": lists.feed_of(project_id, as_of),
    }


def _statements(project_id: int, name: str, as_of: AsOf) -> list[Statement]:
    leaves = bulk.select_rows(
        "SELECT leaf_index FROM entry WHERE project_id = %s AND job = %s AND leaf_index < %s "
        "ORDER BY leaf_index DESC LIMIT %s",
        [project_id, name, as_of.end, STATES_SHOWN],
    )
    found = statements.load_leaves(project_id, [leaf for (leaf,) in leaves])
    return [one for _, one in sorted(found.items()) if one.is_readable and is_of_job(one)]


def _cannot_know(told: list[Statement], listed: Sequence[Tallied]) -> list[str]:
    if _is_rows_only(told):
        return [ROWS_ONLY]
    return [TALLIED_ONLY] if listed and not told else []


def _states(told: list[Statement], listed: Sequence[Tallied]) -> list[Document]:
    """Give a card for each receipt, and for each tally that lists the job, the newest first."""
    cards = [(_newest_first(one), _state(one)) for one in told]
    cards += [(_newest_first(one.tally), _tallied_state(one)) for one in listed]
    return [card for _, card in sorted(cards, key=lambda card: card[0], reverse=True)]


def _tallied_state(one: Tallied) -> Document:
    return {**_state(one.tally), "reason": ", ".join(one.outcomes)}


def _run(one: Run) -> Document:
    """Give one execution: when it began and ended, by which receipts, and whether another ran."""
    end = one.end
    return {
        "attempt": one.attempt,
        "begun_at": one.start.happened_at,
        "begun_by": one.start.ref,
        "ended_at": None if end is None else end.happened_at,
        "ended": None if end is None else end.kind,
        "ended_by": None if end is None else end.ref,
        "overlaps": one.overlaps,
    }


def _is_rows_only(told: list[Statement]) -> bool:
    return bool(told) and all(one.is_row for one in told)


def _newest_first(one: Statement) -> tuple[datetime, int]:
    return one.happened_at, one.leaf


def _state(one: Statement) -> Document:
    """Give one card: what the job became, by whose word, and why."""
    return {
        "state": one.job_state if one.is_row else one.kind,
        "at": one.happened_at,
        "attempt": one.attempt,
        "actor": one.actor_label or one.actor_id or None,
        "reason": one.reason,
        "via": one.via,
        "level": one.level,
        "ref": one.ref,
        "leaf_index": str(one.leaf),
    }


def _skips(project_id: int, job: Job, as_of: AsOf) -> Document:
    """Give the skips that point at a job, newest first, and how many there are."""
    rows = f"FROM entry e {_POINTING.format(p='e')}"
    past: list[int] = []
    if not as_of.is_now:
        rows, past = f"FROM entry e{chosen.PAST} {_POINTING.format(p='p')}", [as_of.leaf]
    parameters = [
        *past, project_id, as_of.end, project_id, job.name, job.key_digest or "-", project_id,
        job.name,
    ]  # fmt: skip
    leaves = bulk.select_rows(
        f"SELECT e.leaf_index {rows} ORDER BY e.leaf_index DESC LIMIT {SKIPS_SHOWN}",
        parameters,
    )
    counted = counts.capped(f"SELECT 1 {rows}", bulk.adapt(parameters), as_of=as_of.at)
    return {
        "count": counted,
        "items": chosen.items_of(project_id, [leaf for (leaf,) in leaves], as_of),
    }


def _siblings(job: Job, known: Known) -> list[Job]:
    """Give the other jobs of the call that lie nearest to this one."""
    if not job.call:
        return []
    ordered = rows.in_order(known.calls[job.call].values())
    place = [one.name for one in ordered].index(job.name)
    near: list[Any] = ordered[max(0, place - 10) : place + 11]
    return [one for one in near if one.name != job.name]
