"""The typed rows that access gives out; no model leaves this app."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from access.domain import rights

if TYPE_CHECKING:
    from access import models


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts, frozen as text: `type` is person, service, schedule or unknown."""

    type: str
    id: str
    label: str


COMMAND_LINE = Actor("service", "manage.py", "command line of the server")


@dataclass(frozen=True, slots=True)
class ProjectRow:
    """A project; `origin` names its log and never changes."""

    id: int
    slug: str
    name: str
    log_id: str
    origin: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class UserRow:
    """A person who can log in."""

    id: int
    username: str
    display_name: str
    is_active: bool
    has_password: bool

    @property
    def label(self) -> str:
        """Return the name to show."""
        return self.display_name or self.username


@dataclass(frozen=True, slots=True)
class MemberRow:
    """A person's role in one project."""

    id: int
    project_id: int
    user_id: int
    username: str
    display_name: str
    role: str
    rights: frozenset[str]
    created_at: datetime


@dataclass(frozen=True, slots=True)
class TokenRow:
    """A usable token: who its bearer is and what they may do.

    `source` is (system, instance), given to receipts that state no source, or None.
    `expires_at` is there so that a cache of rows can honour it.
    """

    token_id: int
    name: str
    prefix: str
    project_id: int
    project_slug: str
    origin: str
    scope: str
    rights: frozenset[str]
    source: tuple[str, str] | None
    expires_at: datetime | None
    last_used_at: datetime | None


@dataclass(frozen=True, slots=True)
class TokenListing:
    """A token as the tokens page and `token list` show it.

    `source` is `system/instance` or empty; `state` is usable, expired or revoked at the moment
    that was asked about.
    """

    id: int
    project_id: int
    name: str
    prefix: str
    scope: str
    source: str
    created_at: datetime
    created_by: str
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None
    state: str


@dataclass(frozen=True, slots=True)
class NewLoginLink:
    """A log-in link at the only moment when its secret is known."""

    user_id: int
    expires_at: datetime
    secret: str = field(repr=False)
    path: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class LoginLinkRow:
    """A log-in link that can still be spent: whom it logs in, and until when."""

    user: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class ActionRow:
    """One thing done or denied; `before` and `after` are what changed, or None."""

    id: int
    project_id: int | None
    at: datetime
    actor: Actor
    verb: str
    target: str
    reason: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
    outcome: str


def project_row(project: models.Project) -> ProjectRow:
    """Copy a project out of its model."""
    return ProjectRow(
        id=project.id,
        slug=project.slug,
        name=project.name,
        log_id=project.log_id,
        origin=project.origin,
        created_at=project.created_at,
    )


def user_row(user: models.User) -> UserRow:
    """Copy a user out of its model, without the password's hash."""
    return UserRow(
        id=user.id,
        username=user.username,
        display_name=user.display_name,
        is_active=user.is_active,
        has_password=user.has_usable_password(),
    )


def member_row(member: models.Member) -> MemberRow:
    """Copy a member out of its model; its user must be loaded with it."""
    return MemberRow(
        id=member.id,
        project_id=member.project_id,
        user_id=member.user_id,
        username=member.user.username,
        display_name=member.user.display_name,
        role=member.role,
        rights=rights.get_role(member.role),
        created_at=member.created_at,
    )


def token_row(token: models.ApiToken) -> TokenRow:
    """Copy a usable token out of its model; its project must be loaded with it."""
    has_source = bool(token.source_system)
    return TokenRow(
        token_id=token.id,
        name=token.name,
        prefix=token.prefix,
        project_id=token.project_id,
        project_slug=token.project.slug,
        origin=token.project.origin,
        scope=token.scope,
        rights=rights.get_scope(token.scope),
        source=(token.source_system, token.source_instance) if has_source else None,
        expires_at=token.expires_at,
        last_used_at=token.last_used_at,
    )


def token_listing(token: models.ApiToken, now: datetime) -> TokenListing:
    """Copy any token out of its model, as it stands at a moment."""
    has_source = bool(token.source_system)
    return TokenListing(
        id=token.id,
        project_id=token.project_id,
        name=token.name,
        prefix=token.prefix,
        scope=token.scope,
        source=f"{token.source_system}/{token.source_instance}" if has_source else "",
        created_at=token.created_at,
        created_by=token.created_by,
        expires_at=token.expires_at,
        revoked_at=token.revoked_at,
        last_used_at=token.last_used_at,
        state=_token_state(token.revoked_at, token.expires_at, now),
    )


def action_row(action: models.Action) -> ActionRow:
    """Copy an action out of its model and read its JSON texts."""
    return ActionRow(
        id=action.id,
        project_id=action.project_id,
        at=action.at,
        actor=Actor(action.actor_type, action.actor_id, action.actor_label),
        verb=action.verb,
        target=action.target,
        reason=action.reason,
        before=json.loads(action.before) if action.before else None,
        after=json.loads(action.after) if action.after else None,
        outcome=action.outcome,
    )


def _token_state(revoked_at: datetime | None, expires_at: datetime | None, now: datetime) -> str:
    if revoked_at is not None:
        return "revoked"
    return "expired" if expires_at is not None and expires_at <= now else "usable"
