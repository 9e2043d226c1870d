"""The answers about jobs as documents: what pages show and what their JSON twins say."""

from __future__ import annotations

from typing import Any

from jobs.domain.invariants import BY_CODE
from jobs.queries import checks, contradictions, invokes, job_where, jobs, scopes
from jobs.queries.contradictions import Wanted
from kit.http import ProblemError
from ledger import documents
from ledger.domain.names import column
from ledger.domain.terms import JobName
from ledger.queries import lists

Document = dict[str, Any]


def not_on_record(what: str) -> ProblemError:
    """Say that nothing is on record, and what would put it there."""
    detail = f"No receipt names {what}, in this project and as of the time that was asked for."
    return ProblemError(404, "not_found", "Nothing is on record", detail)


def job_list(project_id: int, q: str, limit: int, cursor: str) -> Document:
    """Give a page of jobs."""
    return jobs.list_jobs(project_id, job_where.parse_query(q), limit, cursor)


def job(project_id: int, system: str, instance: str, number: str, as_of_text: str = "") -> Document:
    """Give one job of a named source."""
    cut = documents.find_cut(project_id, as_of_text)
    name = JobName(system, instance, number).text()
    found = jobs.find_job(project_id, column(name), cut)
    if found is None:
        raise not_on_record(f"the job {name}")
    return jobs.job_document(project_id, *found, cut)


def job_choices(project_id: int, number: str) -> list[tuple[str, str, str]]:
    """Give the sources that hold a job of a bare number, as (system, instance, number)."""
    found = jobs.find_sources(project_id, number)
    if not found:
        raise not_on_record(f"a job {number}")
    return found


def scope(project_id: int, name: str, source: str = "", as_of_text: str = "") -> Document:
    """Give one run."""
    cut = documents.find_cut(project_id, as_of_text)
    run = scopes.logical_of(project_id, name)
    known = scopes.find_scope(project_id, run, cut)
    found = scopes.scope_document(project_id, run, source, known, cut)
    if found is None:
        raise not_on_record(f"the scope {name}")
    return found


def invoke(
    project_id: int,
    scope_name: str,
    name: str,
    *,
    source: str = "",
    until: str = "",
    as_of_text: str = "",
) -> Document:
    """Give one call of a run across its generations."""
    cut = documents.find_cut(project_id, as_of_text)
    run = scopes.logical_of(project_id, scope_name)
    known = scopes.find_scope(project_id, run, cut, name)
    found = invokes.invoke_document(project_id, run, name, source, known, cut, until)
    if found is None:
        raise not_on_record(f"the invoke {name} of the scope {scope_name}")
    return found


def contradiction_list(
    project_id: int, invariant: str = "", limit: int = 0, cursor: str = "", as_of_text: str = ""
) -> Document:
    """Give a page of what cannot all be true, and what was checked for it.

    What was checked is told as it is now; an earlier time leaves it out.
    """
    if invariant and invariant not in BY_CODE:
        detail = f"An invariant is one of: {', '.join(BY_CODE)}."
        raise ProblemError(400, "invariant", "There is no such invariant", detail)
    cut = documents.find_cut(project_id, as_of_text)
    wanted = Wanted(cut, invariant, limit or lists.USUAL, cursor)
    found = contradictions.list_contradictions(project_id, wanted)
    return {**found, "checks": checks.checks(project_id, cut.at) if cut.is_now else []}
