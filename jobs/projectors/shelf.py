"""Jobs and calls as they are stored: read into the domain's state, and written back."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Any

from jobs.domain.facts import Fact, fact_of, tallied_fact
from jobs.domain.state import Job, Known, Told, groups_of
from kit import bulk
from ledger import tallied
from ledger.domain.names import column
from ledger.domain.statement import Statement
from ledger.statements import Item

JOB_COLUMNS = tuple(one.name for one in fields(Job))
TOLD_COLUMNS = tuple("leaf_index" if one.name == "leaf" else one.name for one in fields(Told))
_JOB_TIMES = tuple(place for place, name in enumerate(JOB_COLUMNS) if name.endswith("_at"))
_values_of_job = attrgetter(*JOB_COLUMNS)
_values_of_told = attrgetter(*(one.name for one in fields(Told)))
_JOBS = f"SELECT {', '.join(JOB_COLUMNS)} FROM job WHERE project_id = %s AND "  # noqa: S608
_TOLD = (
    f"SELECT {', '.join(TOLD_COLUMNS)} FROM call_receipt "  # noqa: S608
    "WHERE project_id = %s {more} AND call IN ({{values}})"
)
_LATEST = f"{_JOBS}key_digest = %s AND key_leaf IS NOT NULL ORDER BY key_leaf DESC LIMIT 1"
# Each is two SELECTs of one compound statement, of which SQLite allows 500.
_KEYS_AT_ONCE = 200
_DELETE = "DELETE FROM job WHERE project_id = %s AND name IN ({values})"


def load(
    project_id: int,
    facts: Sequence[Fact],
    statements: Sequence[Statement],
    more: Iterable[str] = (),
) -> Known:
    """Load the jobs and calls that some receipts are about, with the receipts about the calls.

    `more` are the names of further jobs.
    """
    known = load_jobs(project_id, facts, statements, more)
    calls = {group for fact in facts if fact.call for group in groups_of(fact.call)}
    for told in find_told(project_id, calls | set(known.calls)):
        known.add_told(told)
    return known


def load_jobs(
    project_id: int,
    facts: Sequence[Fact],
    statements: Sequence[Statement],
    more: Iterable[str] = (),
) -> Known:
    """Load the jobs that some receipts are about, and those of their calls and keys."""
    known = Known()
    names = {*_names(facts, statements), *more}
    found = [*find_jobs(project_id, "name", names), *find_jobs(project_id, "prev", names)]
    keys = {fact.key_digest for fact in facts if fact.kind in ("enqueue", "row") and not fact.call}
    found += find_latest(project_id, keys - {""})
    found += find_jobs(project_id, "name", {job.prev for job in found} - {""})
    calls = {group for fact in facts if fact.call for group in groups_of(fact.call)}
    calls.update(job.call for job in found if job.call)
    for job in [*found, *find_jobs(project_id, "call", calls)]:
        known.add_job(known.jobs.get(job.name, job))
    return known


def find_tallied(project_id: int, items: Sequence[Item]) -> set[str]:
    """Give the jobs that a batch's tallies list and that have receipts of their own as well."""
    listed = {name for item in items for name in item.listed}
    named = "SELECT name FROM job WHERE project_id = %s AND name IN ({values})"
    return {name for (name,) in bulk.select_in(named, [project_id], sorted(listed))}


def add_tallied(project_id: int, known: Known, facts: Sequence[Fact], end: int) -> None:
    """Add what tallies below `end` tell of jobs that are not known before this batch."""
    fresh = _names(facts, ()) - known.jobs.keys()
    found = tallied.find(project_id, fresh, end)
    known.tallied = {
        name: [tallied_fact(each, name) for each in told] for name, told in found.items()
    }


def load_named(project_id: int, statements: Sequence[Statement]) -> Known:
    """Load the jobs that some receipts are about or name, without their calls."""
    known = Known()
    facts = [fact for one in statements if (fact := fact_of(one)) is not None]
    for job in find_jobs(project_id, "name", _names(facts, statements)):
        known.add_job(job)
    return known


