"""One call of a run: a matrix of generation by attempt, with what was asked again and cancelled."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import pairwise

from jobs.domain.state import Job, Known, Told
from jobs.queries import rows, scopes, turned
from jobs.queries.rows import Document
from jobs.queries.turned import Turned
from kit.http import ProblemError
from ledger.queries import chosen
from ledger.queries.as_of import AsOf

COLUMNS = 12
CELLS = 200
"""How many skips are drawn in all columns together."""


def invoke_document(
    project_id: int, scope: str, invoke: str, source: str, known: Known, as_of: AsOf, at: str = ""
) -> Document | None:
    """Give one call of one source across its generations; `at` is where the columns end.

    Without a source it is the first that has the call: each counts its jobs by itself.
    """
    found = [job for job in known.jobs.values() if job.invoke == invoke]
    found = [job for job in found if job.logical_scope == scope]
    stored = scopes.stored_scopes(scope, known)
    skips = turned.skips_of(project_id, stored, as_of, invoke)
    sources = sorted({scopes.source_of(job) for job in found} | {one.source for one in skips})
    if source and source not in sources:
        return None
    if not sources and not scopes.is_named(project_id, scope, as_of, invoke):
        return None
    source = source or next(iter(sources), "")
    jobs = rows.in_order(job for job in found if scopes.source_of(job) == source)
    mine = [one for one in skips if one.source == source]
    return {
        "scope": scope,
        "invoke": invoke,
        "source": source or None,
        "sources": sources,
        "sentence": _sentence(scope, invoke, jobs, mine),
        "needs_someone": any(one.is_lost for one in mine) or _is_suspect(jobs),
        **_columns(project_id, jobs, mine, known, as_of, at),
        "as_of": {"leaf_index": str(as_of.leaf), "time": as_of.at},
    }


def _columns(
    project_id: int,
    jobs: Sequence[Job],
    skips: Sequence[Turned],
    known: Known,
    as_of: AsOf,
    at: str,
) -> Document:
    values = _values(jobs, skips)
    shown = _window(values, at)
    by_generation = _by_generation(jobs)
    generations = [_generation(value, by_generation.get(value, []), known) for value in shown]
    leaves = [one.leaf for one in skips if one.generation in shown]
    drawn = chosen.items_of(project_id, leaves[-CELLS:], as_of)
    first = values.index(shown[0]) if shown else 0
    return {
        "generations": generations,
        "rows": _matrix(generations, by_generation, drawn, _cancels(known, jobs)),
        "drift": _drift(generations, by_generation),
        "count": len(values),
        "older": values[first - 1] if first > 0 else None,
        "newer": _newer(values, shown),
        "skips": drawn,
        "skipped": len(skips),
        "complete": len(leaves) <= CELLS,
    }


def _generation_of(item: Document) -> str:
    invoke = item["invoke"] or {}
    return invoke.get("generation") or ""


def _values(jobs: Sequence[Job], skips: Sequence[Turned]) -> list[str]:
    """Give all generations, those of which only skips are on record among them."""
    found = {job.generation for job in jobs} | {one.generation for one in skips}
    return sorted(found, key=scopes.numeric)


def _window(values: Sequence[str], at: str) -> list[str]:
    if at and at not in values:
        raise ProblemError(
            400, "until", "No such generation", "`until` takes a generation of this call."
        )
    end = values.index(at) + 1 if at else len(values)
    return list(values[max(0, end - COLUMNS) : end])


def _newer(values: Sequence[str], shown: Sequence[str]) -> str | None:
    if not shown or shown[-1] == values[-1]:
        return None
    return values[min(len(values) - 1, values.index(shown[-1]) + COLUMNS)]


def _by_generation(jobs: Iterable[Job]) -> dict[str, list[Job]]:
    found: dict[str, list[Job]] = defaultdict(list)
    for job in jobs:
        found[job.generation].append(job)
    return found


def _generation(value: str, jobs: Sequence[Job], known: Known) -> Document:
    main = next((job for job in jobs if job.is_invoke), jobs[0] if jobs else None)
    place = rows.generation(main, known) if main else None
    return {
        "value": value or None,
        "rank": place["rank"] if place else None,
        "asked_at": main.inserted_at if main else None,
        "job": rows.summary(main, known) if main else None,
        "items": [rows.summary(job, known) for job in jobs if job.is_child_start],
        "level": main.level if main else None,
    }


Matrix = list[Document]


def _matrix(
    generations: Sequence[Document],
    jobs: dict[str, list[Job]],
    skips: Sequence[Document],
    cancels: Sequence[Told],
) -> Matrix:
    """Give the rows: asked for, asked again, each attempt, each delivery, each cancel."""
    values = [one["value"] or "" for one in generations]
    mains = [next((job for job in jobs.get(value, []) if job.is_invoke), None) for value in values]
    again: list[Document] = [
        {"skips": [one for one in skips if _generation_of(one) == value]} for value in values
    ]
    found: Matrix = [
        {"label": "asked for", "cells": [{"at": one["asked_at"]} for one in generations]},
    ]
    if any(cell["skips"] for cell in again):
        found.append({"label": "asked again", "cells": again})
    most = max((rows.executions(job) for job in mains if job), default=0)
    for attempt in range(1, most + 1):
        cells = [_attempt(job, attempt) for job in mains]
        found.append({"label": f"attempt {attempt}", "cells": cells})
    if any(job and job.deliveries for job in mains):
        cells = [{"text": f"{job.deliveries} recorded" if job else ""} for job in mains]
        found.append({"label": "deliveries", "cells": cells})
    for told in cancels:
        cells = [_cancelled(job, told) for job in mains]
        found.append({"label": "cancel", "at": told.at, "leaf": str(told.leaf), "cells": cells})
    return found


def _attempt(job: Job | None, attempt: int) -> Document:
    """Say what became of one attempt; of earlier ones a row keeps only how many failed."""
    if job is None or attempt > rows.executions(job):
        return {"text": "" if job is None or rows.executions(job) else "never started"}
    if attempt < rows.executions(job):
        failed = job.errors >= attempt
        return {"state": "failed" if failed else "", "text": "" if failed else "no outcome told"}
    return {"state": job.state, "at": job.finished_at or job.attempted_at, "last": True}


def _cancelled(job: Job | None, told: Told) -> Document:
    """Say how a cancel met the job of one generation."""
    if job is None or (job.inserted_at is not None and job.inserted_at > told.at):
        return {"text": ""}
    if job.scope != told.scope:
        return {"text": "another scope, not matched"}
    if job.state == "cancelled" and _is_near(job.finished_at, told.at):
        return {"state": "cancelled"}
    if job.was_executing(told.at):
        return {"text": "executing, not reached by design"}
    if job.finished_at is not None and job.finished_at <= told.at:
        return {"text": "had ended already"}
    return {"text": "not known to be reached"}


def _is_near(one: datetime | None, other: datetime) -> bool:
    return one is not None and abs((one - other).total_seconds()) <= 1


def _cancels(known: Known, jobs: Sequence[Job]) -> list[Told]:
    calls = {job.call for job in jobs}
    found = [told for call in sorted(calls) for told in known.cancels[call] if not told.job]
    return sorted(found, key=lambda told: (told.at, told.leaf))[-20:]


_COMPARED = ("element", "handler", "type", "src", "queue", "task")


def _drift(generations: Sequence[Document], jobs: dict[str, list[Job]]) -> list[Document]:
    """Name what differs between neighbouring generations beside the generation itself."""
    mains = [
        (one["value"], job)
        for one in generations
        for job in jobs.get(one["value"] or "", [])
        if job.is_invoke
    ]
    return [
        {"field": name, "from": before[0], "to": after[0],
         "was": getattr(before[1], name), "is": getattr(after[1], name)}
        for before, after in pairwise(mains)
        for name in _COMPARED
        if getattr(before[1], name) and getattr(after[1], name)
        and getattr(before[1], name) != getattr(after[1], name)
    ]  # fmt: skip


def _sentence(scope: str, invoke: str, jobs: Sequence[Job], skips: Sequence[Turned]) -> str:
    """Say in one sentence what became of the call, the worst first."""
    ran = [job for job in jobs if job.is_invoke]
    lost = [one for one in skips if one.is_lost]
    if lost:
        many = "1 start" if len(lost) == 1 else f"{len(lost):,} starts"
        were = "was" if len(lost) == 1 else "were"
        return f"{many} of {invoke} in {scope} {were} lost: the work never ran."
    if _is_suspect(ran):
        return (
            f"{invoke} ran more than once in {scope}, and an older answer may have been taken for "
            "a newer one's."
        )
    number = len({job.generation for job in ran})
    if not number:
        return f"No job of {invoke} in {scope} is on record."
    times = "in 1 generation" if number == 1 else f"in {number:,} generations"
    again = f", and was asked for again {len(skips):,} times" if len(skips) > 1 else ""
    again = ", and was asked for again once" if len(skips) == 1 else again
    return f"{invoke} was stored {times} of {scope}{again}."


def _is_suspect(jobs: Iterable[Job]) -> bool:
    return any(
        job.verdict in ("delivery.stale_suspect", "cancel.swept_after_stale") for job in jobs
    )
