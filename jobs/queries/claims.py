"""What receipts say of one key: its claims in order, skips since, and the last sign of life."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from kit import bulk, counts, ids, keyset
from kit.db import indexed_by
from ledger.queries import items
from ledger.queries.as_of import AsOf

NAME = "keys.claims"
AT_ONCE = 100
Document = dict[str, Any]
_CLAIM = (
    "e.project_id = %s AND e.key_digest = %s AND e.state = 'accepted' "
    "AND e.kind IN ('enqueue', 'start', 'done', 'skip', 'observe')"
)
_SKIPS = (
    "WHERE e.project_id = %s AND e.key_digest = %s AND e.state = 'accepted' "
    "AND e.kind = 'skip' AND e.happened_at >= %s"
)
_ENTRIES = (
    "SELECT leaf_index, receipt, job_number, task, actor, job FROM entry "
    "WHERE project_id = %s AND leaf_index IN ({values})"
)
_NEWEST = (
    "SELECT leaf_index, receipt, kind, happened_at FROM entry "
    "WHERE project_id = %s AND job = %s AND NOT (job = '') AND kind <> 'skip' "
    "ORDER BY leaf_index DESC LIMIT 1"
)


def page(project_id: int, digest: str, cursor: str, cut: AsOf) -> Document:
    """Give the claims of a key, oldest number first."""
    after = keyset.decode(cursor, NAME, (int,)).values[0] if cursor else -1
    rows = bulk.select_rows(
        f"SELECT {items.select('e')} FROM entry e "  # noqa: S608
        f"WHERE {_CLAIM} AND e.leaf_index > %s ORDER BY e.leaf_index LIMIT %s",
        [project_id, digest, after, AT_ONCE + 1],
    )
    found, has_more = keyset.take(rows, AT_ONCE)
    following = keyset.encode(keyset.Cursor((found[-1][0],)), NAME) if has_more else None
    return {"items": items.items(project_id, found, cut), "next": following}


def skips_since(project_id: int, digest: str, since: datetime | None, now: datetime) -> Document:
    """Count who was turned away since the holder took the key, up to ten thousand."""
    if since is None:
        return {"value": 0, "method": "exact"}
    parameters = bulk.adapt([project_id, digest, since])
    statement = f"SELECT 1 FROM entry e{indexed_by('entry_by_key')} {_SKIPS}"  # noqa: S608
    found = counts.capped(statement, parameters, as_of=now)
    return {"value": found.value, "method": found.method}


def last_sign(project_id: int, holder: Document) -> Document | None:
    """Give the newest receipt of the holder's job, or of the holder itself if it has no number."""
    name = holder.get("job_name")
    rows = bulk.select_rows(_NEWEST, [project_id, name]) if name else []
    if not rows:
        return None
    leaf, receipt, kind, at = rows[0]
    ref = ids.ref_of(bulk.as_uuid(receipt))
    return {"ref": ref, "leaf_index": str(leaf), "kind": kind, "at": bulk.as_time(at)}


def entries_of(project_id: int, leaves: Iterable[int]) -> dict[int, Sequence[Any]]:
    """Give receipt, job number, task, actor and job of some leaves."""
    rows = bulk.select_in(_ENTRIES, [project_id], sorted(leaves))
    return {row[0]: row for row in rows}
