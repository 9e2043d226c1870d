"""What is kept beside spools: the settled ones of each producer summed up, and tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection

from kit import bulk
from ledger.domain import feed_lines
from ledger.domain.feeds import Spool
from ledger.statements import Item

Row = tuple[object, ...]
_PRODUCER = ("project_id", "producer", "spools", "arrived", "waived", "first_at", "last_at")
_NEW = (None, None)
_TOKEN = ("project_id", "token", "unnumbered_leaf", "numbered_leaf")


@dataclass(slots=True)
class Sum:
    """What the batch adds to the settled spools of a producer."""

    spools: int = 0
    arrived: int = 0
    waived: int = 0
    first_at: datetime | None = None
    last_at: datetime | None = None

    def add(self, spool: Spool, sign: int) -> None:
        """Count a spool as it is now, or with -1 as it was."""
        if not spool.is_settled:
            return
        self.spools += sign
        self.arrived += sign * min(spool.arrived, feed_lines.MOST)
        self.waived += sign * min(spool.waived, feed_lines.MOST)
        self.first_at = min(filter(None, (self.first_at, spool.first_at)))
        self.last_at = max(filter(None, (self.last_at, spool.heard_at)))


def plan_producers(project_id: int, sums: dict[str, Sum]) -> Callable[[], None]:
    """Add to the settled spools of each producer."""
    changed = {name: one for name, one in sums.items() if one.first_at is not None}
    statement = (
        f"SELECT {', '.join(_PRODUCER[1:])} FROM feed_producer "  # noqa: S608
        "WHERE project_id = %s AND producer IN ({values})"
    )
    for name, *counts, first_at, last_at in bulk.select_in(statement, [project_id], changed):
        one = changed[name]
        one.spools, one.arrived, one.waived = (
            a + b
            for a, b in zip((one.spools, one.arrived, one.waived), counts, strict=True)
        )  # fmt: skip
        one.first_at = min(filter(None, (one.first_at, bulk.as_time(first_at))))
        one.last_at = max(filter(None, (one.last_at, bulk.as_time(last_at))))
    rows = [
        (project_id, name, one.spools, one.arrived, one.waived, one.first_at, one.last_at)
        for name, one in sorted(changed.items())
    ]
    return lambda: _replace("feed_producer", _PRODUCER, rows)


def plan_tokens(
    project_id: int, items: Sequence[Item], numbered: Mapping[int, int]
) -> Callable[[], None]:
    """Note each token's first receipt without a number, and the first arrival that names it.

    A line that a spool sends of itself has no number, and says nothing of its token.
    """
    sent = [
        item for item in items
        if item.statement.token_id is not None and not feed_lines.is_line(item.statement)
    ]  # fmt: skip
    tokens = {item.statement.token_id for item in sent if item.statement.token_id is not None}
    known = _known_tokens(project_id, {*tokens, *numbered})
    found: dict[int, list[int | None]] = {token: [None, leaf] for token, leaf in numbered.items()}
    open_ones = [item for item in sent if known.get(item.statement.token_id or 0, _NEW)[0] is None]
    for item in _unnumbered(open_ones):
        leaves = found.setdefault(item.statement.token_id or 0, [None, None])
        leaves[0] = item.leaf if leaves[0] is None else leaves[0]
    rows = []
    for token, leaves in sorted(found.items()):
        before = known.get(token, (None, None))
        after = tuple(a if a is not None else b for a, b in zip(before, leaves, strict=True))
        if after != before:
            rows.append((project_id, token, *after))
    return lambda: _replace("feed_token", _TOKEN, rows)


def _unnumbered(items: Sequence[Item]) -> Iterator[Item]:
    """Give those receipts whose first delivery had no number, in order."""
    statement = (
        "SELECT receipt, feed_number FROM delivery WHERE receipt IN ({values}) ORDER BY id DESC"
    )
    receipts = [item.receipt for item in items]
    # The first delivery comes last and stands: sending again with a number comes too late.
    numbers = {
        bulk.as_uuid(receipt): number for receipt, number in bulk.select_in(statement, [], receipts)
    }
    return (item for item in items if item.receipt in numbers and numbers[item.receipt] is None)


def _known_tokens(project_id: int, tokens: Iterable[int]) -> dict[int, tuple[Any, Any]]:
    statement = (
        "SELECT token, unnumbered_leaf, numbered_leaf FROM feed_token "
        "WHERE project_id = %s AND token IN ({values})"
    )
    rows = bulk.select_in(statement, [project_id], tokens)
    return {token: (first, numbered) for token, first, numbered in rows}


def _replace(table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
    if not rows:
        return
    taken = ", ".join(f"{name} = excluded.{name}" for name in columns[2:])
    statement = (
        f"INSERT INTO {table} ({', '.join(columns)}) "  # noqa: S608
        f"VALUES ({', '.join(['%s'] * len(columns))}) "
        f"ON CONFLICT ({', '.join(columns[:2])}) DO UPDATE SET {taken}"
    )
    with connection.cursor() as cursor:
        cursor.executemany(statement, bulk.adapt_rows(rows))
