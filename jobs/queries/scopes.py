"""One run: its calls by generation, why skips happened in it, and what is open."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from jobs.domain.state import Job, Known
from jobs.projectors import shelf
from jobs.queries import fold, rows
from jobs.queries.rows import Document
from kit import bulk
from ledger.domain import pointers, words
from ledger.domain.names import column
from ledger.queries import chosen
from ledger.queries.as_of import AsOf

MOST = 5_000
RUNS, STRIP = 100, 60
_SCOPES = (
    "SELECT DISTINCT scope FROM job WHERE project_id = %s AND logical_scope = %s AND scope <> ''"
)
_SKIPS = (
    "SELECT e.leaf_index, e.invoke, e.generation, e.verdict, e.pointer_state, e.due_at "
    "FROM entry e WHERE e.project_id = %s AND e.leaf_index < %s AND e.kind = 'skip' "
    "AND e.scope IN ({values})"
)


def logical_of(project_id: int, scope: str) -> str:
    """Give the run that a scope belongs to: itself, unless it carries a generation."""
    found = bulk.select_rows(
        "SELECT logical_scope FROM job WHERE project_id = %s AND scope = %s AND scope <> '' "
        "AND logical_scope <> scope LIMIT 1",
        [project_id, column(scope)],
    )
    return str(found[0][0]) if found else scope


def find_scope(project_id: int, scope: str, as_of: AsOf, invoke: str = "") -> Known:
    """Load the jobs of a run, or of one call of it, as they are or as they were."""
    of_call = " AND invoke = %s" if invoke else ""
    found = shelf.select_jobs(
        f"project_id = %s AND logical_scope = %s{of_call} ORDER BY first_leaf LIMIT {MOST}",
        [project_id, column(scope), *([column(invoke)] if invoke else [])],
    )
    known = shelf.know(project_id, found)
    if not as_of.is_now:
        known = fold.known_below(project_id, known, as_of.end)
    return known


def stored_scopes(project_id: int, scope: str) -> list[str]:
    """Give a run's scope and those that carry a generation of it."""
    text = column(scope)
    found = bulk.select_rows(_SCOPES, [project_id, text])
    return sorted({text, *(one for (one,) in found)})


def scope_document(project_id: int, scope: str, known: Known, as_of: AsOf) -> Document | None:
    """Give a run: a strip of generations, its calls, the reasons of its skips, its timers."""
    skips = _skips(project_id, stored_scopes(project_id, scope), as_of)
    if not known.jobs and not skips and not is_named(project_id, scope, as_of):
        return None
    jobs = rows.in_order(known.jobs.values())
    strip = _strip(jobs, skips)
    calls: dict[tuple[str, str], list[Job]] = defaultdict(list)
    for job in jobs:
        if job.invoke:
            calls[f"{job.system}/{job.instance}", job.invoke].append(job)
    return {
        "scope": scope,
        "packed": [one for one in stored_scopes(project_id, scope) if one != column(scope)],
        "generations": len(strip),
        "strip": strip[-STRIP:],
        "invokes": [_call(key, found, known, skips) for key, found in sorted(calls.items())],
        "runs": [rows.summary(job, known) for job in jobs[-RUNS:]],
        "skips": chosen.items_of(project_id, sorted(one["leaf"] for one in skips)[-RUNS:], as_of),
        "timers": [rows.summary(job, known) for job in jobs if job.is_timer],
        "reasons": [{"reason": one, "count": count} for one, count in _reasons(skips)],
        "skipped": len(skips),
        "unresolved": sum(one["unresolved"] for one in skips),
        "complete": len(jobs) < MOST,
        "as_of": {"leaf_index": str(as_of.leaf), "time": as_of.at},
    }


def is_named(project_id: int, scope: str, as_of: AsOf, invoke: str = "") -> bool:
    """Tell whether any receipt names a run, or a call of it."""
    of_call = " AND invoke = %s" if invoke else ""
    found = bulk.select_rows(
        f"SELECT 1 FROM entry WHERE project_id = %s AND scope = %s{of_call} "  # noqa: S608
        "AND leaf_index < %s LIMIT 1",
        [project_id, column(scope), *([column(invoke)] if invoke else []), as_of.end],
    )
    return bool(found)


