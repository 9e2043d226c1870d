"""The newest word of a person on each attention item, from our own `act` receipts."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import connection

from kit import bulk
from ledger.domain import plain
from ledger.registry import Write
from ledger.statements import Item

ACKNOWLEDGE = "acknowledge"
_COLUMNS = ("project_id", "item", "leaf_index", "facts", "reason", "actor", "at", "until")


class AcknowledgementsProjector:
    """Keeps for each item who acknowledged it last, why, on which facts and until when."""

    name = "acknowledgements"
    rules_version = 1
    tables: tuple[str, ...] = ("acknowledgement",)

    def plan(self, project_id: int, items: Sequence[Item]) -> Write:
        """Find the acts of acknowledging in the batch."""
        rows = [_row(project_id, item) for item in items if _is_acknowledging(item)]

        def write() -> None:
            _replace(rows)

        return write


def _is_acknowledging(item: Item) -> bool:
    """Tell our own acts from a producer's: ours come without a token."""
    one = item.statement
    is_ours = one.kind == "act" and one.token_id is None
    return is_ours and one.act_verb == ACKNOWLEDGE and one.act_target.startswith("attention:")


def _row(project_id: int, item: Item) -> tuple[object, ...]:
    one = item.statement
    return (
        project_id,
        one.act_target.removeprefix("attention:")[:40],
        item.leaf,
        plain.name_of(one.act.get("facts"))[:64],
        plain.prose_of(one.act.get("reason")),
        one.actor_label or one.actor_id,
        one.happened_at,
        plain.time_of(one.act.get("until")),
    )


def _replace(rows: Sequence[Sequence[object]]) -> None:
    if not rows:
        return
    taken = [f"{name} = excluded.{name}" for name in _COLUMNS[2:]]
    statement = (
        f"INSERT INTO acknowledgement ({', '.join(_COLUMNS)}) "  # noqa: S608
        f"VALUES ({', '.join(['%s'] * len(_COLUMNS))}) "
        f"ON CONFLICT (project_id, item) DO UPDATE SET {', '.join(taken)}"
    )
    with connection.cursor() as cursor:
        cursor.executemany(statement, bulk.adapt_rows(rows))
