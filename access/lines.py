"""The lines of the tables of projects, tokens and members, as their pages show them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.urls import get_script_prefix, reverse

from access.rows import MemberRow, ProjectRow, TokenListing


@dataclass(frozen=True, slots=True)
class ProjectLine:
    """One of a person's projects."""

    slug: str
    name: str
    role: str
    url: str


@dataclass(frozen=True, slots=True)
class TokenLine:
    """One token; `revoke_url` is empty where there is nothing left to revoke."""

    name: str
    prefix: str
    scope: str
    source: str
    expires_at: datetime | None
    is_expired: bool
    revoked_at: datetime | None
    last_used_at: datetime | None
    revoke_url: str


@dataclass(frozen=True, slots=True)
class MemberLine:
    """One member with the rights of the role."""

    name: str
    role: str
    rights: list[str]
    since: datetime
    remove_url: str


def project_url(slug: str) -> str:
    """Return the address of a project's overview."""
    return f"{get_script_prefix()}p/{slug}/"


def project_line(project: ProjectRow, role: str) -> ProjectLine:
    """Make the line of a project."""
    return ProjectLine(project.slug, project.name, role, project_url(project.slug))


def token_line(project: ProjectRow, token: TokenListing) -> TokenLine:
    """Make the line of a token."""
    revoke_url = reverse("access:revoke_token", args=[project.slug, token.id])
    return TokenLine(
        name=token.name,
        prefix=token.prefix,
        scope=token.scope,
        source=token.source,
        expires_at=token.expires_at,
        is_expired=token.state == "expired",
        revoked_at=token.revoked_at,
        last_used_at=token.last_used_at,
        revoke_url="" if token.state == "revoked" else revoke_url,
    )


def member_line(project: ProjectRow, member: MemberRow) -> MemberLine:
    """Make the line of a member, whose user name is what the form below asks for."""
    shown = member.display_name
    return MemberLine(
        name=f"{shown} ({member.username})" if shown else member.username,
        role=member.role,
        rights=sorted(member.rights),
        since=member.created_at,
        remove_url=reverse("access:remove_member", args=[project.slug, member.user_id]),
    )
