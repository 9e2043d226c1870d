"""A query as SQL over `entry`, seen as of a leaf and a clock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from kit import ids
from kit.db import is_postgresql
from kit.search import Query, Term, moment, pair
from ledger.domain import words
from ledger.domain.names import column
from ledger.domain.statement import normal_id
from ledger.queries.as_of import AsOf
from ledger.queries.fields import INDEXED, SCANNED
from ledger.queries.selection import Part, Where

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


_SINCE = frozenset({"after", "occurred.after"})
_OF_NOW = frozenset({"pointer", "verdict"})
"""What changes later: of an earlier time it is kept by receipt, without an index of its values."""
_LEADING = {
    "id": "entry_by_id", "job": "", "key": "entry_by_key", "trace": "entry_by_trace",
    "scope": "entry_by_scope", "pointer": "entry_by_pointer", "verdict": "entry_by_verdict",
    "task": "entry_by_task",
}  # fmt: skip
_FEW = frozenset({"id", "job", "key", "trace", "scope"})
# A name has fewer than this; a longer value is somebody's nonsense.
_SLASHES = 16


def where(project_id: int, query: Query, as_of: AsOf) -> Where:
    """Turn a query without faults into SQL.

    `first` is the first leaf looked at: above zero when no term of the query has an index.
    """
    found = sources(as_of)
    found.add("e.project_id = %s", project_id)
    found.add("e.leaf_index <= %s", as_of.leaf)
    leading = _leading(query, as_of)
    for term in query.terms:
        if term.path is not None:
            found.paths.append(term)
        elif term is leading:
            found.parts = _parts(term, as_of)
        else:
            condition, parameters = _condition(term, as_of, found.pointer)
            # What cannot be compared, such as a missing generation's number, does not match.
            text = f"NOT coalesce({condition}, false)" if term.negated else condition
            found.add(text, *parameters)
    for word in query.words:
        if word is leading:
            found.parts = _word(word)
        else:
            found.add(*_any_of(_word(word)))
    found.is_by_time = any(term.name in _SINCE and not term.negated for term in query.terms)
    if _is_slow(query, as_of):
        found.first = max(0, as_of.end - SCANNED)
        found.add("e.leaf_index >= %s", found.first)
    return found


def sources(as_of: AsOf) -> Where:
    """Read pointers from the entry now, and from their events for the past."""
    if as_of.is_now:
        return Where("e")
    newest = (
        "SELECT max(at_leaf) FROM pointer_event past WHERE past.project_id = e.project_id "
        "AND past.leaf_index = e.leaf_index AND past.at_leaf <= %s"
    )
    joined = (
        "LEFT JOIN pointer_event p ON p.project_id = e.project_id "
        f"AND p.leaf_index = e.leaf_index AND p.at_leaf = ({newest})"
    )
    return Where("p", joined, parameters=[as_of.leaf])


def _is_slow(query: Query, as_of: AsOf) -> bool:
    positive = {term.name for term in query.terms if not term.negated and term.path is None}
    indexed = INDEXED if as_of.is_now else INDEXED - _OF_NOW
    return bool(query.terms) and not query.words and not positive & indexed


def _leading(query: Query, as_of: AsOf) -> Term | str | None:
    """Choose the term or word by whose index the receipts are found; the others are compared."""
    terms = {term.name: term for term in query.terms if term.path is None and not term.negated}
    names = [name for name in _LEADING if as_of.is_now or name not in _OF_NOW]
    found = [terms[name] for name in names if name in terms]
    few: list[Term | str] = [term for term in found if term.name in _FEW]
    return next(iter([*few, *query.words, *found]), None)


def _parts(term: Term, as_of: AsOf) -> list[Part]:
    """Give each way to meet a leading term, with the index that finds it."""
    parts: list[Part] = []
    for value in term.values:
        if term.name == "pointer":
            states = sorted(words.UNRESOLVED) if value == "unresolved" else [value]
            parts += [Part(*_pointer(one, term, as_of, "e"), "entry_by_pointer") for one in states]
        elif term.name == "verdict":
            parts += _verdict_parts(value, as_of)
        elif term.name == "job":
            condition, parameters = _job(value, term, as_of, "e")
            is_whole = condition.startswith("e.job =")
            index = "entry_by_job" if is_whole else "entry_by_job_number"
            parts.append(Part(condition, parameters, index))
        else:
            one = Term(term.name, (value,))
            parts.append(Part(*_condition(one, as_of, "e"), _LEADING[term.name]))
    return parts


def _verdict_parts(value: str, as_of: AsOf) -> list[Part]:
    """Part those that read as the verdict since they were judged from those that came to it."""
    overdue = "(e.pointer_state = 'waiting' AND e.due_at <= %s)"
    stays = f"e.verdict = %s AND (NOT coalesce({overdue}, false) OR e.verdict_when_due = %s)"
    came = f"{overdue} AND e.verdict_when_due = %s AND e.verdict <> %s"
    return [
        Part(stays, [value, as_of.at, value], "entry_by_verdict"),
        Part(came, [as_of.at, value, value], "entry_by_pointer"),
    ]


Condition = tuple[str, Sequence[Any]]


def _condition(term: Term, as_of: AsOf, pointer: str) -> Condition:
    if term.name in _COLUMNS:
        marks = ", ".join(["%s"] * len(term.values))
        return f"e.{_COLUMNS[term.name]} IN ({marks})", [column(value) for value in term.values]
    if term.name in _TIMES:
        return _any([(f"{_TIMES[term.name]} %s", [_time(value, as_of)]) for value in term.values])
    if term.name in _COUNTS:
        cut = [as_of.leaf] if term.name == "executions" else [as_of.at, as_of.at]
        text = f"{_COUNTS[term.name]} {term.comparison} %s"
        return _any([(text, [*cut, int(value)]) for value in term.values])
    one = _ONE[term.name]
    return _any([one(value, term, as_of, pointer) for value in term.values])


def _any(conditions: Sequence[Condition]) -> Condition:
    text = " OR ".join(condition for condition, _ in conditions)
    return f"({text})", [value for _, parameters in conditions for value in parameters]


def _time(value: str, as_of: AsOf) -> datetime:
    return moment(value, as_of.at)


def _any_of(parts: Sequence[Part]) -> tuple[Any, ...]:
    condition, parameters = _any([(part.condition, part.parameters) for part in parts])
    return (condition, *parameters)


def _word(word: str) -> list[Part]:
    """Match a bare word to ids only; free text is not searched, and the page says so."""
    text = column(word)
    subject = (
        "e.leaf_index IN (SELECT s.leaf_index FROM entry_subject s "
        "WHERE s.project_id = e.project_id AND s.subject = %s)"
    )
    parts = [
        Part("e.id_key = %s", [column(normal_id(word))], "entry_by_id"),
        Part("e.job_number = %s", [text], "entry_by_job_number"),
        Part("e.job = %s", [text], "entry_by_job"),
        Part("e.scope = %s", [text], "entry_by_scope"),
        Part("e.trace = %s", [text.lower()], "entry_by_trace"),
        Part(subject, [text]),
    ]
    receipt = ids.uuid_of(word)
    if receipt is not None:
        parts.append(Part("e.receipt = %s", [receipt]))
    if word[:1] == "n" and word[1:].isascii() and word[1:].isdigit() and len(word) < 19:
        parts.append(Part("e.leaf_index = %s", [int(word[1:])]))
    return parts


def _pointer(value: str, term: Term, as_of: AsOf, pointer: str) -> Condition:
    if value == "unresolved":
        return _any([_pointer(one, term, as_of, pointer) for one in sorted(words.UNRESOLVED)])
    state, due = f"{pointer}.pointer_state", f"{pointer}.due_at"
    if value == "pending":
        return f"({state} = 'waiting' AND {due} > %s)", [as_of.at]
    if value == "dangling":
        return f"({state} = 'dangling' OR ({state} = 'waiting' AND {due} <= %s))", [as_of.at]
    # As the entry has it, it is never null, and to say so would hide it from its index.
    return f"{state} = %s" if pointer == "e" else f"coalesce({state}, '') = %s", [value]


def _outcome(value: str, term: Term, as_of: AsOf, pointer: str) -> Condition:
    return f"coalesce({pointer}.outcome, '') = %s", [value]


def _verdict(value: str, term: Term, as_of: AsOf, pointer: str) -> Condition:
    """Match what the verdict reads as at the clock: one that waits too long has lost its reason."""
    overdue = f"coalesce({pointer}.pointer_state = 'waiting' AND {pointer}.due_at <= %s, false)"
    if pointer == "e":
        now, then = "e.verdict", "e.verdict_when_due"
    else:
        now, then = "coalesce(p.verdict, e.verdict)", "p.verdict_when_due"
    # The first condition alone has an index; it is met by all but the few that are overdue.
    condition = f"(({now} = %s AND NOT {overdue}) OR ({then} = %s AND {overdue}))"
    return condition, [value, as_of.at, value, as_of.at]


def _level(value: str, term: Term, as_of: AsOf, pointer: str) -> Condition:
    stored = "e.level" if pointer == "e" else "coalesce(p.level, e.level)"
    return f"{stored} = %s", [value]


def _source(value: str, term: Term, as_of: AsOf, pointer: str) -> Condition:
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


def _producer(value: str, term: Term, as_of: AsOf, pointer: str) -> Condition:
    return (
        "e.token IN (SELECT t.id FROM access_apitoken t "
        "WHERE t.project_id = e.project_id AND t.name = %s)",
        [value],
    )


def _subject(value: str, term: Term, as_of: AsOf, pointer: str) -> Condition:
    kind, name = pair(value)
    return (
        "e.leaf_index IN (SELECT s.leaf_index FROM entry_subject s "
        "WHERE s.project_id = e.project_id AND s.type = %s AND s.subject = %s)",
        [kind, column(name)],
    )


def _job(value: str, term: Term, as_of: AsOf, pointer: str) -> Condition:
    name = "e.job" if value.count("/") >= 2 else "e.job_number"
    return f"{name} = %s", [column(value)]


def _id(value: str, term: Term, as_of: AsOf, pointer: str) -> Condition:
    return "e.id_key = %s", [column(normal_id(value))]


def _generation(value: str, term: Term, as_of: AsOf, pointer: str) -> Condition:
    if term.comparison == "=":
        return "e.generation = %s", [column(value)]
    return f"{_number('e.generation')} {term.comparison} %s", [int(value)]


def _number(name: str) -> str:
    """Read a text column as a whole number, null where it is none."""
    if is_postgresql():
        return f"(CASE WHEN {name} ~ '^[0-9]{{1,18}}$' THEN {name}::bigint END)"
    plain = f"{name} <> '' AND {name} NOT GLOB '*[^0-9]*' AND length({name}) <= 18"
    return f"(CASE WHEN {plain} THEN CAST({name} AS INTEGER) END)"


_ONE: dict[str, Callable[[str, Term, AsOf, str], Condition]] = {
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
