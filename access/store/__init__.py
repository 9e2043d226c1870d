"""The only writer of access's tables; every change records its action beside it."""

from __future__ import annotations

from access.store.actions import mark_drained, record_action
from access.store.logins import (
    LINK_MINUTES,
    WINDOW,
    admit_attempt,
    create_login_link,
    forget_attempts,
    record_login,
    set_password,
    spend_login_link,
)
from access.store.people import add_member, change_role, create_user, remove_member, set_role
from access.store.projects import create_project, get_installation_id, rename_project
from access.store.tokens import TOUCH_INTERVAL, create_token, revoke_token, touch_tokens

__all__ = [
    "LINK_MINUTES",
    "TOUCH_INTERVAL",
    "WINDOW",
    "add_member",
    "admit_attempt",
    "change_role",
    "create_login_link",
    "create_project",
    "create_token",
    "create_user",
    "forget_attempts",
    "get_installation_id",
    "mark_drained",
    "record_action",
    "record_login",
    "remove_member",
    "rename_project",
    "revoke_token",
    "set_password",
    "set_role",
    "spend_login_link",
    "touch_tokens",
]
