"""Rows of the list for receipts that something else has chosen, by their leaves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kit import bulk
from ledger.queries import items
from ledger.queries.as_of import AsOf
from ledger.queries.items import Item

PAST = (
    " LEFT JOIN pointer_event p ON p.project_id = e.project_id "
    "AND p.leaf_index = e.leaf_index AND p.at_leaf = (SELECT max(past.at_leaf) "
    "FROM pointer_event past WHERE past.project_id = e.project_id "
    "AND past.leaf_index = e.leaf_index AND past.at_leaf <= %s)"
)
"""Joins what each receipt's pointer was as of a leaf, as `p`."""


def items_of(project_id: int, leaves: Sequence[int], as_of: AsOf) -> list[Item]:
    """Give the rows of some leaves as they are or were, in the order of the leaves given."""
    pointer = "e" if as_of.is_now else "p"
    fixed: list[Any] = [] if as_of.is_now else [as_of.leaf]
    statement = (
        f"SELECT {items.select(pointer)} FROM entry e{'' if as_of.is_now else PAST} "  # noqa: S608
        "WHERE e.project_id = %s AND e.leaf_index IN ({values})"
    )
    rows = bulk.select_in(statement, [*fixed, project_id], leaves)
    place = {leaf: number for number, leaf in enumerate(leaves)}
    rows.sort(key=lambda row: place[row[0]])
    return items.items(project_id, rows, as_of)
