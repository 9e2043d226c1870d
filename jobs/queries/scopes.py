"""One run: its calls by generation, why skips happened in it, and what is open."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from jobs.domain.state import Job, Known
from jobs.projectors import shelf
from jobs.queries import fold, rows, turned
from jobs.queries.rows import Document
from jobs.queries.turned import Turned
from kit import bulk
from ledger.domain import words
from ledger.domain.names import column
from ledger.queries import chosen
from ledger.queries.as_of import AsOf

MOST = 5_000
RUNS, STRIP = 60, 60


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


def stored_scopes(scope: str, known: Known) -> list[str]:
    """Give a run's scope and those that carry a generation of it."""
    carrying = {job.scope for job in known.jobs.values() if job.logical_scope == scope}
    return sorted({scope, *carrying})


def source_of(job: Job) -> str:
    """Give a job's source as `oban/prod-1`."""
    return f"{job.system}/{job.instance}".strip("/")


def scope_document(
    project_id: int, scope: str, source: str, known: Known, as_of: AsOf
) -> Document | None:
    """Give a run of one source: a strip of generations, its calls, its skips, its timers.

    Without a source it is the first that has the run: each counts its jobs by itself.
    """
    found = [job for job in known.jobs.values() if job.logical_scope == scope]
    skips = turned.skips_of(project_id, stored_scopes(scope, known), as_of)
    sources = sorted({source_of(job) for job in found} | {one.source for one in skips})
    if source and source not in sources:
        return None
    if not sources and not is_named(project_id, scope, as_of):
        return None
    source = source or next(iter(sources), "")
    jobs = rows.in_order(job for job in found if source_of(job) == source)
    mine = [one for one in skips if one.source == source]
    generations, strip = _strip(jobs, mine)
    calls: dict[str, list[Job]] = defaultdict(list)
    for job in jobs:
        if job.invoke:
            calls[job.invoke].append(job)
    leaves = [one.leaf for one in mine]
    return {
        "scope": scope,
        "source": source or None,
        "sources": sources,
        "packed": sorted({job.scope for job in jobs} - {scope}),
        "generations": generations,
        "strip": strip,
        "invokes": [_call(name, of_call, known, mine) for name, of_call in sorted(calls.items())],
        "runs": [rows.summary(job, known) for job in jobs[-RUNS:]],
        "skips": chosen.items_of(project_id, leaves[-RUNS:], as_of),
        "timers": [rows.summary(job, known) for job in jobs if job.is_timer],
        "reasons": [{"reason": one, "count": count} for one, count in _reasons(mine)],
        "skipped": len(mine),
        "unresolved": sum(one.is_unresolved for one in mine),
        "complete": len(known.jobs) < MOST,
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


def _reasons(skips: Sequence[Turned]) -> list[tuple[str, int]]:
    return sorted(Counter(one.verdict for one in skips).items(), key=lambda one: (-one[1], one[0]))


def _strip(jobs: Sequence[Job], skips: Sequence[Turned]) -> tuple[int, list[Document]]:
    """Count the distinct generations of the run, and tell of the newest what came of each."""
    found: dict[str, list[Job]] = defaultdict(list)
    for job in jobs:
        if job.generation:
            found[job.generation].append(job)
    skipped = Counter(one.generation for one in skips)
    lost = Counter(one.generation for one in skips if one.is_lost)
    only_skipped = [one for one in skipped if one and one not in found]
    values = sorted([*found, *only_skipped], key=numeric)
    return len(values), [
        _generation(value, found.get(value, []), skipped[value], lost[value])
        for value in values[-STRIP:]
    ]


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


def _call(invoke: str, jobs: Sequence[Job], known: Known, skips: Sequence[Turned]) -> Document:
    invokes = [job for job in jobs if job.is_invoke]
    latest = invokes[-1] if invokes else jobs[-1]
    mine = [one for one in skips if one.invoke == column(invoke)]
    return {
        "invoke": invoke,
        "source": source_of(latest) or None,
        "generations": len({job.generation for job in jobs}),
        "jobs": len(jobs),
        "skipped": len(mine),
        "lost": sum(one.is_lost for one in mine),
        "unresolved": sum(one.is_unresolved for one in mine),
        "latest": rows.summary(latest, known),
        "items": [rows.summary(job, known) for job in list(jobs)[-20:]],
    }
