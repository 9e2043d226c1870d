"""Jobs that telemetry told of and whose row has not been seen.

A reader takes rows in the order of their numbers. When it takes a later one within a minute of the
telling, no pruner can have been quicker, and the job's own row should have been there.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import timedelta

from jobs.domain.contradicted_work import missing_row
from jobs.domain.facts import fact_of
from jobs.projectors.checks.desk import Desk
from jobs.projectors.checks.found import NoteKey
from kit import bulk
from ledger.domain import plain
from ledger.domain.names import column
from ledger.domain.statement import Statement
from ledger.domain.targets import SKEW

INVARIANT = "row_agrees"
PASSED_WITHIN = timedelta(seconds=60)
GRACE = timedelta(minutes=10)
"""How long after the reader passed a job its row may come: a transaction may still be open."""
AWAITED, PASSED = "row", "passed"
RULE = "row-never-came"
HEARD = ("start", "done", "fail", "cancel", "discard", "deliver", "retry", "rescue", "observe")
_BELOW = (
    "SELECT sort, name, number, leaf_index, at FROM contradiction_note "
    "WHERE project_id = %s AND sort = %s AND name = %s AND number < %s"
)


class Awaited:
    """Awaits the rows of jobs that were stored, and notes those that the reader passed."""

    def __init__(self, desk: Desk, told: Sequence[Statement]) -> None:
        """Load what is awaited of the jobs of some receipts, all of sources that are read."""
        self._desk = desk
        self._queues: dict[str, list[NoteKey]] = {}
        numbers: dict[str, set[int]] = defaultdict(set)
        for one in told:
            numbers[name_of(one.source)].update(_numbers(one))
        highest = {name_of(one.source): 0 for one in told if one.is_row}
        for one in told:
            if one.is_row:
                name = name_of(one.source)
                highest[name] = max(highest[name], _number(one) or 0)
        for name, number in sorted(highest.items()):
            fixed = [desk.project_id, AWAITED, name, number]
            desk.notes.know(bulk.select_rows(_BELOW, fixed))
        for name, found in sorted(numbers.items()):
            for sort in (AWAITED, PASSED):
                desk.notes.load("sort = %s AND name = %s AND number", [sort, name], sorted(found))
            self._queues[name] = sorted(desk.notes.of(AWAITED, name), key=_by_number)
        passed = [key for name in numbers for key in desk.notes.of(PASSED, name)]
        desk.found.load(leaf for _, _, _, leaf in passed)
        stored = {_job(one) for one in told if one.kind == "enqueue" and one.job is not None}
        self._heard = desk.which_have("job", stored, HEARD)

    def take(self, one: Statement) -> bool:
        """Take the next receipt of a source that is read; tell whether a row must be there."""
        if one.kind == "enqueue":
            return one.via != "row" and self._wait(one)
        if one.kind != "skip":
            self._come(one)
        return False

    def hear(self, one: Statement) -> None:
        """Note that a job was there; also of a source that is not read yet, as the log has it."""
        if one.job is not None and one.kind in HEARD:
            self._heard.add(_job(one))

    def _wait(self, one: Statement) -> bool:
        number = _number(one)
        if number is not None and _job(one) in self._heard:
            return True
        is_prompt = one.received_at - one.happened_at <= SKEW
        if number is None or not is_prompt:
            return False
        key = (AWAITED, name_of(one.source), number, one.leaf)
        self._desk.notes.add(key, one.received_at)
        insort(self._queues.setdefault(key[1], []), key, key=_by_number)
        return True

    def _come(self, one: Statement) -> None:
        name = name_of(one.source)
        for number in _numbers(one):
            for sort in (AWAITED, PASSED):
                for key in self._desk.notes.of_number(sort, name, number):
                    self._desk.notes.forget(key)
                    self._desk.found.end_all(INVARIANT, key[3], RULE, one.leaf)
        self.hear(one)
        if one.is_row and (own := _number(one)) is not None:
            self._pass(one, name, own)

    def _pass(self, row: Statement, name: str, number: int) -> None:
        queue = self._queues.setdefault(name, [])
        end = bisect_left(queue, number, key=_by_number)
        for key in queue[:end]:
            at = self._desk.notes.of(AWAITED, name).get(key)
            if at is None:
                continue
            self._desk.notes.forget(key)
            if row.received_at - at <= PASSED_WITHIN:
                self._desk.notes.add((PASSED, *key[1:]), at)
                finding = missing_row(str(key[2]), key[3], row.leaf)
                self._desk.found.add(finding, row.leaf, row.received_at + GRACE)
        del queue[:end]


def _by_number(key: NoteKey) -> int:
    return key[2]


def name_of(source: str) -> str:
    """Return 64 hex digits for a source."""
    return plain.digest_of(source)


def _number(one: Statement) -> int | None:
    return _whole(one.job.number) if one.job is not None else None


def _numbers(one: Statement) -> Iterator[int]:
    """Give the numbers of the jobs that a receipt tells to have been there."""
    fact = fact_of(one)
    listed = fact.listed if fact is not None else ()
    number = one.job.number if one.job is not None else ""
    yield from (found for text in (number, *listed) if (found := _whole(text)) is not None)


def _whole(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 18 else None


def _job(one: Statement) -> str:
    return column(one.job.text()) if one.job is not None else ""
