"""Writes queries: the canonical text, and the links that narrow or widen one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from kit.search.terms import Query, Term

_NEEDS_QUOTES = re.compile(r'[\s,"]|^[><=]|^$')


def render(terms: Iterable[Term], words: Iterable[str] = ()) -> str:
    """Write terms and words in their canonical form; `parse` reads the same ones back."""
    return " ".join([*(_render_term(term) for term in terms), *(_word(word) for word in words)])


def _render_term(term: Term) -> str:
    name = term.name if term.path is None else f"{term.name}.{quoted(term.path, ':')}"
    values = ",".join(quoted(value) for value in term.values)
    sign = "" if term.comparison == "=" else term.comparison
    return f"{'-' if term.negated else ''}{name}:{sign}{values}"


def _word(word: str) -> str:
    is_odd = word.startswith("-") or ":" in word
    return quoted(word, word[0]) if is_odd else quoted(word)


def quoted(value: str, also: str = "\x00") -> str:
    """Put a value in quotes where it needs them, or where it holds `also`."""
    if not _NEEDS_QUOTES.search(value) and also not in value:
        return value
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def without(query: Query, term: Term) -> str:
    """Write the query without a term, for the link that takes it away; faults stay in it."""
    kept = [one for one in query.terms if one != term]
    return _rewritten(query, kept)


def with_term(
    query: Query, name: str, value: str, *, path: str | None = None, negated: bool = False
) -> str:
    """Write the query narrowed to a value, for the link of a facet.

    A term that asked for other values of the same name is replaced, since no row would match
    both; negated terms and comparisons stay. With `negated` the value is excluded instead.
    """
    new = Term(name, (value,), negated, path=path)
    kept = [one for one in query.terms if one != new and (negated or not _asks_same(one, new))]
    return _rewritten(query, [*kept, new])


def _asks_same(one: Term, other: Term) -> bool:
    plain = not one.negated and one.comparison == "="
    return plain and (one.name, one.path) == (other.name, other.path)


def _rewritten(query: Query, terms: Sequence[Term]) -> str:
    faulty = dict.fromkeys(fault.source for fault in query.faults if fault.source)
    return " ".join(filter(None, (render(terms, query.words), *faulty)))
