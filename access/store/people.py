"""Writes of people and their roles; a project is never left without an admin."""

from __future__ import annotations

from django.db import IntegrityError

from access import errors, rows
from access.domain import names, rights
from access.models import Member, User
from access.rows import Actor, MemberRow, UserRow
from access.store.actions import record_action
from access.store.projects import lock_project
from kit import clock
from kit.db import write_transaction


def create_user(*, username: str, display_name: str = "", actor: Actor) -> UserRow:
    """Make a person who can log in by link; UsernameTaken when there is one of that name."""
    names.check_username(username)
    shown = names.check_name(display_name) if display_name else ""
    user = User(username=username, display_name=shown, created_at=clock.now())
    user.set_unusable_password()
    try:
        with write_transaction():
            user.save(force_insert=True)
            after = {"username": username, "display_name": shown}
            record_action(
                project_id=None,
                actor=actor,
                verb="user.create",
                target=f"user:{username}",
                after=after,
            )
    except IntegrityError as error:
        raise errors.UsernameTaken from error
    return rows.user_row(user)


def add_member(project_id: int, user_id: int, *, role: str, actor: Actor) -> MemberRow:
    """Give a person a role in a project; AlreadyMember when they have one."""
    _check_role(role)
    try:
        with write_transaction():
            member = Member.objects.create(
                project_id=project_id, user_id=user_id, role=role, created_at=clock.now()
            )
            row = rows.member_row(member)
            record_action(
                project_id=project_id,
                actor=actor,
                verb="member.add",
                target=f"user:{row.username}",
                after={"role": role},
            )
    except IntegrityError as error:
        raise errors.AlreadyMember from error
    return row


def change_role(project_id: int, user_id: int, *, role: str, actor: Actor) -> MemberRow:
    """Give a member another role; LastAdmin when the project would be left without one."""
    _check_role(role)
    with write_transaction():
        member = _get_member_locked(project_id, user_id)
        before = member.role
        if role == before:
            return rows.member_row(member)
        _check_not_last_admin(member)
        member.role = role
        member.save(update_fields=["role"])
        record_action(
            project_id=project_id,
            actor=actor,
            verb="member.role",
            target=f"user:{member.user.username}",
            before={"role": before},
            after={"role": role},
        )
        return rows.member_row(member)


def set_role(project_id: int, user_id: int, *, role: str, actor: Actor) -> MemberRow:
    """Make a person a member of that role, or change the role that they have."""
    is_member = Member.objects.filter(project_id=project_id, user_id=user_id).exists()
    give = change_role if is_member else add_member
    return give(project_id, user_id, role=role, actor=actor)


def remove_member(project_id: int, user_id: int, *, actor: Actor) -> None:
    """End a membership; LastAdmin for the only admin, NotFound when there is none."""
    with write_transaction():
        member = _get_member_locked(project_id, user_id)
        _check_not_last_admin(member)
        member.delete()
        target = f"user:{member.user.username}"
        record_action(
            project_id=project_id,
            actor=actor,
            verb="member.remove",
            target=target,
            before={"role": member.role},
        )


def _get_member_locked(project_id: int, user_id: int) -> Member:
    lock_project(project_id)
    members = Member.objects.select_related("user")
    member = members.filter(project_id=project_id, user_id=user_id).first()
    if member is None:
        raise errors.NotFound("This user is not a member of the project.")
    return member


def _check_not_last_admin(member: Member) -> None:
    if member.role != rights.ADMIN:
        return
    admins = Member.objects.filter(project_id=member.project_id, role=rights.ADMIN)
    if not admins.filter(user__is_active=True).exclude(id=member.id).exists():
        raise errors.LastAdmin


def _check_role(role: str) -> None:
    if role not in rights.ROLES:
        raise errors.UnknownRole
