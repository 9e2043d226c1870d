"""What a tally says: sums of ordinary outcomes, and the jobs that had them.

The sums lie in the stub and outlive retention; the jobs lie in `data` and go with the payload.
Source: contract.md section 2, "Tally".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from ledger.domain import plain
from ledger.domain.names import column
from ledger.domain.statement import JobName, Statement

DONE, RETRIED = "done", "retried"


class Outcome(NamedTuple):
    """One row of a tally: a job by its number, its task, and what became of it."""

    task: str
    number: str
    outcome: str


@dataclass(frozen=True, slots=True)
class Sum:
    """How many outcomes of one task on one queue a tally counts."""

    task: str
    queue: str
    done: int
    retried: int


class Tallied(NamedTuple):
    """What one tally lists of one job: its outcomes in the order of the rows."""

    tally: Statement
    task: str
    outcomes: tuple[str, ...]

    @property
    def is_done(self) -> bool:
        """Tell whether the job was done by then; one that is only retried runs again."""
        return DONE in self.outcomes


def outcomes_of(rows: Iterable[object]) -> tuple[Outcome, ...]:
    """Read the rows `[task, job, outcome, …]` of a tally's `data.jobs`; others are left out."""
    read = (_outcome(row) for row in rows if isinstance(row, list | tuple) and len(row) > 2)
    return tuple(each for each in read if each.number)


def _outcome(row: Sequence[object]) -> Outcome:
    return Outcome(plain.name_of(row[0]), plain.name_of(row[1]), plain.name_of(row[2]))


def sums_of(tally: Statement) -> tuple[Sum, ...]:
    """Read what a tally counts, task by task."""
    counted = (plain.object_of(each) for each in plain.list_of(tally.body.get("counts")))
    return tuple(
        Sum(
            plain.name_of(each.get("task")),
            plain.name_of(each.get("queue")),
            plain.integer_of(each.get("done")) or 0,
            plain.integer_of(each.get("retried")) or 0,
        )
        for each in counted
    )


def window_of(tally: Statement) -> tuple[datetime | None, datetime]:
    """Return the time that a tally is about; without a word of its end, when it was made."""
    window = plain.object_of(tally.body.get("window"))
    return plain.time_of(window.get("from")), plain.time_of(window.get("to")) or tally.happened_at


def find(tally: Statement, rows: Iterable[object], name: str) -> Tallied | None:
    """Return what a tally's rows list of one job, by its name as it stands in a column.

    Reading all rows for one job would take a hundred times as long.
    """
    number = name.removeprefix(JobName(tally.system, tally.instance, "").text())
    likely = (row for row in rows if _may_be_of(row, number))
    return listing(tally, outcomes_of(likely)).get(name)


def _may_be_of(row: object, number: str) -> bool:
    """Leave out the rows that are plainly of other jobs; text that columns change is kept."""
    if not isinstance(row, list) or len(row) < 2 or type(row[1]) is not str:
        return True
    return row[1] == number or len(row[1]) > LONGEST_PLAIN or not row[1].isprintable()


LONGEST_PLAIN = 100


def listing(tally: Statement, outcomes: Iterable[Outcome]) -> dict[str, Tallied]:
    """Return what a tally lists of each job, by the job's name as it stands in a column."""
    found: dict[str, Tallied] = {}
    head = JobName(tally.system, tally.instance, "").text()
    for task, number, outcome in outcomes:
        name = column(head + number)
        known = found.get(name)
        before = () if known is None else known.outcomes
        found[name] = Tallied(tally, known.task if known else task, (*before, outcome))
    return found
