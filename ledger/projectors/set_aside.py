"""What was set aside, and what became of it: sent through again, or closed by a person."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from kit import bulk, ids
from ledger.domain import plain
from ledger.registry import Write
from ledger.statements import Item

_COLUMNS = (
    "project_id", "leaf_index", "receipt", "received_at", "code", "redriven_leaf", "closed_leaf",
    "closed_reason", "is_open",
)  # fmt: skip
SET_ASIDE = frozenset({"quarantined", "oversize"})
CLOSE = "close"


class SetAsideProjector:
    """Opens an item for each receipt set aside, and closes it by what comes later."""

    name = "set_aside"
    rules_version = 1
    tables: tuple[str, ...] = ("set_aside",)

    def plan(self, project_id: int, items: Sequence[Item]) -> Write:
        """Find what the batch opens and what it closes."""
        opened = [item for item in items if item.statement.state in SET_ASIDE]
        codes = _codes(opened)
        rows = [
            (
                project_id, item.leaf, item.receipt, item.statement.received_at,
                codes.get(item.receipt.hex, ""), None, None, "", True,
            )
            for item in opened
        ]  # fmt: skip
        # One statement for both, in the order of the leaves: whichever came first settles it.
        settled = [row for item in items for row in _settling(project_id, item)]

        def write() -> None:
            bulk.insert_rows("set_aside", _COLUMNS, rows)
            bulk.update_rows(
                "UPDATE set_aside SET redriven_leaf = %s, closed_leaf = %s, closed_reason = %s, "
                "is_open = false "
                "WHERE project_id = %s AND receipt = %s AND leaf_index < %s AND is_open",
                settled,
            )

        return write


def _settling(project_id: int, item: Item) -> Iterator[tuple[object, ...]]:
    if item.derived_from is not None:
        yield item.leaf, None, "", project_id, item.derived_from, item.leaf
    closed = _closed_receipt(item)
    if closed is not None:
        reason = plain.prose_of(item.statement.act.get("reason"))
        yield None, item.leaf, reason, project_id, closed, item.leaf


def _closed_receipt(item: Item) -> object | None:
    """Give the receipt that an act of ours closes; a producer's act of that name closes none."""
    one = item.statement
    if one.act_verb != CLOSE or one.token_id is not None or not one.act_target:
        return None
    kind, _, ref = one.act_target.partition(":")
    return ids.uuid_of(ref) if kind == "receipt" else None


def _codes(items: Sequence[Item]) -> dict[str, str]:
    statement = "SELECT receipt, reasons FROM quarantine WHERE receipt IN ({values})"
    rows = bulk.select_in(statement, [], [item.receipt for item in items])
    found = {}
    for receipt, reasons in rows:
        first = json.loads(reasons) or [{"code": "unknown"}]
        found[bulk.as_uuid(receipt).hex] = str(first[0]["code"])
    return found
