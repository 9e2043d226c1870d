"""Jobs and calls as they were: folded again from their receipts up to a leaf."""

from __future__ import annotations

from jobs.domain.facts import Fact, fact_of, tallied_fact
from jobs.domain.judging import judge_job
from jobs.domain.state import Job, Known
from jobs.projectors import shelf
from kit import bulk
from kit.http import ProblemError
from ledger import statements, tallied
from ledger.domain.names import column
from ledger.domain.statement import Statement

MOST = 5_000
_BY_JOB = (
    "SELECT leaf_index FROM entry WHERE project_id = %s AND leaf_index < %s AND job IN ({values})"
)
_BY_SCOPE = (
    "SELECT leaf_index FROM entry WHERE project_id = %s AND leaf_index < %s AND invoke IN "
    "(SELECT job.invoke FROM job WHERE job.project_id = entry.project_id "
    "AND job.scope = entry.scope) AND scope IN ({values})"
)


def load(project_id: int, fact: Fact, statement: Statement, end: int | None) -> Known:
    """Load the jobs and the call that one receipt is about, now or as its log was below `end`."""
    if end is None:
        return shelf.load_jobs(project_id, [fact], [statement])
    return known_below(project_id, shelf.load(project_id, [fact], [statement]), end)


def known_below(project_id: int, known: Known, end: int) -> Known:
    """Fold the jobs and calls of `known` again from their receipts below `end`.

    Raises a problem for more than 5,000 receipts: a page must not take minutes.
    """
    leaves = {leaf for leaf in _leaves(project_id, known, end) if leaf < end}
    if len(leaves) > MOST:
        detail = f"{len(leaves):,} receipts would have to be read again; the limit is {MOST:,}."
        raise ProblemError(400, "as_of", "This cannot be shown as of an earlier time", detail)
    past = Known()
    past.tallied = told_by_tallies(project_id, known, end)
    told = [fact for each in past.tallied.values() for fact in each]
    read = map(fact_of, statements.load_leaves(project_id, leaves).values())
    for fact in sorted([*told, *filter(None, read)], key=lambda each: each.leaf):
        if fact.kind == "tallied":
            past.take_tallied(fact)
        else:
            past.take(fact)
    for job in past.jobs.values():
        ruling = judge_job(job, past)
        job.verdict, job.rule = ruling.code, ruling.rule
    return past


def known_by_tallies(project_id: int, name: str, end: int) -> Known | None:
    """Fold a job that stands in tallies below `end` and nowhere else; None where none lists it."""
    told = tallied.find(project_id, [name], end).get(name, [])
    if not told:
        return None
    first, *_ = facts = [tallied_fact(each, name) for each in told]
    job = Job(
        name, first.system, first.instance, first.number,
        first_leaf=first.leaf, last_leaf=first.leaf,
    )  # fmt: skip
    known = Known()
    known.add_job(job)
    for fact in facts:
        known.take_tallied(fact)
    ruling = judge_job(job, known)
    job.verdict, job.rule = ruling.code, ruling.rule
    return known


def told_by_tallies(project_id: int, known: Known, end: int) -> dict[str, list[Fact]]:
    """Give what the tallies below `end` tell of the jobs that are known."""
    found = tallied.find(project_id, known.jobs.keys(), end)
    return {name: [tallied_fact(each, name) for each in told] for name, told in found.items()}


def _leaves(project_id: int, known: Known, end: int) -> set[int]:
    jobs = known.jobs.values()
    leaves = {job.deleted_leaf for job in jobs if job.deleted_leaf is not None}
    scopes = {column(job.scope) for job in jobs if job.call}
    for told in known.told.values():
        leaves.update(told)
        scopes.update(column(one.scope) for one in told.values())
    found = bulk.select_in(_BY_JOB, [project_id, end], known.jobs)
    found += bulk.select_in(_BY_SCOPE, [project_id, end], scopes)
    return leaves | {leaf for (leaf,) in found}
