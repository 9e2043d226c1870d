"""A row that had ended and waits again: only somebody's hand brings it back."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from jobs.domain import oban
from jobs.domain.judging import judge_job
from ledger.domain.statement import Statement
from tests.unit.jobs.history import at, invoke, known_of, statement
from tests.unit.ledger import shelf


def seen(row: dict[str, Any], minutes: int, leaf: int) -> Statement:
    """Read a row as a reader saw it some minutes after noon."""
    seen_at = shelf.NOON + timedelta(minutes=minutes)
    return statement(leaf, oban.row_receipt(row, instance="prod-1", seen_at=seen_at))


@pytest.mark.parametrize("state", ["completed", "cancelled", "discarded"])
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_row_that_had_ended_and_waits_again_was_set_going_by_hand(
    state: str, order: tuple[int, int]
) -> None:
    again = {**invoke(1, 1, "available"), "scheduled_at": at("12:04")}
    looks = [seen(invoke(1, 1, state), 0, 0), seen(again, 5, 1)]

    known = known_of(looks[place] for place in order)

    (job,) = known.jobs.values()
    assert judge_job(job, known).code == "rerun.same_row"


def test_a_row_that_was_put_back_before_it_ended_was_not_set_going_by_hand() -> None:
    looks = [seen(invoke(1, 1, "executing"), 0, 0), seen(invoke(1, 1, "available"), 5, 1)]

    known = known_of(looks)

    (job,) = known.jobs.values()
    assert judge_job(job, known).code == "fresh"
