"""The terms of a query as conditions of SQL over `entry e`, seen as of a leaf and a clock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from kit.db import is_postgresql
from kit.search import Term, moment, pair
from ledger.domain import words
from ledger.domain.names import column
from ledger.domain.statement import normal_id
from ledger.queries.as_of import AsOf

_COLUMNS = {
    "kind": "kind", "reason": "reason", "task": "task", "queue": "queue", "scope": "scope",
    "invoke": "invoke", "key": "key_digest", "recipe": "recipe", "original": "pointer_text",
    "state": "state", "rule": "rule", "actor": "actor", "trace": "trace",
}  # fmt: skip
_TIMES = {
    "after": "e.happened_at >=", "before": "e.happened_at <",
    "occurred.after": "e.happened_at >=", "occurred.before": "e.happened_at <",
    "received.after": "e.received_at >=", "received.before": "e.received_at <",
}  # fmt: skip
_COUNTS = {
    "executions": "(SELECT count(*) FROM entry one WHERE one.project_id = e.project_id "
    "AND one.job = e.job AND e.job <> '' AND one.kind = 'start' AND one.leaf_index <= %s)",
    "deliveries": "((SELECT count(*) FROM delivery WHERE delivery.receipt = e.receipt "
    "AND delivery.at <= %s) + coalesce((SELECT more FROM delivery_tail "
    "WHERE delivery_tail.receipt = e.receipt AND delivery_tail.last_at <= %s), 0))",
}
# A name has fewer than this; a longer value is somebody's nonsense.
_SLASHES = 16


@dataclass(frozen=True, slots=True)
class Seen:
    """Of which project, as of when, and the table that pointers are read from."""

    project_id: int
    as_of: AsOf
    pointer: str


Condition = tuple[str, Sequence[Any]]


def condition_of(term: Term, seen: Seen) -> Condition:
    if term.name == "trace":
        marks = ", ".join(["%s"] * len(term.values))
        return f"e.trace IN ({marks})", [column(value.lower()) for value in term.values]
    if term.name in _COLUMNS:
        marks = ", ".join(["%s"] * len(term.values))
        return f"e.{_COLUMNS[term.name]} IN ({marks})", [column(value) for value in term.values]
    if term.name in _TIMES:
        return any_of(
            [(f"{_TIMES[term.name]} %s", [moment(value, seen.as_of.at)]) for value in term.values]
        )
    if term.name in _COUNTS:
        cut = [seen.as_of.leaf] if term.name == "executions" else [seen.as_of.at] * 2
        text = f"{_COUNTS[term.name]} {term.comparison} %s"
        return any_of([(text, [*cut, int(value)]) for value in term.values])
    one = _ONE[term.name]
    return any_of([one(value, term, seen) for value in term.values])


def any_of(conditions: Sequence[Condition]) -> Condition:
    text = " OR ".join(condition for condition, _ in conditions)
    return f"({text})", [value for _, parameters in conditions for value in parameters]


def _pointer(value: str, term: Term, seen: Seen) -> Condition:
    if value == "unresolved":
        return any_of([_pointer(one, term, seen) for one in sorted(words.UNRESOLVED)])
    state, due = f"{seen.pointer}.pointer_state", f"{seen.pointer}.due_at"
    if value == "pending":
        return f"({state} = 'waiting' AND {due} > %s)", [seen.as_of.at]
    if value == "dangling":
        return f"({state} = 'dangling' OR ({state} = 'waiting' AND {due} <= %s))", [seen.as_of.at]
    # As the entry has it, it is never null, and to say so would hide it from its index.
    return f"{state} = %s" if seen.pointer == "e" else f"coalesce({state}, '') = %s", [value]


def _outcome(value: str, term: Term, seen: Seen) -> Condition:
    return f"coalesce({seen.pointer}.outcome, '') = %s", [value]


def _verdict(value: str, term: Term, seen: Seen) -> Condition:
    """Match what the verdict reads as at the clock: one that waits too long has lost its reason."""
    overdue = (
        f"coalesce({seen.pointer}.pointer_state = 'waiting' AND {seen.pointer}.due_at <= %s, false)"
    )
    if seen.pointer == "e":
        now, then = "e.verdict", "e.verdict_when_due"
    else:
        now, then = "coalesce(p.verdict, e.verdict)", "p.verdict_when_due"
    # The first condition alone has an index; it is met by all but the few that are overdue.
    condition = f"(({now} = %s AND NOT {overdue}) OR ({then} = %s AND {overdue}))"
    return condition, [value, seen.as_of.at] * 2


def _level(value: str, term: Term, seen: Seen) -> Condition:
    stored = "e.level" if seen.pointer == "e" else "coalesce(p.level, e.level)"
    return f"{stored} = %s", [value]


def _source(value: str, term: Term, seen: Seen) -> Condition:
    return source_condition(value, "e.")


def source_condition(value: str, table: str) -> Condition:
    """Match a system, or system/instance; `oban/` is the system where no instance is named.

    Either name may itself hold a slash, so every way to part the value counts.
    """
    parts = value.split("/")
    if len(parts) == 1:
        return f"{table}system = %s", [column(value)]
    pairs = [
        (column("/".join(parts[:at])), column("/".join(parts[at:])))
        for at in range(1, min(len(parts), _SLASHES + 1))
    ]
    marks = ", ".join(["(%s, %s)"] * len(pairs))
    condition = f"({table}system, {table}instance) IN (VALUES {marks})"
    return condition, [name for pair in pairs for name in pair]


def _producer(value: str, term: Term, seen: Seen) -> Condition:
    return (
        "e.token IN (SELECT t.id FROM access_apitoken t WHERE t.project_id = %s AND t.name = %s)",
        [seen.project_id, value],
    )


def _subject(value: str, term: Term, seen: Seen) -> Condition:
    kind, name = pair(value)
    return (
        "e.leaf_index IN (SELECT s.leaf_index FROM entry_subject s "
        "WHERE s.project_id = %s AND s.type = %s AND s.subject = %s)",
        [seen.project_id, kind, column(name)],
    )


def _job(value: str, term: Term, seen: Seen) -> Condition:
    name = "e.job" if value.count("/") >= 2 else "e.job_number"
    return f"{name} = %s", [column(value)]


def _id(value: str, term: Term, seen: Seen) -> Condition:
    return "e.id_key = %s", [column(normal_id(value))]


def _generation(value: str, term: Term, seen: Seen) -> Condition:
    if term.comparison == "=":
        return "e.generation = %s", [column(value)]
    return f"{_number('e.generation')} {term.comparison} %s", [int(value)]


def _number(name: str) -> str:
    """Read a text column as a whole number, null where it is none."""
    if is_postgresql():
        return f"(CASE WHEN {name} ~ '^[0-9]{{1,18}}$' THEN {name}::bigint END)"
    plain = f"{name} <> '' AND {name} NOT GLOB '*[^0-9]*' AND length({name}) <= 18"
    return f"(CASE WHEN {plain} THEN CAST({name} AS INTEGER) END)"


_ONE: dict[str, Callable[[str, Term, Seen], Condition]] = {
    "pointer": _pointer,
    "outcome": _outcome,
    "verdict": _verdict,
    "level": _level,
    "source": _source,
    "producer": _producer,
    "subject": _subject,
    "job": _job,
    "id": _id,
    "gen": _generation,
}
