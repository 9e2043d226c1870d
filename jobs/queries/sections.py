"""What the jobs app adds to the explanation of a receipt: its job, and the other generations."""

from __future__ import annotations

from jobs.domain.facts import Fact, fact_of
from jobs.domain.job import Job
from jobs.domain.state import Known
from jobs.queries import fold, rows
from jobs.queries.rows import Document
from kit.ids import segment
from ledger.domain import words
from ledger.domain.statement import Statement

GENERATIONS = 8


def call_section(project_id: int, statement: Statement, end: int | None) -> Document | None:
    """Give the section about a receipt's job or call; None where it is about none."""
    fact = fact_of(statement)
    if fact is None or (fact.call is None and not fact.job):
        return None
    known = fold.load(project_id, fact, statement, end)
    job = known.jobs.get(fact.job)
    near = _near(fact, job, known)
    if job is None and not near:
        return None
    return {
        "title": "The job and its call",
        "rows": [*([_row("this job", job, known)] if job else []), *near],
        "links": _links(fact, job),
    }


def _near(fact: Fact, job: Job | None, known: Known) -> list[Document]:
    call = fact.call.group if fact.call is not None else (job.call if job else "")
    if not call:
        return []
    ordered = rows.in_order(one for one in known.calls[call].values() if one is not job)
    return [_row("in the same call", one, known) for one in ordered[-GENERATIONS:]]


def _row(label: str, job: Job, known: Known) -> Document:
    badge = words.badge(job.verdict)
    found = rows.generation(job, known)
    generation = ""
    if found is not None:
        rank = f"generation {found['rank']} " if found["rank"] else ""
        generation = f", {rank}(macrostep {found['value']})"
    return {
        "label": label,
        "text": badge.word,
        "tone": badge.tone,
        "icon": badge.icon,
        "more": f"job {job.number}{generation}",
        "path": "/".join(["jobs", *map(segment, (job.system, job.instance, job.number))]),
    }


def _links(fact: Fact, job: Job | None) -> list[Document]:
    scope = job.logical_scope if job else ""
    scope = scope or (fact.call.logical_scope if fact.call else "")
    invoke = job.invoke if job else (fact.call.invoke if fact.call else "")
    links = [("the run", f"scopes/{segment(scope)}")] if scope else []
    if scope and invoke:
        links.append(
            ("all generations of the call", f"scopes/{segment(scope)}/invokes/{segment(invoke)}")
        )
    return [{"label": label, "path": path} for label, path in links]
