"""How far each project's log and its lists have come."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Max

from kit import bulk
from ledger.models import ProjectorCursor, TreeHead

RECEIPTS = "receipts"
_HEAD = (
    "SELECT committed_at FROM tree_head WHERE project_id = %s AND size > %s ORDER BY size LIMIT 1"
)
_REACH = """SELECT size, derived, CASE WHEN derived > 0 THEN (
SELECT committed_at FROM tree_head WHERE project_id = %s AND tree_head.size >= derived
ORDER BY tree_head.size LIMIT 1) END
FROM (SELECT coalesce((
SELECT max(newest.size) FROM tree_head newest WHERE newest.project_id = %s), 0) AS size,
coalesce((SELECT next_leaf FROM projector_cursor WHERE project_id = %s AND projector = %s), 0)
AS derived) AS reach"""


@dataclass(frozen=True, slots=True)
class Reach:
    """The size of a log, how much of it the lists show, and when that was committed."""

    log_size: int
    derived: int
    derived_at: datetime | None

    @property
    def lag(self) -> int:
        """How many leaves the lists do not show yet."""
        return self.log_size - self.derived


def derived_heads() -> dict[int, int]:
    """Give the newest leaf that the lists show, by project; projects with none are left out."""
    rows = ProjectorCursor.objects.filter(projector=RECEIPTS, next_leaf__gt=0)
    return {project: end - 1 for project, end in rows.values_list("project_id", "next_leaf")}


def newest_head_at() -> datetime | None:
    """Give when the newest tree head of all logs was committed."""
    newest: datetime | None = TreeHead.objects.aggregate(at=Max("committed_at"))["at"]
    return newest


def reach_of(project_id: int, projector: str = RECEIPTS) -> Reach:
    """Give how far a project's log has come, and its lists or another projector's tables.

    It takes one statement.
    """
    (found,) = bulk.select_rows(_REACH, [project_id, project_id, project_id, projector])
    size, derived, at = found
    return Reach(size, derived, at and bulk.as_time(at))


def head_of(project_id: int, leaf: int) -> datetime | None:
    """Give when the head that first covered a leaf was committed."""
    rows = bulk.select_rows(_HEAD, [project_id, leaf])
    return bulk.as_time(rows[0][0]) if rows else None
