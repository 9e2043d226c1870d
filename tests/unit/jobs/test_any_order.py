"""The order in which receipts arrive decides nothing, but where two words are of one moment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from jobs.domain import verdicts
from jobs.domain.judging import judge_job
from jobs.domain.state import Known
from ledger.domain.statement import Statement
from tests.unit.jobs.history import (
    CANCELLED,
    DISCARDED,
    bodies,
    cancel,
    child,
    event,
    invoke,
    known_of,
    pruned,
    statement,
    stored,
)

OF_THE_LOG = {"first_leaf", "last_leaf", "insert_leaf", "row_leaf", "deleted_leaf", "deferred_leaf"}
OF_THE_LOG |= {"deleted_at", "deleted_level"}
"""What tells where in the log something stands: of several deletions the first on record counts."""

NUMBERS = st.integers(1, 4)
SECONDS = st.integers(0, 59)
ENDS = st.sampled_from(
    [("completed", ""), ("cancelled", ""), ("cancelled", DISCARDED), ("discarded", "{:error, :x}"),
     ("available", ""), ("available", CANCELLED), ("executing", ""), ("retryable", "{:error, :x}")]
)  # fmt: skip


def clock(minute: int, second: int) -> str:
    return f"09:{minute:02}:{second:02}"


def scope_of(number: int) -> str:
    """Give each job one scope: the last is packed, and two of the others share their key."""
    return f"x1#{step_of(number)}" if number > 3 else "x1"


def step_of(number: int) -> int:
    return (1, 2, 2, 3)[number - 1]


@st.composite
def rows(draw: st.DrawFn) -> dict[str, Any]:
    """Give a reading of one of four jobs; its call is always the same, its state is not."""
    number, (state, error) = draw(NUMBERS), draw(ENDS)
    found = invoke(
        number, step_of(number), state, f"09:0{number}", clock(10 + draw(NUMBERS), draw(SECONDS)),
        error, scope=scope_of(number),
    )  # fmt: skip
    return bodies([found], [])[0]  # type: ignore[no-any-return]


@st.composite
def events(draw: st.DrawFn) -> dict[str, Any]:
    number = draw(NUMBERS)
    at = clock(10 + draw(NUMBERS), draw(SECONDS))
    call = {"macrostep": step_of(number), "job_id": number, "scope": scope_of(number)}
    found = draw(
        st.sampled_from(
            [
                stored(number, step_of(number), f"09:0{number}", scope=scope_of(number)),
                event("invoke.delivered", at, **call),
                event("invoke.delivered", at, **{**call, "macrostep": None}),
                event("invoke.discarded", at, **call),
                event("invoke.failed", at, **call),
                event("invoke.deferred", at, **call),
                cancel(at, scope=scope_of(number)),
                cancel(at, 1, scope=scope_of(number), rows=[number]),
                pruned(clock(draw(NUMBERS), draw(SECONDS)), number),
                {**child(9, 0, step=step_of(number), scope=scope_of(number))},
            ]
        )
    )
    is_row = "event" not in found
    return bodies([found] if is_row else [], [] if is_row else [found])[0]  # type: ignore[no-any-return]


def told(known: Known, statements: Sequence[Statement]) -> dict[str, Any]:
    """Give what jobs and receipts come to once all is known, without places in the log."""
    jobs = {}
    for job in known.jobs.values():
        ruling = judge_job(job, known)
        facts = {name: one for name, one in asdict(job).items() if name not in OF_THE_LOG}
        jobs[job.name] = (facts, ruling.code, ruling.rule)
    ranks = {
        job.name: known.line(job.call).rank(job.generation_number)
        for job in known.jobs.values()
        if job.call
    }
    judged = [(one.id_text, verdicts.judge(one, known, None)) for one in statements]
    return {
        "jobs": jobs,
        "receipts": sorted((n, v.code, v.sentence, v.level) for n, v in judged if v),
        "ranks": ranks,
    }


def one_moment_each(given: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Keep of all that is said of one moment the first, but for what is no word of a state."""
    kept: dict[str, dict[str, Any]] = {}
    free = [one for one in given if one["kind"] == "prune"]
    for one in given:
        if one["kind"] != "prune":
            kept.setdefault(one["occurred_at"], one)
    return [*kept.values(), *free[:1]]


HISTORIES = st.lists(st.one_of(rows(), events()), min_size=2, max_size=10)


@given(HISTORIES, st.randoms(use_true_random=False))
def test_jobs_and_receipts_come_to_the_same_in_any_order(
    history: list[dict[str, Any]], chance: Any
) -> None:
    named = [{**one, "id": f"id-{n}"} for n, one in enumerate(one_moment_each(history))]
    shuffled = chance.sample(named, len(named))

    first, other = (
        [statement(leaf, body) for leaf, body in enumerate(order)] for order in (named, shuffled)
    )

    assert told(known_of(other), other) == told(known_of(first), first)


@given(HISTORIES)
@example([])
def test_the_same_history_folded_twice_is_the_same(history: list[dict[str, Any]]) -> None:
    made = [statement(leaf, body) for leaf, body in enumerate(history)]

    first, again = known_of(made), known_of(made)

    assert first == again
    assert told(first, made) == told(again, made)
