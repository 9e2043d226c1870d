"""Writes of the installation and its projects, each with the action that records it.

An action is written in the transaction of its change, so neither is ever there alone.
"""

from __future__ import annotations

import secrets

from django.conf import settings
from django.db import IntegrityError

from access import errors, rows
from access.domain import names
from access.models import Installation, Project, ProjectSlug
from access.rows import Actor, ProjectRow
from access.store.actions import record_action
from kit import clock
from kit.db import write_transaction


def get_installation_id() -> str:
    """Return this installation's random id of 16 hexadecimal digits, made at first use."""
    found = Installation.objects.filter(id=1).first()
    if found is None:
        with write_transaction():
            fresh = Installation(installation_id=secrets.token_hex(8), created_at=clock.now())
            # Two processes may start at once; the loser's row is dropped and the winner's read.
            Installation.objects.bulk_create([fresh], ignore_conflicts=True)
        found = Installation.objects.get(id=1)
    return found.installation_id


def create_project(*, slug: str, name: str = "", actor: Actor) -> ProjectRow:
    """Make a project with its log's origin; SlugTaken when the slug is or was in use."""
    names.check_slug(slug)
    title = names.check_name(name or slug)
    log_id = secrets.token_hex(8)
    first_part = settings.LOG_ORIGIN or f"counterfoil.invalid/{get_installation_id()}"
    try:
        with write_transaction():
            project = Project.objects.create(
                slug=slug,
                name=title,
                log_id=log_id,
                origin=f"{first_part}/{log_id}",
                created_at=clock.now(),
            )
            ProjectSlug.objects.create(slug=slug, project=project)
            row = rows.project_row(project)
            after = {"slug": slug, "name": title, "origin": row.origin}
            record_action(
                project_id=row.id,
                actor=actor,
                verb="project.create",
                target=f"project:{slug}",
                after=after,
            )
    except IntegrityError as error:
        raise errors.SlugTaken from error
    return row


def rename_project(
    project_id: int, *, slug: str | None = None, name: str | None = None, actor: Actor
) -> ProjectRow:
    """Change a project's slug, its name or both; the old slug goes on leading to it."""
    with write_transaction():
        project = lock_project(project_id)
        before = {"slug": project.slug, "name": project.name}
        project.slug = names.check_slug(slug) if slug is not None else project.slug
        project.name = names.check_name(name) if name is not None else project.name
        after = {"slug": project.slug, "name": project.name}
        holder, _ = ProjectSlug.objects.get_or_create(
            slug=project.slug, defaults={"project": project}
        )
        if holder.project_id != project_id:
            raise errors.SlugTaken
        if before != after:
            project.save(update_fields=["slug", "name"])
            target = f"project:{before['slug']}"
            record_action(
                project_id=project_id,
                actor=actor,
                verb="project.rename",
                target=target,
                before=before,
                after=after,
            )
        return rows.project_row(project)


def lock_project(project_id: int) -> Project:
    """Hold the project's row; two admins who remove each other at once meet here."""
    project = Project.objects.select_for_update().filter(id=project_id).first()
    if project is None:
        raise errors.NotFound("There is no such project.")
    return project
