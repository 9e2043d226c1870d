"""Receipts that came more than a day late, and which of them were waiting in their spool.

A number that lies between others of its spool, all of which arrived, was written between them: its
lateness says nothing against it. So the receipt keeps its level from that `arrived` receipt on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kit import bulk
from ledger import keys
from ledger.domain import arrivals
from ledger.domain.arrivals import Arrived
from ledger.domain.statement import Statement, in_order, suffers_lateness
from ledger.registry import Write
from ledger.statements import Item

_COLUMNS = ("project_id", "leaf_index", "spool", "number", "in_order_leaf")
_NUMBERS = (
    "SELECT receipt, feed_spool, feed_number FROM delivery "
    "WHERE receipt IN ({values}) AND feed_number IS NOT NULL ORDER BY id DESC"
)
_HIGH = (
    "SELECT high FROM feed_spool WHERE project_id = %s AND spool = %s AND leaf_index <= %s "
    "ORDER BY leaf_index DESC LIMIT 1"
)
_HOLES = (
    "SELECT first_number, last_number FROM feed_gap WHERE project_id = %s AND spool = %s "
    "AND leaf_index <= %s AND (until_leaf IS NULL OR until_leaf > %s OR closed_by = 'waived')"
)


@dataclass(slots=True)
class _Late:
    """A late receipt by its number, and whether its row is stored already."""

    leaf: int
    spool: str
    number: int
    is_stored: bool
    in_order_leaf: int | None = None


class LateProjector:
    """Notes late receipts by their numbers, and the arrival by which each lies in order.

    It reads what the projector of feeds keeps of the spools.
    """

    name = "late"
    rules_version = 1
    tables: tuple[str, ...] = ("late_receipt",)

    def plan(self, project_id: int, items: Sequence[Item]) -> Write:
        """Find the late receipts of the batch, and those that its arrivals put in order."""
        late = _late(items)
        came = _arrivals(project_id, items)
        known = late + _waiting(project_id, {one.spool for _, one in came}) if came else late
        by_spool: dict[str, list[_Late]] = defaultdict(list)
        for one in known:
            by_spool[one.spool].append(one)
        for leaf, told in came:
            _put_in_order(project_id, leaf, told, by_spool.get(told.spool, ()))
        rows = [
            (project_id, one.leaf, one.spool, one.number, one.in_order_leaf)
            for one in known
            if not one.is_stored
        ]
        moved = [
            (one.in_order_leaf, project_id, one.leaf)
            for one in known
            if one.is_stored and one.in_order_leaf is not None
        ]

        def write() -> None:
            bulk.insert_rows("late_receipt", _COLUMNS, rows)
            bulk.update_rows(
                "UPDATE late_receipt SET in_order_leaf = %s "
                "WHERE project_id = %s AND leaf_index = %s",
                moved,
            )

        return write


def numbered(project_id: int, items: Sequence[Item]) -> set[int]:
    """Give the late receipts of a batch that have numbers: their level may rise."""
    leaves = [item.leaf for item in items if suffers_lateness(item.statement)]
    statement = (
        "SELECT leaf_index FROM late_receipt WHERE project_id = %s AND leaf_index IN ({values})"
    )
    return {leaf for (leaf,) in bulk.select_in(statement, [project_id], leaves)}


def raised_by(project_id: int, items: Sequence[Item]) -> dict[int, list[int]]:
    """Give the receipts that the arrivals of a batch put in order, by the leaf of the arrival."""
    leaves = [leaf for leaf, _ in _arrivals(project_id, items)]
    statement = (
        "SELECT in_order_leaf, leaf_index FROM late_receipt "
        "WHERE project_id = %s AND in_order_leaf IN ({values})"
    )
    found: dict[int, list[int]] = defaultdict(list)
    for by, leaf in sorted(bulk.select_in(statement, [project_id], leaves)):
        found[by].append(leaf)
    return found


def as_ordered(project_id: int, found: Mapping[int, Statement], end: int) -> dict[int, Statement]:
    """Give those statements that lie in order by an arrival below `end`, with their own level."""
    leaves = [leaf for leaf, one in found.items() if suffers_lateness(one)]
    statement = (
        "SELECT leaf_index FROM late_receipt WHERE project_id = %s AND in_order_leaf < %s "
        "AND leaf_index IN ({values})"
    )
    rows = bulk.select_in(statement, [project_id, end], leaves)
    return {leaf: in_order(found[leaf]) for (leaf,) in rows}


def _late(items: Iterable[Item]) -> list[_Late]:
    late = {item.receipt: item.leaf for item in items if suffers_lateness(item.statement)}
    # The first delivery comes last and stands: sending again under another number moves nothing.
    numbers = {
        bulk.as_uuid(receipt): (spool, number)
        for receipt, spool, number in bulk.select_in(_NUMBERS, [], late)
    }
    return [_Late(late[receipt], *number, False) for receipt, number in numbers.items()]


def _arrivals(project_id: int, items: Iterable[Item]) -> list[tuple[int, Arrived]]:
    """Give our own `arrived` receipts of a batch, in order."""
    key = None
    found = []
    for item in items:
        if item.statement.what != arrivals.WHAT or item.statement.token_id is not None:
            continue
        key = key or keys.project_key(project_id)
        if arrivals.is_own(item.statement, key) and (one := arrivals.read(item.statement)):
            found.append((item.leaf, one))
    return found


def _waiting(project_id: int, spools: Iterable[str]) -> list[_Late]:
    statement = (
        "SELECT leaf_index, spool, number FROM late_receipt "
        "WHERE project_id = %s AND in_order_leaf IS NULL AND spool IN ({values})"
    )
    rows = bulk.select_in(statement, [project_id], sorted(spools))
    return [_Late(leaf, spool, number, True) for leaf, spool, number in rows]


def _put_in_order(project_id: int, leaf: int, told: Arrived, late: Sequence[_Late]) -> None:
    """Mark the late receipts that lie between others of their spool as of an arrival."""
    waiting = [one for one in late if one.in_order_leaf is None and one.leaf < leaf]
    if not waiting:
        return
    place = [project_id, told.spool, leaf]
    high = max((int(high) for (high,) in bulk.select_rows(_HIGH, place)), default=0)
    holes = bulk.select_rows(_HOLES, [*place, leaf])
    for one in waiting:
        around = range(one.number - 1, one.number + 2)
        is_between = one.number > 1 and one.number < high
        if is_between and not any(a <= n <= b for n in around for a, b in holes):
            one.in_order_leaf = leaf
