"""A recorded history of Oban judged without a database (contract.md section 8, `jobs`).

The history is translated into receipts by contract 2a, the receipts are read, folded and judged
by the functions that the pages use, and the answers are what those give once all is known.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from jobs.domain import fixture, oban, verdicts
from jobs.domain.facts import fact_of
from jobs.domain.fixture import BadHistory
from jobs.domain.judging import judge_job
from jobs.domain.state import Job, Known
from ledger.domain import plain, pointers, words
from ledger.domain import verdicts as ledger_verdicts
from ledger.domain.names import column
from ledger.domain.pointers import Finding
from ledger.domain.statement import Statement, read_statement
from ledger.domain.whole_book import WholeBook

__all__ = ["BadHistory", "evaluate", "rank_of"]

INSTANCE = "evaluated"
Document = dict[str, Any]


def evaluate(document: object) -> Document:
    """Return the verdict, generation and logical scope of each row, and of each receipt.

    Telemetry is taken to have come before the rows.
    """
    history = fixture.merge_defaults(document)
    now = history.now
    names = [one["r"] for one in history.receipts]
    try:
        told = [oban.event_receipt(one, instance=INSTANCE) for one in history.receipts]
        rows = [oban.row_receipt(one, instance=INSTANCE, seen_at=now) for one in history.rows]
    except RecursionError as error:
        raise BadHistory("a value is nested too deeply") from error
    return _judged(names, _statements([*told, *rows], now), now)


def _judged(names: list[str], statements: list[Statement], now: datetime) -> Document:
    known = Known()
    for one in statements:
        fact = fact_of(one)
        if fact is not None:
            known.take(fact)
    book = WholeBook(statements)
    return {
        "rows": {job.number: _job(job, known) for job in _of_rows(known, statements)},
        "receipts": {
            name: {"verdict": _code(one, known, book, now)}
            for name, one in zip(names, statements[: len(names)], strict=True)
        },
    }


def _statements(bodies: Iterable[Document], now: datetime) -> list[Statement]:
    return [
        read_statement(
            _stub(body),
            leaf=leaf,
            ref=f"n{leaf}",
            state="accepted",
            received_at=plain.time_of(body.get("occurred_at")) or now,
            id_default=f"evaluated:{leaf}",
        )
        for leaf, body in enumerate(bodies)
    ]


def _stub(body: Document) -> Document:
    event = plain.object_of(body.get("data")).get("event")
    return {**{name: one for name, one in body.items() if name != "data"}, "event": event}


def _of_rows(known: Known, statements: Iterable[Statement]) -> list[Job]:
    """Give the jobs of the rows, each once and in the order in which they were sent."""
    names = dict.fromkeys(column(one.job.text()) for one in statements if one.is_row and one.job)
    return [known.jobs[name] for name in names]


def _job(job: Job, known: Known) -> Document:
    ruling = judge_job(job, known)
    return {
        "verdict": ruling.code,
        "rule": ruling.rule,
        "generation": rank_of(job, known),
        "logical_scope": job.logical_scope or None,
    }


def rank_of(job: Job, known: Known) -> int | None:
    """Return the place of a job's generation among those of its call, counted from 1."""
    return known.line(job.call).rank(job.generation_number) if job.call else None


def _code(one: Statement, known: Known, book: WholeBook, now: datetime) -> str:
    finding = pointers.find_pointer(one, book)
    shown = _shown(finding, now)
    target = _leaf(book, finding)
    judged = verdicts.judge(one, known, target if shown in words.FOUND else None)
    if judged is not None:
        return judged.code
    is_due = finding is not None and finding.state == "waiting" and shown == "dangling"
    if is_due:
        return ledger_verdicts.code_when_due(one, finding)
    return ledger_verdicts.stored_verdict(one, finding, target, None).code


def _shown(finding: Finding | None, now: datetime) -> str:
    return pointers.shown_state(finding.state, finding.due_at, now) if finding else ""


def _leaf(book: WholeBook, finding: Finding | None) -> Statement | None:
    return None if finding is None else book.find(finding.target_leaf)
