"""Roll-ups: how many receipts of a kind, task, queue, source and reason, by five minutes.

Beside them stand the outcomes that are tallied: they count as the kind that a receipt of their own
would have had, in a column of their own, since no list holds them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

from django.db import connection

from kit import bulk, ids
from ledger.domain import tallies
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


def tallied_of(statement: Statement) -> Iterator[tuple[datetime, tuple[str, ...], int]]:
    """Give what a tally counts: five minutes, facets, and how many."""
    if statement.kind != "tally":
        return
    bucket = bucket_of(tallies.window_of(statement)[1])
    for each in tallies.sums_of(statement):
        named = (each.task, each.queue, statement.system, statement.instance, "")
        for kind, count in (("done", each.done), ("retry", each.retried)):
            if count:
                yield bucket, (kind, *named), count


class RollUpsProjector:
    """Adds each batch to the counts of its five minutes."""

    name = "roll_ups"
    rules_version = 2
    tables: tuple[str, ...] = ("roll_up",)

    def plan(self, project_id: int, items: Sequence[Item]) -> Write:
        """Count the batch."""
        counts = Counter(
            (bucket_of(item.statement.happened_at), facets_of(item.statement)) for item in items
        )
        tallied: Counter[tuple[datetime, tuple[str, ...]]] = Counter()
        for item in items:
            for bucket, facets, count in tallied_of(item.statement):
                tallied[bucket, facets] += count
        rows = [
            (
                project_id, bucket, ids.public_id("u", *facets), *facets,
                counts[bucket, facets], tallied[bucket, facets],
            )
            for bucket, facets in sorted({*counts, *tallied})
        ]  # fmt: skip

        def write() -> None:
            _add(rows)

        return write


def _add(rows: Sequence[Sequence[object]]) -> None:
    columns = ("project_id", "bucket_at", "facets", *FACETS, "count", "tallied")
    marks = ", ".join(["%s"] * len(columns))
    statement = (
        f"INSERT INTO roll_up ({', '.join(columns)}) VALUES ({marks}) "  # noqa: S608
        "ON CONFLICT (project_id, bucket_at, facets) "
        "DO UPDATE SET count = roll_up.count + excluded.count, "
        "tallied = roll_up.tallied + excluded.tallied"
    )
    with connection.cursor() as cursor:
        cursor.executemany(statement, bulk.adapt_rows(rows))
