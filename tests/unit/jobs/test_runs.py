"""Executions as they were: which end is whose, and which ran at the same time."""

from __future__ import annotations

import pytest

from jobs.domain.runs import runs_of
from ledger.domain.statement import Statement
from tests.unit.ledger.celery import told

Shown = list[tuple[int, str | None, bool]]

CASES: dict[str, tuple[list[Statement], Shown]] = {
    "nothing": ([told(0, "enqueue")], []),
    "one that is done": ([told(0, "start"), told(1, "done")], [(1, "done", False)]),
    "one that has not ended": ([told(0, "start")], [(1, None, False)]),
    "a worker that was killed, and another that did it": (
        [told(0, "start", "09:00"), told(1, "start", "09:05"), told(2, "done", "09:06")],
        [(1, None, False), (1, "done", False)],
    ),
    "a done while the second still runs": (
        [told(0, "start", "09:00"), told(1, "done", "09:02"), told(2, "start", "09:05")],
        [(1, "done", False), (1, None, False)],
    ),
    "two that ran at the same time": (
        [told(0, "start", "09:00"), told(1, "start", "10:00"), told(2, "done", "10:20"),
         told(3, "done", "11:00")],
        [(1, "done", True), (1, "done", True)],
    ),
    "one after the other": (
        [told(0, "start", "09:00"), told(1, "done", "09:10"), told(2, "start", "10:00"),
         told(3, "done", "10:20")],
        [(1, "done", False), (1, "done", False)],
    ),
    "a retry ends its own attempt": (
        [told(0, "start", "09:00"), told(1, "retry", "09:01"),
         told(2, "start", "09:05", job={"attempt": 2}), told(3, "fail", "09:06",
                                                             job={"attempt": 2})],
        [(1, "retry", False), (2, "fail", False)],
    ),
    "told in any order": (
        [told(0, "done", "09:06"), told(1, "start", "09:05"), told(2, "start", "09:00")],
        [(1, None, False), (1, "done", False)],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("log", "expected"), CASES.values(), ids=CASES)
def test_the_executions_of_a_job(log: list[Statement], expected: Shown) -> None:
    found = runs_of(log)

    assert [(r.attempt, r.end and r.end.kind, r.overlaps) for r in found] == expected
