"""Rows for tests, made through the stores that the server itself uses."""

from __future__ import annotations

import itertools
from datetime import datetime
from typing import Any

from access import store
from access.models import User
from access.rows import Actor, ProjectRow, TokenListing, UserRow

TESTER = Actor("service", "tests", "the tests")

_numbers = itertools.count(1)


def make_project(slug: str = "", **given: Any) -> ProjectRow:
    """Make a project; without a slug it gets one that no other has."""
    return store.create_project(slug=slug or f"project-{next(_numbers)}", actor=TESTER, **given)


def make_user(username: str = "", **given: Any) -> UserRow:
    """Make a person; without a name they get one that no other has."""
    return store.create_user(username=username or f"user-{next(_numbers)}", actor=TESTER, **given)


def make_member(project: ProjectRow, role: str, username: str = "") -> UserRow:
    """Make a person with a role in a project."""
    user = make_user(username)
    store.add_member(project.id, user.id, role=role, actor=TESTER)
    return user


def make_token(
    project: ProjectRow,
    scope: str = "ingest",
    *,
    name: str = "a token",
    source: str = "",
    expires_at: datetime | None = None,
) -> tuple[TokenListing, str]:
    """Make a token; gives its row and its text."""
    return store.create_token(
        project.id, name=name, scope=scope, source=source, expires_at=expires_at, actor=TESTER
    )


def get_user_model_of(user: UserRow) -> User:
    """Return the model of a person, which Django's test client wants for `force_login`."""
    return User.objects.get(id=user.id)
