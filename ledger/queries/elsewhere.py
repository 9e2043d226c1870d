"""Whether what a pointer names lies in another project: looked up when asked, and never stored.

Pointers lead to receipts of their own project alone. Whoever calls this hands in one project at a
time that the person may read, and nothing is told of any other.
"""

from __future__ import annotations

from typing import Any

from kit import bulk, ids
from ledger.domain.names import column
from ledger.domain.sides import moment
from ledger.domain.statement import normal_id

Document = dict[str, Any]
MOST = 5
_ROWS = (
    "SELECT leaf_index, receipt, kind, happened_at FROM entry WHERE project_id = %s AND {named} "
    "ORDER BY leaf_index LIMIT %s"
)
_BY_ID = _ROWS.format(named="id_key = %s")
_BY_JOB = _ROWS.format(named="job = %s AND job <> '' AND kind <> 'skip'")


def find_in(project_id: int, receipt: str | None, job: str | None) -> list[Document]:
    """Find the first receipts of a project that have an id, or tell of a job."""
    rows: dict[int, tuple[Any, ...]] = {}
    if receipt:
        found = bulk.select_rows(_BY_ID, [project_id, column(normal_id(receipt)), MOST])
        rows |= {row[0]: tuple(row) for row in found}
    if job:
        found = bulk.select_rows(_BY_JOB, [project_id, column(job), MOST])
        rows |= {row[0]: tuple(row) for row in found}
    return [_hit(row) for _, row in sorted(rows.items())][:MOST]


def _hit(row: tuple[Any, ...]) -> Document:
    leaf, receipt, kind, at = row
    return {
        "ref": ids.ref_of(bulk.as_uuid(receipt)),
        "leaf_index": str(leaf),
        "kind": kind,
        "at": moment(bulk.as_time(at)),
    }