def _skips(project_id: int, scopes: Sequence[str], as_of: AsOf) -> list[Document]:
    found = bulk.select_in(_SKIPS, [project_id, as_of.end], scopes)
    names = ("leaf", "invoke", "generation", "verdict", "pointer_state", "due_at")
    skips = [dict(zip(names, row, strict=True)) for row in found]
    for one in skips:
        due = None if one["due_at"] is None else bulk.as_time(one["due_at"])
        state = one["pointer_state"]
        shown = pointers.shown_state(state, due, as_of.at) if state else ""
        one["unresolved"] = pointers.is_unresolved(shown)
    return skips


def _reasons(skips: Sequence[Document]) -> list[tuple[str, int]]:
    return Counter(one["verdict"] for one in skips).most_common()


def _strip(jobs: Sequence[Job], skips: Sequence[Document]) -> list[Document]:
    """Give each distinct generation of the run: when it began and ended, and what came of it."""
    found: dict[str, list[Job]] = defaultdict(list)
    for job in jobs:
        if job.generation:
            found[job.generation].append(job)
    turned = Counter(one["generation"] for one in skips)
    lost = Counter(one["generation"] for one in skips if one["verdict"] in LOSING)
    only_skipped = [one for one in turned if one and one not in found]
    return [
        _generation(value, found.get(value, []), turned[value], lost[value])
        for value in sorted([*found, *only_skipped], key=numeric)
    ]


LOSING = frozenset({"dedup.lost_reentry", "dedup.residual_collision"})
"""Verdicts of skips after which the work of a generation never ran."""


def numeric(value: str) -> tuple[bool, int, str]:
    is_number = value.isascii() and value.isdecimal() and len(value) <= 18
    return not is_number, int(value) if is_number else 0, value


def _generation(value: str, jobs: Sequence[Job], skipped: int, lost: int) -> Document:
    begun = [job.inserted_at for job in jobs if job.inserted_at]
    ended = [job.finished_at for job in jobs if job.finished_at]
    ended_all = len(ended) == len(jobs) and bool(ended)
    worst = _worst(jobs)
    return {
        "value": value,
        "jobs": len(jobs),
        "skipped": skipped,
        "lost": lost,
        "begun_at": min(begun, default=None),
        "ended_at": max(ended) if ended_all else None,
        "verdict": worst,
        "word": words.badge(worst).word if worst else "no job of it is on record",
        "tone": "bad" if lost else words.badge(worst).tone if worst else "plain",
    }


_TONES = ("bad", "gap", "plain", "done", "skip")


def _worst(jobs: Sequence[Job]) -> str:
    """Give the verdict among some jobs that needs a person most."""
    ranked = sorted(jobs, key=lambda job: (_TONES.index(words.badge(job.verdict).tone), job.name))
    return ranked[0].verdict if ranked else ""


def _call(
    key: tuple[str, str], jobs: Sequence[Job], known: Known, skips: Sequence[Document]
) -> Document:
    source, invoke = key
    invokes = [job for job in jobs if job.is_invoke]
    latest = invokes[-1] if invokes else jobs[-1]
    turned = [one for one in skips if one["invoke"] == column(invoke)]
    return {
        "invoke": invoke,
        "source": source.strip("/") or None,
        "generations": len({job.generation for job in jobs}),
        "jobs": len(jobs),
        "skipped": len(turned),
        "lost": sum(one["verdict"] in LOSING for one in turned),
        "unresolved": sum(one["unresolved"] for one in turned),
        "latest": rows.summary(latest, known),
        "items": [rows.summary(job, known) for job in list(jobs)[-20:]],
    }


def find_jobs_of(known: Known, source: str, invoke: str) -> list[Any]:
    """Give the jobs of one call of one source, in the order of generations."""
    return rows.in_order(
        job
        for job in known.jobs.values()
        if job.invoke == invoke and source in ("", f"{job.system}/{job.instance}".strip("/"))
    )
