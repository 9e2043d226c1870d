"""Every SELECT of access; typed rows come out, models do not."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from django.db.models import Q

from access import errors, rows
from access.domain import names, rights, tokens
from access.models import Action, ApiToken, LoginLink, Member, Project, ProjectSlug, User
from access.rows import (
    ActionRow,
    LoginLinkRow,
    MemberRow,
    ProjectRow,
    TokenListing,
    TokenRow,
    UserRow,
)
from access.store.tokens import touch_tokens as touch_tokens
from kit import clock

NO_RIGHTS: frozenset[str] = frozenset()


def find_token(text: str) -> TokenRow | None:
    """Find a usable token by its text; None for one that is unknown, expired or revoked.

    Looked up by the hash of 256 random bits, so the time that the index takes tells nothing.
    """
    parsed = tokens.parse_token(text)
    if parsed is None:
        return None
    usable = ApiToken.objects.filter(
        Q(expires_at__isnull=True) | Q(expires_at__gt=clock.now()), revoked_at__isnull=True
    )
    digest = parsed.secret_hash
    token = usable.select_related("project").filter(secret_hash=digest).first()
    if token is None or not tokens.is_same_hash(token.secret_hash, digest):
        return None
    return rows.token_row(token)


def find_membership(user_id: int, slug: str) -> tuple[ProjectRow, str] | None:
    """Find a project by any slug it has or had, with a person's role in it.

    One query, the same for a project that does not exist and for a stranger, so that neither
    the answer nor its time tells them apart.
    """
    if not names.is_slug(slug):
        return None
    mine = Member.objects.filter(user_id=user_id, user__is_active=True)
    member = mine.select_related("project").filter(project__slugs__slug=slug).first()
    if member is None:
        return None
    return rows.project_row(member.project), member.role


def find_project(caller: UserRow | TokenRow, slug: str) -> ProjectRow | None:
    """Find a project that a person is a member of, or a token belongs to, by any of its slugs."""
    if isinstance(caller, TokenRow):
        return find_project_of(caller.project_id, slug)
    found = find_membership(caller.id, slug)
    return found[0] if found else None


def find_project_of(project_id: int, slug: str) -> ProjectRow | None:
    """Find the project of that number if the slug is or was its own."""
    if not names.is_slug(slug):
        return None
    own = ProjectSlug.objects.filter(slug=slug, project_id=project_id)
    held = own.select_related("project").first()
    return rows.project_row(held.project) if held else None


def find_project_by_slug(slug: str) -> ProjectRow | None:
    """Find a project by any slug it has or had, for commands; pages ask `find_project`."""
    if not names.is_slug(slug):
        return None
    held = ProjectSlug.objects.select_related("project").filter(slug=slug).first()
    return rows.project_row(held.project) if held else None


def get_project(project_id: int) -> ProjectRow:
    """Return a project by its number; NotFound when there is none."""
    project = Project.objects.filter(id=project_id).first()
    if project is None:
        raise errors.NotFound("There is no such project.")
    return rows.project_row(project)


def all_projects() -> list[ProjectRow]:
    """Return all projects by slug, for commands and the follower."""
    return [rows.project_row(project) for project in Project.objects.order_by("slug")]


def projects_of(user_id: int) -> list[ProjectRow]:
    """Return the projects that a person is a member of, by slug."""
    mine = Project.objects.filter(members__user_id=user_id, members__user__is_active=True)
    return [rows.project_row(project) for project in mine.order_by("slug")]


def roles_of(user_id: int) -> list[tuple[ProjectRow, str]]:
    """Return the projects that a person is a member of with the role in each, by slug."""
    mine = Member.objects.filter(user_id=user_id, user__is_active=True)
    found = mine.select_related("project").order_by("project__slug")
    return [(rows.project_row(member.project), member.role) for member in found]


def rights_of(user_id: int, project_id: int) -> frozenset[str]:
    """Return a person's rights in a project; none for a stranger."""
    mine = Member.objects.filter(user_id=user_id, user__is_active=True, project_id=project_id)
    role = mine.values_list("role", flat=True).first()
    return rights.get_role(role) if role else NO_RIGHTS


def members(project_id: int) -> list[MemberRow]:
    """Return a project's members by user name."""
    found = Member.objects.filter(project_id=project_id).select_related("user")
    return [rows.member_row(member) for member in found.order_by("user__username")]


def api_tokens(project_id: int, now: datetime) -> list[TokenListing]:
    """Return all tokens of a project, newest first, as they stand at a moment."""
    found = ApiToken.objects.filter(project_id=project_id).order_by("-id")
    return [rows.token_listing(token, now) for token in found]


def get_token_by_prefix(project_id: int, prefix: str) -> TokenListing:
    """Return a project's token by the prefix that is shown; NotFound unless there is just one."""
    found = ApiToken.objects.filter(project_id=project_id, prefix=prefix)[:2]
    if len(found) != 1:
        raise errors.NotFound(f"There is no one token {prefix} in this project.")
    return rows.token_listing(found[0], clock.now())


def find_user(username: str) -> UserRow | None:
    """Find a person by user name."""
    if not names.is_username(username):
        return None
    user = User.objects.filter(username=username).first()
    return rows.user_row(user) if user else None


def users() -> list[UserRow]:
    """Return all people by user name, for commands."""
    return [rows.user_row(user) for user in User.objects.order_by("username")]


def find_login_link(secret: str) -> LoginLinkRow | None:
    """Find a log-in link that can still be spent; looking does not spend it."""
    unused = LoginLink.objects.filter(used_at__isnull=True, user__is_active=True)
    digest = tokens.hash_secret(secret)
    live = unused.filter(secret_hash=digest, expires_at__gt=clock.now())
    link = live.select_related("user").first()
    return LoginLinkRow(rows.user_row(link.user).label, link.expires_at) if link else None


def projects_with_undrained_actions() -> set[int]:
    """Return the projects that have actions which are not yet in their log."""
    waiting = Action.objects.filter(project_id__isnull=False, drained_at__isnull=True)
    return set(waiting.values_list("project_id", flat=True).distinct())


def iter_undrained_actions(project_id: int, limit: int) -> Iterator[ActionRow]:
    """Stream a project's actions that are not yet in its log, oldest first, at most `limit`."""
    waiting = Action.objects.filter(project_id=project_id, drained_at__isnull=True)
    for action in waiting.order_by("id")[:limit]:
        yield rows.action_row(action)


def actions(project_id: int, limit: int, before_id: int | None = None) -> list[ActionRow]:
    """Return a project's newest actions, at most `limit`, older than `before_id` if it is given."""
    found = Action.objects.filter(project_id=project_id).order_by("-id")
    if before_id is not None:
        found = found.filter(id__lt=before_id)
    return [rows.action_row(action) for action in found[:limit]]
