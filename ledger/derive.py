"""The projectors run over each project's log: a batch is read once and handed to all in step.

A projector's rows and its cursor are written in one transaction, so a crash starts over where it
was; the cursor's row is also the lock between two derivers (design, section 2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connection

from access.models import Project
from kit.db import derived_transaction, is_postgresql, write_transaction
from ledger import statements
from ledger.models import Leaf, ProjectorCursor
from ledger.registry import Projector, Write, registry
from ledger.statements import Item

BATCH = 500
BATCH_ON_POSTGRESQL = 2_000
"""There nobody waits while a batch is written, and its sixty statements weigh less a leaf."""
_TAKE = (
    "SELECT next_leaf, rules_version FROM projector_cursor WHERE projector = %s AND project_id = %s"
)
_MOVE = "UPDATE projector_cursor SET next_leaf = %s WHERE projector = %s AND project_id = %s"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far one projector is in one project's log, and by which version of its rules."""

    projector: str
    project_id: int
    project: str
    next_leaf: int
    log_size: int
    rules_version: int
    wanted_rules_version: int

    @property
    def lag(self) -> int:
        """How many leaves it has not seen."""
        return self.log_size - self.next_leaf


def log_size(project_id: int) -> int:
    """Give the number of leaves of a project's log."""
    newest = Leaf.objects.filter(project_id=project_id).order_by("-leaf_index")
    last = newest.values_list("leaf_index", flat=True).first()
    return 0 if last is None else last + 1


def status() -> list[Progress]:
    """Give the progress of every projector in every project."""
    progress = []
    for project in Project.objects.order_by("slug"):
        size = log_size(project.pk)
        cursors = cursors_of(project.pk)
        for projector in registry.projectors:
            cursor = cursors.get(projector.name)
            progress.append(
                Progress(
                    projector.name,
                    project.pk,
                    project.slug,
                    cursor.next_leaf if cursor else 0,
                    size,
                    cursor.rules_version if cursor else projector.rules_version,
                    projector.rules_version,
                )
            )
    return progress


def projects_behind() -> set[int]:
    """Give the projects whose rows do not reach their log's end, or are of other rules.

    A projector that has no cursor yet is not seen; `derive` starts it.
    """
    rules = " OR ".join(["(projector = %s AND rules_version = %s)"] * len(registry.projectors))
    parameters = [part for one in registry.projectors for part in (one.name, one.rules_version)]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT DISTINCT project_id FROM projector_cursor WHERE next_leaf < coalesce("  # noqa: S608
            "(SELECT size FROM tree_head WHERE tree_head.project_id = projector_cursor.project_id "
            f"ORDER BY size DESC LIMIT 1), 0) OR NOT ({rules})",
            parameters,
        )
        return {project_id for (project_id,) in cursor.fetchall()}


def cursors_of(project_id: int) -> dict[str, ProjectorCursor]:
    """Give the cursors of a project by projector."""
    return {row.projector: row for row in ProjectorCursor.objects.filter(project_id=project_id)}


def derive(project_id: int, limit: int | None = None) -> int:
    """Move the projectors of one project on by one batch; gives the leaves handed on.

    The projectors that are furthest behind go first, until all are in step.
    """
    cursors = cursors_of(project_id)
    for projector in registry.projectors:
        if projector.name not in cursors:
            _start(projector, project_id)
    cursors = cursors or cursors_of(project_id)
    places = {one.name: _place(cursors.get(one.name)) for one in current(project_id)}
    if not places:
        return 0
    first = min(places.values())
    others = [place for place in places.values() if place > first]
    limit = limit or (BATCH_ON_POSTGRESQL if is_postgresql() else BATCH)
    end = min([first + limit, *others])
    items = statements.load_range(project_id, first, end)
    if not items:
        return 0
    for projector in registry.projectors:
        if places.get(projector.name) == first:
            write = projector.plan(project_id, items)
            _commit(projector, project_id, items, write)
    return len(items)


def current(project_id: int) -> list[Projector]:
    """Give the projectors whose rows were made by the rules of this release.

    The others wait for a rebuild: rows of two versions of the rules must not stand side by side.
    """
    cursors = cursors_of(project_id)
    return [
        one
        for one in registry.projectors
        if one.name not in cursors or cursors[one.name].rules_version == one.rules_version
    ]


def _place(cursor: ProjectorCursor | None) -> int:
    return cursor.next_leaf if cursor else 0


def _start(projector: Projector, project_id: int) -> None:
    with write_transaction():
        ProjectorCursor.objects.bulk_create(
            [
                ProjectorCursor(
                    projector=projector.name,
                    project_id=project_id,
                    next_leaf=0,
                    rules_version=projector.rules_version,
                )
            ],
            ignore_conflicts=True,
        )


def _commit(projector: Projector, project_id: int, items: Sequence[Item], write: Write) -> None:
    """Write the rows and move the cursor, unless another deriver was quicker.

    Nor when another release has put rows of its own rules in place since the batch was planned.
    """
    name: list[str | int] = [projector.name, project_id]
    with derived_transaction(), connection.cursor() as cursor:
        cursor.execute(_TAKE + (" FOR UPDATE" if is_postgresql() else ""), name)
        row = cursor.fetchone()
        if row is None or tuple(row) != (items[0].leaf, projector.rules_version):
            return
        write()
        cursor.execute(_MOVE, [items[-1].leaf + 1, *name])