def _names(facts: Sequence[Fact], statements: Sequence[Statement]) -> set[str]:
    names = {fact.job for fact in facts if fact.job}
    names.update(fact.name_of(number) for fact in facts for number in fact.listed)
    for one in statements:
        if one.pointer is not None and one.pointer.job is not None:
            names.add(column(one.pointer.job.text()))
    return names


def load_around(project_id: int, name: str) -> Known | None:
    """Load a job with its call and the other jobs of its key; None for a name not known."""
    found = find_jobs(project_id, "name", [name])
    if not found:
        return None
    known = load_calls(project_id, {job.call for job in found if job.call})
    for job in [*found, *find_jobs(project_id, "name", {found[0].prev} - {""})]:
        known.add_job(known.jobs.get(job.name, job))
    return known


def load_calls(project_id: int, calls: Collection[str]) -> Known:
    """Load whole calls."""
    known = Known()
    for job in find_jobs(project_id, "call", calls):
        known.add_job(job)
    for told in find_told(project_id, calls):
        known.add_told(told)
    return known


def know(project_id: int, jobs: Iterable[Job]) -> Known:
    """Make jobs that are whole calls known, with the cancels of the calls."""
    known = Known()
    for job in jobs:
        known.add_job(job)
    for told in find_told(project_id, known.calls, "AND kind = 'cancel'"):
        known.add_told(told)
    return known


def select_jobs(condition: str, parameters: Sequence[Any]) -> list[Job]:
    """Load the jobs that meet a condition, which names the project itself."""
    statement = f"SELECT {', '.join(JOB_COLUMNS)} FROM job WHERE {condition}"  # noqa: S608
    return [job_of(row) for row in bulk.select_rows(statement, parameters)]


def find_jobs(project_id: int, column: str, values: Collection[str]) -> list[Job]:
    """Load jobs by name, call or key."""
    rows = bulk.select_in(f"{_JOBS}{column} IN ({{values}})", [project_id], sorted(values))
    return [job_of(row) for row in rows]


def find_latest(project_id: int, keys: Collection[str]) -> list[Job]:
    """Load the job that had each key last."""
    wanted = sorted(keys)
    found: list[Job] = []
    for start in range(0, len(wanted), _KEYS_AT_ONCE):
        chunk = wanted[start : start + _KEYS_AT_ONCE]
        parts = [f"SELECT * FROM ({_LATEST}) AS part{place}" for place in range(len(chunk))]  # noqa: S608
        given = [value for key in chunk for value in (project_id, key)]
        found += [job_of(row) for row in bulk.select_rows(" UNION ALL ".join(parts), given)]
    return found


def find_told(project_id: int, calls: Collection[str], more: str = "") -> list[Told]:
    """Load the receipts about some calls."""
    rows = bulk.select_in(_TOLD.format(more=more), [project_id], sorted(calls))
    return [told_of(row) for row in rows]


def job_of(row: Sequence[Any]) -> Job:
    """Make a job of a row in the order of `JOB_COLUMNS`."""
    values = list(row)
    for place in _JOB_TIMES:
        if values[place] is not None:
            values[place] = bulk.as_time(values[place])
    return Job(*values)


def told_of(row: Sequence[Any]) -> Told:
    """Make a receipt about a call of a row in the order of `TOLD_COLUMNS`."""
    leaf, call, kind, at, *rest = row
    return Told(leaf, call, kind, bulk.as_time(at), *rest)


def write_jobs(project_id: int, jobs: Iterable[Job]) -> None:
    """Put jobs in place of what was stored of them."""
    rows = [(project_id, *_values_of_job(one)) for one in jobs]
    bulk.delete_in(_DELETE, [project_id], [row[1] for row in rows])
    bulk.insert_rows("job", ("project_id", *JOB_COLUMNS), rows)


def write_told(project_id: int, told: Iterable[Told]) -> None:
    """Add receipts about calls."""
    rows = [(project_id, *_values_of_told(one)) for one in told]
    bulk.insert_rows("call_receipt", ("project_id", *TOLD_COLUMNS), rows)
