"""A query as SQL over `entry`, seen as of a leaf and a clock."""

from __future__ import annotations

from kit.search import Query
from ledger.queries.as_of import AsOf
from ledger.queries.conditions import Seen, condition_of
from ledger.queries.fields import INDEXED, SCANNED
from ledger.queries.leading import (
    OF_NOW,
    Leader,
    finds_many,
    leading,
    parts_of,
    word_condition,
    word_parts,
)
from ledger.queries.selection import Where

_SINCE = frozenset({"after", "occurred.after"})


def where(project_id: int, query: Query, as_of: AsOf) -> Where:
    """Turn a query without faults into SQL.

    `first` is the first leaf looked at: above zero when no term of the query has an index.
    """
    found = sources(as_of)
    seen = Seen(project_id, as_of, found.pointer)
    found.add("e.project_id = %s", project_id)
    found.add("e.leaf_index <= %s", as_of.leaf)
    found.paths = [term for term in query.terms if term.path is not None]
    leader = leading(query, seen)
    is_since = any(term.name in _SINCE and not term.negated for term in query.terms)
    found.is_by_time = is_since and finds_many(leader)
    _add_terms(found, query, leader, seen)
    if _is_slow(query, as_of):
        found.first = max(0, as_of.end - SCANNED)
        found.add("e.leaf_index >= %s", found.first)
    return found


def _add_terms(found: Where, query: Query, leader: Leader, seen: Seen) -> None:
    for term in query.terms:
        if term is leader:
            found.parts = parts_of(term, seen)
        elif term.path is None:
            condition, parameters = condition_of(term, seen)
            # What cannot be compared, such as a missing generation's number, does not match.
            text = f"NOT coalesce({condition}, false)" if term.negated else condition
            found.add(text, *parameters)
    for word in query.words:
        if word is leader:
            found.parts = word_parts(word, seen)
        else:
            condition, parameters = word_condition(word, seen)
            found.add(condition, *parameters)


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
    indexed = INDEXED if as_of.is_now else INDEXED - OF_NOW
    return bool(query.terms) and not query.words and not positive & indexed
