"""What was told of business objects: the receipts that name them, and the ends of their jobs.

Rows of lists are read, not bodies, so that a hundred thousand objects can be gone through. A done
often names its job alone, and an ordinary outcome may stand in a tally: both count for the object
that an earlier receipt of the job names.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kit import bulk, ids
from kit.db import indexed_by
from ledger import statements, tallied
from ledger.domain import pointers, subjects, tallies
from ledger.domain.names import column
from ledger.domain.statement import JobName, Pointer, Statement
from ledger.domain.tallies import Tallied
from ledger.queries.as_of import AsOf

ROWS_AT_ONCE = 20_000
MOST_OF_ONE = 5_000
"""Receipts of one object, or of one job, that are folded."""

_COLUMNS = (
    "leaf_index", "receipt", "kind", "state", "received_at", "occurred_at", "id_key", "system",
    "instance", "job_number", "task", "key_digest", "reason", "level", "verdict",
    "verdict_when_due", "pointer_text", "pointer_state", "due_at",
)  # fmt: skip
_SELECTED = ", ".join(f"e.{name}" for name in _COLUMNS)
# Sorted by an expression: by the column itself SQLite would go through the whole log in its order.
_OF_OBJECTS = (
    f"SELECT s.subject, {_SELECTED} FROM entry_subject s "  # noqa: S608
    "JOIN entry e ON e.project_id = s.project_id AND e.leaf_index = s.leaf_index "
    "WHERE s.project_id = %s AND s.type = %s AND s.leaf_index <= %s AND s.subject IN ({marks}) "
    "ORDER BY +s.leaf_index LIMIT %s"
)
_KINDS = (*subjects.ENDS, *sorted(subjects.OPENS - {"enqueue"}), "skip", "observe")
_MOVES = ", ".join(f"'{kind}'" for kind in _KINDS)
_OF_JOBS = (
    f"SELECT e.job, {_SELECTED} FROM entry e{{index}} "  # noqa: S608
    f"WHERE e.project_id = %s AND e.leaf_index <= %s AND e.kind IN ({_MOVES}) "
    "AND e.job IN ({marks}) ORDER BY +e.leaf_index LIMIT %s"
)


@dataclass(frozen=True, slots=True)
class Told:
    """One receipt: what folding needs of it, the verdict that lists show, and if it names it."""

    statement: Statement
    verdict: str
    is_named: bool = True


def told_of(
    project_id: int, kind: str, names: Sequence[str], as_of: AsOf
) -> Mapping[str, list[Told]]:
    """Load what was told of some objects of a type, by name, with the ends of their jobs."""
    by_column = {column(name): name for name in names}
    found = _load(_OF_OBJECTS, [project_id, kind, as_of.leaf], by_column, project_id, as_of)
    named = {by_column[text]: told for text, told in found.items()}
    more = ends_of(project_id, {n: [o.statement for o in told] for n, told in named.items()}, as_of)
    return {name: [*told, *more.get(name, ())] for name, told in named.items()}


def ends_of(
    project_id: int, named: Mapping[str, Collection[Statement]], as_of: AsOf
) -> Mapping[str, list[Told]]:
    """Load what else is told of the jobs of some objects whose end no receipt of theirs tells."""
    objects: dict[str, set[str]] = defaultdict(set)
    for name, statements_ in named.items():
        for job in _open_jobs(statements_):
            objects[job].add(name)
    if not objects:
        return {}
    statement = _OF_JOBS.replace("{index}", indexed_by("entry_by_job"))
    found = _load(statement, [project_id, as_of.leaf], objects, project_id, as_of)
    listed = tallied.find(project_id, objects.keys() - _ended(found), as_of.end)
    told: dict[str, list[Told]] = defaultdict(list)
    for job, names in objects.items():
        further = [*found.get(job, ()), *(_of_tally(one, job) for one in listed.get(job, ()))]
        for name in names:
            known = {one.leaf for one in named[name]}
            told[name] += [_unnamed(one) for one in further if one.statement.leaf not in known]
    return told


def _open_jobs(known: Iterable[Statement]) -> set[str]:
    """Return the jobs of some receipts of which none of these tells an end."""
    jobs: dict[str, bool] = {}
    for one in known:
        if one.job is not None and one.is_readable and subjects.answer_of(one):
            name = column(one.job.text())
            jobs[name] = jobs.get(name, False) or subjects.answer_of(one) != subjects.OPEN
    return {name for name, is_ended in jobs.items() if not is_ended}


def _ended(found: Mapping[str, Sequence[Told]]) -> set[str]:
    return {
        job
        for job, told in found.items()
        if any(subjects.answer_of(one.statement) not in ("", subjects.OPEN) for one in told)
    }


def _unnamed(told: Told) -> Told:
    return Told(told.statement, told.verdict, is_named=False)


def _of_tally(one: Tallied, job: str) -> Told:
    """Make of what a tally lists of a job the receipt that it stands for."""
    tally = one.tally
    number = job.removeprefix(f"{tally.system}/{tally.instance}/")
    _, until = tallies.window_of(tally)
    outcome = Statement(
        leaf=tally.leaf,
        ref=tally.ref,
        state=tally.state,
        kind="done" if one.is_done else "retry",
        received_at=tally.received_at,
        occurred_at=until,
        system=tally.system,
        instance=tally.instance,
        task=one.task,
        level=tally.level,
        job=JobName(tally.system, tally.instance, number),
    )
    return Told(outcome, "done" if one.is_done else "retry")


def _load(
    statement: str,
    fixed: Sequence[Any],
    texts: Collection[str],
    project_id: int,
    as_of: AsOf,
) -> dict[str, list[Told]]:
    """Run a query for some texts; one with very many receipts is read by itself."""
    wanted = list(texts)
    most = ROWS_AT_ONCE if len(wanted) > 1 else MOST_OF_ONE + 1
    marks = ", ".join(["%s"] * len(wanted))
    rows = bulk.select_rows(statement.replace("{marks}", marks), [*fixed, *wanted, most])
    if len(rows) == most and len(wanted) > 1:
        half = len(wanted) // 2
        first = _load(statement, fixed, wanted[:half], project_id, as_of)
        return first | _load(statement, fixed, wanted[half:], project_id, as_of)
    return _read(project_id, rows, as_of)


def _read(project_id: int, rows: Sequence[Sequence[Any]], as_of: AsOf) -> dict[str, list[Told]]:
    listed = [(row[0], dict(zip(_COLUMNS, row[1:], strict=True))) for row in rows]
    leaves = {row["leaf_index"] for _, row in listed if _is_read_whole(row)}
    whole = statements.load_leaves(project_id, leaves) if leaves else {}
    found: dict[str, list[Told]] = defaultdict(list)
    for text, row in listed:
        one = whole.get(row["leaf_index"]) or _statement(row)
        found[text].append(Told(one, _code(row, as_of.at)))
    return found


def _is_read_whole(row: Mapping[str, Any]) -> bool:
    """Tell whether what a receipt says of an object is in members that no column keeps."""
    kind, system = str(row["kind"]), str(row["system"])
    return kind == "observe" or (kind == "deliver" and system != "celery")


def _statement(row: Mapping[str, Any]) -> Statement:
    """Make of a row what folding asks of a statement."""
    system, instance, number = row["system"], row["instance"], row["job_number"]
    occurred = row["occurred_at"]
    return Statement(
        leaf=row["leaf_index"],
        ref=ids.ref_of(bulk.as_uuid(row["receipt"])),
        state=row["state"],
        kind=row["kind"],
        received_at=bulk.as_time(row["received_at"]),
        occurred_at=None if occurred is None else bulk.as_time(occurred),
        id_key=row["id_key"],
        system=system,
        instance=instance,
        job=JobName(system, instance, number) if number else None,
        task=row["task"],
        key_digest=row["key_digest"] or None,
        reason=row["reason"] or None,
        level=row["level"],
        pointer=Pointer(receipt=row["pointer_text"]) if row["pointer_text"] else None,
    )


def _code(row: Mapping[str, Any], at: datetime) -> str:
    """Give the verdict as it reads at a clock: a pointer that is overdue has another."""
    if row["pointer_state"] != "waiting":
        return str(row["verdict"])
    due = row["due_at"]
    shown = pointers.shown_state("waiting", due and bulk.as_time(due), at)
    return str(row["verdict_when_due" if shown == "dangling" else "verdict"])
