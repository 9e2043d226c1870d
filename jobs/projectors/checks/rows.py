"""What was told of a job against its row: dones, and jobs that the reader never saw."""

from __future__ import annotations

from collections import defaultdict

from jobs.domain.contradicted_work import find_denied_done
from jobs.projectors.checks.awaited import Awaited
from jobs.projectors.checks.desk import Desk
from jobs.projectors.checks.found import Held
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
        sources = {one.leaf: one.source for one in told}
        names = sorted(set(sources.values()))
        desk.watch.load((INVARIANT, name, "") for name in names)
        reading = {sources[one.leaf] for one in told if one.is_row}
        read = reading.union(name for name in names if self._held(name).since_leaf is not None)
        jobs = {
            _job(one)
            for one in told
            if one.job is not None and _is_compared(one, is_read=sources[one.leaf] in read)
        }
        last = desk.last_of("job", jobs, _TOLD, LAST)
        leaves = {brief.leaf for briefs in last.values() for brief in briefs}
        desk.load(leaves)
        self._told: dict[str, list[Statement]] = defaultdict(list)
        for job, briefs in last.items():
            found = [desk.get(brief.leaf) for brief in briefs]
            self._told[job] = [one for one in found if one.is_readable]
        self._awaited = Awaited(desk, [one for one in told if sources[one.leaf] in read])

    def _held(self, source: str) -> Held:
        return self._desk.watch.of(INVARIANT, source)

    def take(self, item: Item) -> None:
        """Take a row or a done, and whatever else tells that a job is there."""
        one = item.statement
        if not one.is_readable:
            return
        held = self._held(one.source)
        if one.is_row:
            self._desk.watch.begin(held, one.leaf)
        if one.job is not None and one.kind in _TOLD:
            self._compare(one, held)
        is_read = held.since_leaf is not None
        if not is_read:
            self._awaited.hear(one)
        is_awaited = is_read and self._awaited.take(one)
        if one.kind == "enqueue" and one.job is not None:
            self._desk.watch.count(held, is_checked=is_awaited)

    def _compare(self, one: Statement, held: Held) -> None:
        job = _job(one)
        if one.kind == "done":
            self._desk.watch.count(held, is_checked=held.since_leaf is not None)
        for other in reversed(self._told[job][-LAST:]):
            done, row = (other, one) if one.is_row else (one, other)
            if done.kind != "done" or not row.is_row:
                continue
            finding = find_denied_done(done, row)
            if finding is not None:
                self._desk.found.add(finding, one.leaf, one.received_at)
                break
        self._told[job].append(one)


def _is_compared(one: Statement, *, is_read: bool) -> bool:
    return (one.kind == "done" and is_read) or (one.is_row and one.job_state in _ENDED)


def _job(one: Statement) -> str:
    return column(one.job.text()) if one.job is not None else ""
