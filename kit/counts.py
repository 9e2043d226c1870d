"""Counts that stay cheap: exact to a cap, then "10,000+", then "about 103 million".

Counting a hundred million rows takes seconds, and more every day; a page that needs a number
says how it was come by. Source: reference/style-and-libraries.md section 3.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from django.db import connections
from django.db.models import QuerySet

Method = Literal["exact", "capped", "estimate"]
CAP = 10_000
_SCALES = ((10**9, "billion"), (10**6, "million"))


@dataclass(frozen=True)
class Count:
    """How many, how that is known, and when it was so.

    `exact` is the number, `capped` means that there are more than `value`, `estimate` is the
    database planner's guess.
    """

    value: int
    method: Method
    as_of: datetime


def words(count: Count) -> str:
    """Say a count as a page shows it: "1,234", "10,000+" or "about 103 million"."""
    if count.method == "exact":
        return f"{count.value:,}"
    if count.method == "capped":
        return f"{count.value:,}+"
    return f"about {_rounded(count.value)}"


def _rounded(value: int) -> str:
    """Three digits that count: an estimate with more would claim what it does not know."""
    step = 10 ** max(0, len(str(value)) - 3)
    value = (value + step // 2) // step * step
    for scale, name in _SCALES:
        if value >= scale:
            return f"{value / scale:.3g} {name}"
    return f"{value:,}"


def capped(
    rows: QuerySet[Any] | str,
    params: Sequence[Any] = (),
    *,
    as_of: datetime,
    cap: int = CAP,
    using: str = "default",
) -> Count:
    """Count rows, but never look at more than `cap + 1` of them.

    `rows` is a queryset that is not sliced yet, or a SELECT of our own without LIMIT and its
    `params`; never text from a user. `using` names the connection of such a SELECT.
    """
    found = _count_queryset(rows, cap) if isinstance(rows, QuerySet) else 0
    if isinstance(rows, str):
        found = _count_sql(rows, params, cap, using)
    if found > cap:
        return Count(cap, "capped", as_of)
    return Count(found, "exact", as_of)


def _count_queryset(rows: QuerySet[Any], cap: int) -> int:
    return rows.order_by()[: cap + 1].count()


def _count_sql(sql: str, params: Sequence[Any], cap: int, using: str) -> int:
    with connections[using].cursor() as cursor:
        statement = f"SELECT count(*) FROM ({sql} LIMIT %s) AS capped"  # noqa: S608 our own text
        cursor.execute(statement, [*params, cap + 1])
        (found,) = cursor.fetchone()
    return int(found)


def estimated(table: str, *, as_of: datetime, using: str = "default") -> Count:
    """Take the planner's guess of a table's size, its partitions included.

    Only PostgreSQL keeps one; elsewhere, and where the table was never analysed, the answer is
    the capped count.
    """
    connection = connections[using]
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(_ESTIMATE, [table])
            (guess,) = cursor.fetchone()
        if guess is not None and guess >= 0:
            return Count(int(guess), "estimate", as_of)
    quoted = connection.ops.quote_name(table)
    return capped(f"SELECT 1 FROM {quoted}", as_of=as_of, using=using)  # noqa: S608 our own name


_ESTIMATE = """
SELECT sum(c.reltuples) FILTER (WHERE c.reltuples >= 0)
FROM pg_partition_tree(to_regclass(%s)) AS t JOIN pg_class AS c ON c.oid = t.relid
WHERE t.isleaf
"""
