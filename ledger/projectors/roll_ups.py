"""Roll-ups: how many receipts of a kind, task, queue, source and reason, by five minutes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from django.db import connection

from kit import bulk, ids
from ledger.domain.statement import Statement
from ledger.registry import Write
from ledger.statements import Item

BUCKET_S = 300
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FACETS = ("kind", "task", "queue", "system", "instance", "reason")


def bucket_of(at: datetime) -> datetime:
    """Give the start of the five minutes that a moment lies in."""
    # Not by `timestamp()`: as a float, the last moment of the year 9999 rounds to the year 10000.
    return at - (at - EPOCH) % timedelta(seconds=BUCKET_S)


def facets_of(statement: Statement) -> tuple[str, ...]:
    """Give the texts that a receipt is counted by, in the order of `FACETS`."""
    return (
        statement.kind,
        statement.task,
        statement.queue,
        statement.system,
        statement.instance,
        statement.reason or "",
    )


class RollUpsProjector:
    """Adds each batch to the counts of its five minutes."""

    name = "roll_ups"
    rules_version = 1
    tables: tuple[str, ...] = ("roll_up",)

    def plan(self, project_id: int, items: Sequence[Item]) -> Write:
        """Count the batch."""
        counts = Counter(
            (bucket_of(item.statement.happened_at), facets_of(item.statement)) for item in items
        )
        rows = [
            (project_id, bucket, ids.public_id("u", *facets), *facets, count)
            for (bucket, facets), count in sorted(counts.items())
        ]

        def write() -> None:
            _add(rows)

        return write


def _add(rows: Sequence[Sequence[object]]) -> None:
    columns = ("project_id", "bucket_at", "facets", *FACETS, "count")
    marks = ", ".join(["%s"] * len(columns))
    statement = (
        f"INSERT INTO roll_up ({', '.join(columns)}) VALUES ({marks}) "  # noqa: S608
        "ON CONFLICT (project_id, bucket_at, facets) "
        "DO UPDATE SET count = roll_up.count + excluded.count"
    )
    with connection.cursor() as cursor:
        cursor.executemany(statement, bulk.adapt_rows(rows))
