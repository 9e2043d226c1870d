"""Statements read back from the ledger: what each receipt said, by its leaf.

The body is parsed again each time, so nothing has to be kept twice; what the body does not hold
(the id that we gave, the token's source) comes from the receipt, its delivery and its token.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from kit import bulk, ids
from ledger.domain import canonical, plain, tallies
from ledger.domain.statement import READABLE, Statement, read_statement
from ledger.domain.tallies import Outcome, Tallied
from ledger.models import Receipt

_COLUMNS = """receipt.id, receipt.state, receipt.received_at, receipt.id_source,
       receipt.token_id, receipt.derived_from, receipt_body.raw,
       access_apitoken.source_system, access_apitoken.source_instance"""
_JOINS = """LEFT JOIN receipt_body ON receipt_body.id = receipt.id
LEFT JOIN access_apitoken ON access_apitoken.id = receipt.token_id"""
_SELECT = f"""
SELECT leaf.leaf_index, {_COLUMNS} FROM leaf JOIN receipt ON receipt.id = leaf.receipt
{_JOINS} WHERE leaf.project_id = %s
"""  # noqa: S608
_RANGE = _SELECT + "AND leaf.leaf_index >= %s AND leaf.leaf_index < %s ORDER BY leaf.leaf_index"
_ONE = f"SELECT %s, {_COLUMNS} FROM receipt {_JOINS} WHERE receipt.id = %s"  # noqa: S608
_SOME = _SELECT + "AND leaf.leaf_index IN ({values})"
_SIZE = (
    "SELECT coalesce(sum(receipt.length), 0) FROM leaf JOIN receipt ON receipt.id = leaf.receipt "
    "WHERE leaf.project_id = %s AND leaf.leaf_index >= %s AND leaf.leaf_index < %s"
)
BYTES_AT_ONCE = 1 << 20
"""A batch is cut where its bodies come to more: 500 tallies would hold half a million outcomes,
and their rows the write lock for seconds."""


@dataclass(frozen=True)
class Item:
    """A leaf as projectors get it: the statement and the receipt that made it.

    `rows` are those of a tally and `messages` those of a segment of a bus, as they were sent: of
    all that lies in `data`, they alone are read.
    """

    leaf: int
    receipt: uuid.UUID
    statement: Statement
    derived_from: uuid.UUID | None
    rows: Sequence[object] = field(default=(), repr=False)
    messages: Sequence[object] = field(default=(), repr=False)

    @cached_property
    def outcomes(self) -> tuple[Outcome, ...]:
        """Give the rows of a tally, read when they are asked for."""
        return tallies.outcomes_of(self.rows)

    @cached_property
    def listed(self) -> Mapping[str, Tallied]:
        """Give what a tally lists, by job."""
        return tallies.listing(self.statement, self.outcomes)


def load_range(project_id: int, first: int, end: int) -> list[Item]:
    """Load the leaves from `first` on and below `end`, in order: as many as are read at once.

    There is at least one, as long as the range holds any.
    """
    while end - first > 1 and _size(project_id, first, end) > BYTES_AT_ONCE:
        end = first + (end - first) // 2
    return _items(bulk.select_rows(_RANGE, [project_id, first, end]))


def _size(project_id: int, first: int, end: int) -> int:
    ((size,),) = bulk.select_rows(_SIZE, [project_id, first, end])
    return int(size)


def load_items(project_id: int, leaves: Iterable[int]) -> dict[int, Item]:
    """Load some leaves, by leaf."""
    rows = bulk.select_in(_SOME, [project_id], sorted(set(leaves)), size=500)
    return {item.leaf: item for item in _items(rows)}


def load_leaves(project_id: int, leaves: Iterable[int]) -> dict[int, Statement]:
    """Load the statements of some leaves, by leaf."""
    return {leaf: item.statement for leaf, item in load_items(project_id, leaves).items()}


def read_receipt(receipt: Receipt, leaf: int | None) -> Statement:
    """Read one receipt, also before it has a leaf; its leaf is then -1."""
    rows = bulk.select_rows(_ONE, [-1 if leaf is None else leaf, receipt.pk])
    return _items(rows)[0].statement


def _items(rows: Sequence[Sequence[Any]]) -> list[Item]:
    spools = _feed_ids([bulk.as_uuid(row[1]) for row in rows if row[4] == "feed"])
    return [_item(row, spools) for row in rows]


def _item(row: Sequence[Any], feed_ids: dict[uuid.UUID, str]) -> Item:
    leaf, stored, state, received_at, id_source, token_id, derived, raw, system, instance = row
    receipt = bulk.as_uuid(stored)
    parent = None if derived is None else bulk.as_uuid(derived)
    names = {"minted": str(receipt), "feed": feed_ids.get(receipt, "")}
    stub, rows, messages = _read(raw, state)
    statement = read_statement(
        stub,
        leaf=leaf,
        ref=ids.ref_of(receipt),
        state=state,
        received_at=bulk.as_time(received_at),
        source_default=(system or "", instance or ""),
        token_id=token_id,
        minted=id_source == "minted",
        id_default=names.get(id_source, ""),
        derived_from=None if parent is None else ids.ref_of(parent),
    )
    return Item(leaf, receipt, statement, parent, rows, messages)


_Read = tuple[dict[str, object], Sequence[object], Sequence[object]]


def _read(raw: bytes | None, state: str) -> _Read:
    """Give the body without what the stub leaves out, the rows of a tally and those of a segment.

    All are empty where it cannot be read.
    """
    if raw is None or state == "oversize":
        return {}, (), ()
    try:
        value, _ = canonical.parse_any(raw)
    except canonical.NotCanonical:
        return {}, (), ()
    if not isinstance(value, dict):
        return {}, (), ()
    value.pop("sent", None)
    data = value.pop("data", None)
    kind = value.get("kind") if state in READABLE else None
    is_segment = kind == "observe" and value.get("what") == "segment"
    # What Oban's telemetry calls itself tells a deferred call from any other observation.
    event = data.get("event") if isinstance(data, dict) else None
    stub = value if event is None or "event" in value else {**value, "event": event}
    long = plain.object_of(data)
    rows = plain.list_of(long.get("jobs")) if kind == "tally" else ()
    return stub, rows, plain.list_of(long.get("messages")) if is_segment else ()


def _feed_ids(receipts: Sequence[uuid.UUID]) -> dict[uuid.UUID, str]:
    """Give the ids that receipts got from their number in a feed, by their first delivery."""
    statement = (
        "SELECT receipt, feed_spool, feed_number FROM delivery "
        "WHERE receipt IN ({values}) AND feed_number IS NOT NULL ORDER BY id DESC"
    )
    rows = bulk.select_in(statement, [], receipts, size=500)
    return {bulk.as_uuid(receipt): f"feed:{spool}:{number}" for receipt, spool, number in rows}
