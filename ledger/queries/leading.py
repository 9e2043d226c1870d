"""Which term of a query leads, and the parts in which its receipts are found by an index each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kit import ids
from kit.search import Query, Term, pair
from ledger.domain import words
from ledger.domain.names import column
from ledger.domain.statement import normal_id
from ledger.queries.conditions import Condition, Seen, any_of, condition_of
from ledger.queries.selection import Part

OF_NOW = frozenset({"pointer", "verdict"})
"""What changes later: of an earlier time it is kept by receipt, without an index of its values."""
# Those that find few come first, then words, then the others.
_FEW = {
    "id": "entry_by_id", "job": "entry_by_job", "key": "entry_by_key", "trace": "entry_by_trace",
    "scope": "entry_by_scope", "subject": "",
}  # fmt: skip
_MANY = {"pointer": "entry_by_pointer", "verdict": "entry_by_verdict", "task": "entry_by_task"}
# Each type of subject by a step from the last: the index of subjects begins with the type.
_TYPES = """WITH RECURSIVE one(type) AS (
SELECT min(named.type) FROM entry_subject named WHERE named.project_id = %s
UNION ALL SELECT (SELECT min(named.type) FROM entry_subject named
WHERE named.project_id = %s AND named.type > one.type)
FROM one WHERE one.type IS NOT NULL) SELECT type FROM one WHERE type IS NOT NULL"""


Leader = Term | str | None
"""The term or the word that leads, None where every term is compared."""


def finds_many(leader: Leader) -> bool:
    """Tell whether what leads may find a great part of the log."""
    return leader is None or (isinstance(leader, Term) and leader.name in _MANY)


def leading(query: Query, seen: Seen) -> Leader:
    """Choose the term or word by whose index the receipts are found; the others are compared."""
    terms = {term.name: term for term in query.terms if term.path is None and not term.negated}
    many = [name for name in _MANY if seen.as_of.is_now or name not in OF_NOW]
    few: list[Term | str] = [terms[name] for name in _FEW if name in terms]
    return next(iter([*few, *query.words, *(terms[name] for name in many if name in terms)]), None)


def parts_of(term: Term, seen: Seen) -> list[Part]:
    """Give each way to meet a leading term, with the index that finds it."""
    parts = _PARTS.get(term.name, _plain)
    return [part for value in term.values for part in parts(value, term, seen)]


def _plain(value: str, term: Term, seen: Seen) -> list[Part]:
    condition, parameters = condition_of(Term(term.name, (value,)), seen)
    return [Part(condition, parameters, (_FEW | _MANY)[term.name])]


def _job(value: str, term: Term, seen: Seen) -> list[Part]:
    (part,) = _plain(value, term, seen)
    is_whole = value.count("/") >= 2
    return [part if is_whole else Part(part.condition, part.parameters, "entry_by_job_number")]


def _pointer(value: str, term: Term, seen: Seen) -> list[Part]:
    if value == "unresolved":
        return [part for one in sorted(words.UNRESOLVED) for part in _pointer(one, term, seen)]
    if value != "dangling":
        return _plain(value, term, seen)
    waited = "e.pointer_state = 'waiting' AND e.due_at <= %s"
    return [
        Part("e.pointer_state = 'dangling'", [], "entry_by_pointer"),
        Part(waited, [seen.as_of.at], "entry_by_pointer"),
    ]


def _verdict(value: str, term: Term, seen: Seen) -> list[Part]:
    """Part those that read as the verdict since they were judged from those that came to it."""
    at = seen.as_of.at
    overdue = "(e.pointer_state = 'waiting' AND e.due_at <= %s)"
    stays = f"e.verdict = %s AND (NOT coalesce({overdue}, false) OR e.verdict_when_due = %s)"
    came = f"{overdue} AND e.verdict_when_due = %s AND e.verdict <> %s"
    return [
        Part(stays, [value, at, value], "entry_by_verdict"),
        Part(came, [at, value, value], "entry_by_pointer"),
    ]


def _subject(value: str, term: Term, seen: Seen) -> list[Part]:
    kind, name = pair(value)
    return [_of_subject("= %s", [kind], column(name), seen)]


def _of_subject(kinds: str, given: Sequence[Any], name: str, seen: Seen) -> Part:
    condition = (
        f"s.project_id = %s AND s.type {kinds} AND s.subject = %s AND e.leaf_index = s.leaf_index"
    )
    return Part(condition, [seen.project_id, *given, name], first="entry_subject s")


_PARTS: dict[str, Callable[[str, Term, Seen], list[Part]]] = {
    "job": _job,
    "pointer": _pointer,
    "subject": _subject,
    "verdict": _verdict,
}


def word_parts(word: str, seen: Seen) -> list[Part]:
    """Match a bare word to ids only; free text is not searched, and the page says so."""
    types = [seen.project_id, seen.project_id]
    return [*_of_entry(word), _of_subject(f"IN ({_TYPES})", types, column(word), seen)]


def word_condition(word: str, seen: Seen) -> Condition:
    """Compare a word that does not lead."""
    subject = (
        "e.leaf_index IN (SELECT s.leaf_index FROM entry_subject s "  # noqa: S608
        f"WHERE s.project_id = %s AND s.type IN ({_TYPES}) AND s.subject = %s)"
    )
    found = [(part.condition, part.parameters) for part in _of_entry(word)]
    return any_of([*found, (subject, [*[seen.project_id] * 3, column(word)])])


def _of_entry(word: str) -> list[Part]:
    text = column(word)
    parts = [
        Part("e.id_key = %s", [column(normal_id(word))], "entry_by_id"),
        Part("e.job_number = %s", [text], "entry_by_job_number"),
        Part("e.job = %s", [text], "entry_by_job"),
        Part("e.scope = %s", [text], "entry_by_scope"),
        Part("e.trace = %s", [text.lower()], "entry_by_trace"),
    ]
    receipt = ids.uuid_of(word)
    if receipt is not None:
        parts.append(Part("e.receipt = %s", [receipt]))
    if word[:1] == "n" and word[1:].isascii() and word[1:].isdigit() and len(word) < 19:
        parts.append(Part("e.leaf_index = %s", [int(word[1:])]))
    return parts
