"""A query over jobs as SQL: what can be asked, and by which column."""

from __future__ import annotations

from typing import Any

from kit.search import FieldSpec, Query, Term, parse
from ledger.domain import words
from ledger.domain.names import column
from ledger.queries.conditions import source_condition

STATES = (
    "available", "suspended", "scheduled", "executing", "retryable", "completed", "discarded",
    "cancelled", "failed",
)  # fmt: skip
FIELDS: dict[str, FieldSpec] = {
    spec.name: spec
    for spec in (
        FieldSpec("verdict", "text", tuple(words.VERDICT_BADGES), help="what it came to"),
        FieldSpec("state", "text", STATES, help="the state that was last told"),
        FieldSpec("task", "text", help="the type of the job"),
        FieldSpec("queue", "text", help="its queue"),
        FieldSpec("source", "text", help="system, or system/instance"),
        FieldSpec("scope", "text", help="the owning run, packed or not"),
        FieldSpec("invoke", "text", help="the name of the call in its run"),
        FieldSpec("gen", "text", help="the generation's number as the producer gave it"),
        FieldSpec("key", "text", help="the digest of its key"),
        FieldSpec("job", "text", help="its number, or system/instance/number"),
        FieldSpec("deliveries", "number", help="how often it was handed to a worker"),
        FieldSpec("executions", "number", help="how often it was begun"),
    )
}
_COLUMNS = {
    "verdict": "verdict", "state": "state", "task": "task", "queue": "queue", "invoke": "invoke",
    "gen": "generation", "key": "key_digest",
}  # fmt: skip
_NUMBERS = {
    "deliveries": "deliveries",
    "executions": "CASE WHEN starts > attempt THEN starts ELSE attempt END",
}
Condition = tuple[str, list[Any]]


def parse_query(text: str) -> Query:
    """Read `q`; what is not understood is among the query's faults."""
    return parse(text, FIELDS)


def where(project_id: int, query: Query) -> Condition:
    """Turn a query without faults into a condition on `job`."""
    conditions, parameters = ["project_id = %s"], [project_id]
    found = [_negated(term, _term(term)) for term in query.terms]
    found += [_any([_word(word)]) for word in query.words]
    for condition, values in found:
        conditions.append(condition)
        parameters += values
    return " AND ".join(conditions), parameters


def _negated(term: Term, condition: Condition) -> Condition:
    return (f"NOT {condition[0]}", condition[1]) if term.negated else condition


def _term(term: Term) -> Condition:
    if term.name in _NUMBERS:
        compared = f"{_NUMBERS[term.name]} {term.comparison} %s"
        return _any([(compared, [int(value)]) for value in term.values])
    return _any([_value(term.name, value) for value in term.values])


def _value(name: str, value: str) -> Condition:
    text = column(value)
    if name == "source":
        condition, values = source_condition(value, "")
        return condition, list(values)
    if name == "scope":
        return "(scope = %s OR logical_scope = %s)", [text, text]
    if name == "job":
        return ("name = %s" if value.count("/") >= 2 else "number = %s"), [text]
    return f"{_COLUMNS[name]} = %s", [text]


def _word(word: str) -> Condition:
    """Match a bare word to ids only."""
    text = column(word)
    return "number = %s OR name = %s OR logical_scope = %s", [text, text, text]


def _any(conditions: list[Condition]) -> Condition:
    text = " OR ".join(condition for condition, _ in conditions)
    return f"({text})", [value for _, values in conditions for value in values]
