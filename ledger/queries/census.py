"""What a state of receipts comes to: how many are in it, the newest, and since when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kit import bulk, counts
from ledger.queries.selection import Where


@dataclass(frozen=True, slots=True)
class Census:
    """How many receipts, one more than the cap at most, and the sum of their numbers.

    `since` is when the oldest of those that were counted came.
    """

    count: int
    newest: int
    total: int
    since: datetime

    @property
    def number(self) -> str:
        """Say the count as a sentence has it."""
        return f"{self.count:,}" if self.count <= counts.CAP else f"{counts.CAP:,}+"


def take(project_id: int, wanted: Mapping[str, Where]) -> dict[str, Census]:
    """Count what each selection finds, with one statement; those that find nothing are left out."""
    parts: list[str] = []
    parameters: list[Any] = [project_id]
    for place, found in enumerate(wanted.values()):
        leaves, values = found.newest("e.leaf_index", counts.CAP + 1)
        parts.append(
            f"SELECT {place} AS place, count(*) AS many, max(leaf_index) AS newest, "  # noqa: S608
            f"min(leaf_index) AS oldest, sum(leaf_index) AS total FROM ({leaves}) AS found{place}"
        )
        parameters += values
    statement = (
        "SELECT place, many, newest, total, (SELECT received_at FROM entry "  # noqa: S608
        "WHERE project_id = %s AND leaf_index = oldest) "
        f"FROM ({' UNION ALL '.join(parts)}) AS counted WHERE many > 0 ORDER BY place"
    )
    names = list(wanted)
    return {
        names[place]: Census(many, newest, int(total), bulk.as_time(since))
        for place, many, newest, total, since in bulk.select_rows(statement, parameters)
    }
