"""How far each project's log and its lists have come."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Max

from ledger.models import ProjectorCursor, TreeHead

RECEIPTS = "receipts"


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


def reach_of(project_id: int) -> Reach:
    """Give how far a project's log and lists have come."""
    heads = TreeHead.objects.filter(project_id=project_id).order_by("-size")
    size = heads.values_list("size", flat=True).first() or 0
    cursor = ProjectorCursor.objects.filter(project_id=project_id, projector=RECEIPTS).first()
    derived = cursor.next_leaf if cursor else 0
    head = head_of(project_id, derived - 1) if derived else None
    return Reach(size, derived, head)


def head_of(project_id: int, leaf: int) -> datetime | None:
    """Give when the head that first covered a leaf was committed."""
    covering = TreeHead.objects.filter(project_id=project_id, size__gt=leaf).order_by("size")
    return covering.values_list("committed_at", flat=True).first()
