"""What became of one business object."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from access import queries as access_queries
from kit import bulk
from ledger import statements
from ledger.domain import subjects as domain
from ledger.domain.names import column
from ledger.queries import items, lists
from ledger.queries.as_of import AsOf

Document = dict[str, Any]
MOST = 5_000


def subject_document(project_id: int, kind: str, name: str, as_of: AsOf) -> Document:
    """Give all receipts of an object, oldest first, and what became of it."""
    leaves = [
        leaf
        for (leaf,) in bulk.select_rows(
            "SELECT leaf_index FROM entry_subject WHERE project_id = %s AND type = %s "
            "AND subject = %s AND leaf_index <= %s ORDER BY leaf_index LIMIT %s",
            [project_id, kind, column(name), as_of.leaf, MOST + 1],
        )
    ]
    shown = leaves[:MOST]
    known = statements.load_leaves(project_id, shown)
    became = domain.became(known.values())
    pointer = "e" if as_of.is_now else "p"
    found = items.items(project_id, _rows(project_id, shown, as_of, pointer), as_of)
    order = {leaf: (one.happened_at, leaf) for leaf, one in known.items()}
    found.sort(key=lambda item: order[int(item["leaf_index"])])
    return {
        "type": kind,
        "id": name,
        "became": became.answer,
        "rule": became.rule,
        "rule_words": domain.rule_words(became.rule),
        "by": became.ref,
        "watched_since": _watched_since(project_id),
        "complete": len(leaves) <= MOST,
        "items": found,
        "feed": lists.feed_of(project_id),
    }


def _rows(project_id: int, leaves: list[int], as_of: AsOf, pointer: str) -> list[tuple[Any, ...]]:
    sources = "entry e"
    fixed: list[Any] = []
    if pointer == "p":
        sources += (
            " LEFT JOIN pointer_event p ON p.project_id = e.project_id "
            "AND p.leaf_index = e.leaf_index AND p.at_leaf = (SELECT max(past.at_leaf) "
            "FROM pointer_event past WHERE past.project_id = e.project_id "
            "AND past.leaf_index = e.leaf_index AND past.at_leaf <= %s)"
        )
        fixed.append(as_of.leaf)
    statement = (
        f"SELECT {items.select(pointer)} FROM {sources} "  # noqa: S608
        "WHERE e.project_id = %s AND e.leaf_index IN ({values})"
    )
    return bulk.select_in(statement, [*fixed, project_id], leaves)


def _watched_since(project_id: int) -> datetime:
    """Give since when the project could have recorded anything."""
    return access_queries.get_project(project_id).created_at
