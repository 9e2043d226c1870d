"""Sessions in the database, written through the one door for writes (SESSION_ENGINE)."""

from __future__ import annotations

from django.contrib.auth import authenticate, login
from django.contrib.auth.backends import ModelBackend
from django.contrib.sessions.backends import db
from django.http import HttpRequest

from access import errors, rows
from access.models import User
from kit.db import write_transaction

_BACKEND = "django.contrib.auth.backends.ModelBackend"


class SessionStore(db.SessionStore):
    """Django's database sessions, which would else wait for SQLite's lock out of turn."""

    def save(self, must_create: bool = False) -> None:
        with write_transaction():
            super().save(must_create=must_create)

    def delete(self, session_key: str | None = None) -> None:
        with write_transaction():
            super().delete(session_key)


def start_session(request: HttpRequest, user_id: int) -> None:
    """Log a person in on this request, under a new session key."""
    user = ModelBackend().get_user(user_id)
    if user is None:
        raise errors.NotFound("There is no such user.")
    with write_transaction():
        login(request, user, backend=_BACKEND)


def find_by_password(request: HttpRequest, username: str, password: str) -> rows.UserRow | None:
    """Find the active person with this name and password.

    Django hashes the password also for a name that nobody has, so the time tells no names.
    """
    user = authenticate(request, username=username, password=password)
    return rows.user_row(user) if isinstance(user, User) else None
