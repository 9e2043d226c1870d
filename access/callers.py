"""Who sent a request: a person with a session, or a program with a token."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from django.http import HttpRequest

from access import errors, queries, rows, store
from access.domain import rights
from access.rows import Actor, ProjectRow, TokenRow
from kit import clock

_NO_RIGHTS: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sent a request, and what they may do in the project that they were admitted to.

    `rights` is empty and `project_id` None for a person who was not yet admitted to a project.
    `role` is for showing alone and empty for a token; `source` is the token's (system, instance),
    if it has one.
    """

    kind: Literal["user", "token"]
    id: int
    label: str
    rights: frozenset[str] = _NO_RIGHTS
    project_id: int | None = None
    source: tuple[str, str] | None = None
    role: str = ""

    @property
    def actor(self) -> Actor:
        """Return the caller as the actor of an action."""
        if self.kind == "user":
            return Actor("person", str(self.id), self.label)
        return Actor("service", f"token:{self.id}", self.label)

    def may(self, right: str) -> bool:
        """Say whether the caller has a right in the project that they were admitted to."""
        return right in self.rights


def has_bearer(request: HttpRequest) -> bool:
    """Say whether the request brings a token, good or bad, which decides instead of the session.

    Such a request cannot come from another site's form, so it needs no CSRF token; and since
    the session is then not looked at, a made-up token gains nothing. Another scheme is not ours:
    a proxy that asks for a password of its own passes `Basic` on with each request.
    """
    return _authorization(request)[0] == "bearer"


def find_token(request: HttpRequest) -> TokenRow | None:
    """Find the usable token in `Authorization: Bearer TOKEN` and note its use."""
    scheme, text = _authorization(request)
    token = queries.find_token(text) if scheme == "bearer" else None
    if token is not None:
        _touch(token)
    return token


def find_caller(request: HttpRequest) -> Caller | None:
    """Find who sent a request: its token, else its session's person; None for a stranger."""
    if has_bearer(request):
        token = find_token(request)
        return _token_caller(token) if token else None
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return None
    person = rows.user_row(user)
    return Caller(kind="user", id=person.id, label=person.label)


def admitted_to(caller: Caller, slug: str) -> tuple[ProjectRow, Caller] | None:
    """Find a project by slug for a caller, with the caller's rights in it filled in."""
    if caller.kind == "token":
        project = queries.find_project_of(caller.project_id or 0, slug)
        return (project, caller) if project else None
    found = queries.find_membership(caller.id, slug)
    if found is None:
        return None
    project, role = found
    held = rights.get_role(role)
    return project, replace(caller, rights=held, role=role, project_id=project.id)


def get_caller(request: HttpRequest) -> Caller:
    """Return the caller that the guard admitted to this request; NotAdmitted without a guard."""
    caller = getattr(request, "caller", None)
    if not isinstance(caller, Caller):
        raise errors.NotAdmitted
    return caller


def remember(request: HttpRequest, caller: Caller, project: ProjectRow) -> None:
    """Keep who was admitted to what as `request.caller` and `request.project`."""
    request.caller = caller  # type: ignore[attr-defined]
    request.project = project  # type: ignore[attr-defined]


def _authorization(request: HttpRequest) -> tuple[str, str]:
    scheme, _, text = request.headers.get("Authorization", "").strip().partition(" ")
    return scheme.lower(), text.strip()


def _token_caller(token: TokenRow) -> Caller:
    return Caller(
        kind="token",
        id=token.token_id,
        label=token.name,
        rights=token.rights,
        project_id=token.project_id,
        source=token.source,
    )


def _touch(token: TokenRow) -> None:
    now = clock.now()
    if token.last_used_at is None or token.last_used_at <= now - store.TOUCH_INTERVAL:
        store.touch_tokens([token.token_id], now)
