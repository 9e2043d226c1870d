"""What can go wrong in access; a class's docstring is its message."""

from __future__ import annotations


class AccessError(Exception):
    """Access could not do what was asked."""

    def __init__(self, message: str = "") -> None:
        super().__init__(message or (type(self).__doc__ or "").strip())


class SlugTaken(AccessError):
    """Another project has or had this slug, and old links still lead to it."""


class UsernameTaken(AccessError):
    """There is already a user of this name."""


class AlreadyMember(AccessError):
    """This user is already a member of the project."""


class NotFound(AccessError):
    """There is nothing of this name here."""


class LastAdmin(AccessError):
    """A project keeps at least one admin; make somebody else admin first."""


class LinkSpent(AccessError):
    """This log-in link was used already, has expired or never existed."""


class UnknownRole(AccessError):
    """A role is one of viewer, auditor, operator and admin."""


class UnknownScope(AccessError):
    """A scope is one of ingest, read, operate and admin."""


class NotAdmitted(AccessError):
    """No caller was admitted to this request; its view lacks the guard."""
