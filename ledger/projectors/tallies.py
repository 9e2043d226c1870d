"""Tallies: what each sums, and one narrow row for each job that it lists."""

from __future__ import annotations

from collections.abc import Sequence

from kit import bulk
from ledger import tallied
from ledger.domain import plain, tallies
from ledger.domain.names import column
from ledger.registry import Write
from ledger.statements import Item

_TALLY = (
    "project_id", "leaf_index", "system", "instance", "policy", "from_at", "to_at", "done",
    "retried", "listed", "is_whole", "voice",
)  # fmt: skip
_JOB = ("project_id", "job", "leaf_index")


class TalliesProjector:
    """Keeps where the outcome of a job stands that has no receipt of its own."""

    name = "tallies"
    rules_version = 2
    tables: tuple[str, ...] = ("tally", "tally_job")

    def plan(self, project_id: int, items: Sequence[Item]) -> Write:
        """Read the tallies of the batch."""
        told = [one for one in items if one.statement.kind == "tally" and one.statement.is_readable]
        rows = [_row(project_id, item) for item in told]
        jobs = [
            (project_id, job, item.leaf)
            for item in told
            for job in sorted(tallied.hashes_of(project_id, item))
        ]

        def write() -> None:
            bulk.insert_rows("tally", _TALLY, rows)
            bulk.insert_rows("tally_job", _JOB, jobs)

        return write


def _row(project_id: int, item: Item) -> tuple[object, ...]:
    one = item.statement
    sums = tallies.sums_of(one)
    done, retried = sum(each.done for each in sums), sum(each.retried for each in sums)
    listed = len(item.outcomes)
    from_at, to_at = tallies.window_of(one)
    policy = column(plain.name_of(one.body.get("policy")))
    return (
        project_id, item.leaf, column(one.system), column(one.instance), policy, from_at, to_at,
        done, retried, listed, listed >= done + retried, column(one.voice),
    )  # fmt: skip
