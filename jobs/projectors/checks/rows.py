"""What was told of a job against its row: dones, and jobs that the reader never saw."""

from __future__ import annotations

from collections import defaultdict

from jobs.domain.contradicted_work import find_denied_done
from jobs.projectors.checks.awaited import Awaited
from jobs.projectors.checks.desk import Desk
from ledger.domain.names import column
from ledger.domain.statement import Statement
from ledger.statements import Item

INVARIANT = "row_agrees"
LAST = 20
_ENDED = frozenset({"discarded", "cancelled"})
_TOLD = ("done", "observe")


class Rows:
    """Compares dones with rows of the same job, whichever comes first."""

    def __init__(self, desk: Desk) -> None:
        """Load what was told of the jobs of the batch."""
        self._desk = desk
        told = desk.readable()
        desk.watch.load((INVARIANT, one.source, "") for one in told)
        reading = {one.source for one in told if one.is_row}
        jobs = {_job(one) for one in told if self._is_compared(one, reading)}
        last = desk.last_of("job", jobs, _TOLD, LAST)
        leaves = {brief.leaf for briefs in last.values() for brief in briefs}
        desk.load(leaves)
        self._told: dict[str, list[Statement]] = defaultdict(list)
        for job, briefs in last.items():
            found = [desk.get(brief.leaf) for brief in briefs]
            self._told[job] = [one for one in found if one.is_readable]
        read = {one.source for one in told if one.source in reading or self._is_read(one.source)}
        self._awaited = Awaited(desk, [one for one in told if one.source in read])

    def _is_compared(self, one: Statement, reading: set[str]) -> bool:
        if one.job is None:
            return False
        is_read = one.source in reading or self._is_read(one.source)
        return (one.kind == "done" and is_read) or (one.is_row and one.job_state in _ENDED)

    def _is_read(self, source: str) -> bool:
        return self._desk.watch.of(INVARIANT, source).since_leaf is not None

    def take(self, item: Item) -> None:
        """Take a row or a done, and whatever else tells that a job is there."""
        one = item.statement
        if not one.is_readable:
            return
        if one.is_row:
            self._desk.watch.begin(self._desk.watch.of(INVARIANT, one.source), one.leaf)
        if one.job is not None and (one.kind == "done" or one.is_row):
            self._compare(one)
        if self._is_read(one.source):
            self._awaited.take(one)

    def _compare(self, one: Statement) -> None:
        job = _job(one)
        if one.kind == "done":
            held = self._desk.watch.of(INVARIANT, one.source)
            self._desk.watch.count(held, is_checked=held.since_leaf is not None)
        others = [other for other in self._told[job][-LAST:] if other.is_row != one.is_row]
        for other in reversed(others):
            done, row = (other, one) if one.is_row else (one, other)
            finding = find_denied_done(done, row) if done.kind == "done" else None
            if finding is not None:
                self._desk.found.add(finding, one.leaf, one.received_at)
                break
        self._told[job].append(one)


def _job(one: Statement) -> str:
    return column(one.job.text()) if one.job is not None else ""
