"""What the commands of access share: names looked up, acts, and errors said as one line."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.core.management.base import CommandError

from access import queries
from access.domain import names, tokens
from access.errors import AccessError
from access.rows import ProjectRow, UserRow


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn what access refuses into a command's error."""
    try:
        yield
    except (AccessError, names.BadName) as error:
        raise CommandError(str(error)) from error


def get_project(slug: str) -> ProjectRow:
    """Return a project by any of its slugs; CommandError when there is none."""
    project = queries.find_project_by_slug(slug)
    if project is None:
        raise CommandError(f"There is no project {slug}; `manage.py project list` shows them.")
    return project


def get_user(username: str) -> UserRow:
    """Return a user by name; CommandError when there is none."""
    user = queries.find_user(username)
    if user is None:
        raise CommandError(f"There is no user {username}.")
    return user


def duration(text: str) -> timedelta:
    """Read an option such as 90d; argparse says what is wrong with another text."""
    try:
        return tokens.parse_duration(text)
    except tokens.BadDuration as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def source(text: str) -> str:
    """Check an option such as oban/prod-1; argparse says what is wrong with another text."""
    try:
        names.parse_source(text)
    except names.BadName as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return text
