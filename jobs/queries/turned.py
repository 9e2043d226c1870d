"""The skips of a run or of one call of it, as they read at a leaf and a clock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kit import bulk
from ledger.domain import pointers
from ledger.domain.names import column
from ledger.queries import chosen
from ledger.queries.as_of import AsOf

LOSING = frozenset({"dedup.lost_reentry", "dedup.residual_collision"})
"""Verdicts of skips after which the work of a generation never ran."""

_OWN = "e.leaf_index, e.system, e.instance, e.invoke, e.generation"
_NOW = "e.verdict, e.verdict_when_due, e.pointer_state, e.due_at"
_THEN = "coalesce(p.verdict, e.verdict), p.verdict_when_due, p.pointer_state, p.due_at"
_WHERE = (
    "WHERE e.project_id = %s AND e.leaf_index < %s AND e.kind = 'skip' {of_call}"
    "AND e.scope IN ({{values}})"
)


@dataclass(frozen=True, slots=True)
class Turned:
    """One skip: whose call it was, and what it came to."""

    leaf: int
    source: str
    invoke: str
    generation: str
    verdict: str
    is_unresolved: bool

    @property
    def is_lost(self) -> bool:
        """Tell whether its work never ran."""
        return self.verdict in LOSING


def skips_of(project_id: int, scopes: Sequence[str], as_of: AsOf, invoke: str = "") -> list[Turned]:
    """Give the skips of a run, given by all the scopes that it is stored under, in log order."""
    of_call = "AND e.invoke = %s " if invoke else ""
    where = _WHERE.format(of_call=of_call)
    if as_of.is_now:
        statement, past = f"SELECT {_OWN}, {_NOW} FROM entry e {where}", []  # noqa: S608
    else:
        statement = f"SELECT {_OWN}, {_THEN} FROM entry e{chosen.PAST} {where}"  # noqa: S608
        past = [as_of.leaf]
    fixed: list[Any] = [*past, project_id, as_of.end, *([column(invoke)] if invoke else [])]
    found = bulk.select_in(statement, fixed, sorted(map(column, scopes)))
    return sorted((_turned(row, as_of) for row in found), key=lambda one: one.leaf)


def _turned(row: Sequence[Any], as_of: AsOf) -> Turned:
    leaf, system, instance, invoke, generation, verdict, when_due, state, due_at = row
    due = None if due_at is None else bulk.as_time(due_at)
    shown = pointers.shown_state(state, due, as_of.at) if state else ""
    is_overdue = state == "waiting" and shown == "dangling"
    return Turned(
        leaf,
        f"{system}/{instance}".strip("/"),
        invoke,
        generation,
        when_due if is_overdue else verdict,
        pointers.is_unresolved(shown),
    )
