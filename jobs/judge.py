"""The judge of receipts about jobs and calls, as the registry wants it."""

from __future__ import annotations

from collections.abc import Sequence

from jobs.domain import verdicts
from jobs.domain.facts import fact_of
from jobs.projectors import shelf
from jobs.projectors.calls import CallsJudging
from jobs.queries import fold
from ledger.domain.statement import Statement
from ledger.domain.verdicts import Verdict
from ledger.statements import Item


class CallsJudge:
    """Judges receipts about calls by the other jobs of the call, and folds jobs."""

    rules_version = 3
    tables: tuple[str, ...] = ("job", "call_receipt")

    def open(self, project_id: int, items: Sequence[Item]) -> CallsJudging:
        """Load the jobs and calls that a batch is about."""
        facts = {item.leaf: fact for item in items if (fact := fact_of(item.statement))}
        told, listed = [*facts.values()], shelf.find_tallied(project_id, items)
        known = shelf.load(project_id, told, [item.statement for item in items], listed)
        shelf.add_tallied(project_id, known, told, items[-1].leaf)
        return CallsJudging(project_id, items[0].leaf, facts, known)

    def explain(
        self, project_id: int, statement: Statement, original: Statement | None, end: int | None
    ) -> Verdict | None:
        """Judge one receipt by what is stored, or by what the receipts below `end` come to."""
        fact = fact_of(statement)
        if fact is None:
            return None
        if end is None and fact.kind == "skip":
            # It is held against its original alone, and of the call it may be one in thousands.
            known = shelf.load_named(project_id, [statement, *([original] if original else [])])
        else:
            known = fold.load(project_id, fact, statement, end)
        return verdicts.judge(statement, known, original)
