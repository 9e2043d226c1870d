"""Writes of what a person logs in with: one-time links, passwords and refused attempts."""

from __future__ import annotations

import hashlib
from datetime import timedelta

from access import errors, rows
from access.domain.tokens import hash_secret, make_secret
from access.models import LoginFailure, LoginLink, User
from access.rows import Actor, NewLoginLink, UserRow
from access.store.actions import record_action
from kit import clock
from kit.db import write_transaction

LINK_PATH = "/login/link/"
LINK_MINUTES = 15

# Ten wrong passwords are more than a person types in a quarter of an hour. The second limit
# meets guesses at one account from many addresses; it is wide, since it also shuts out the owner,
# who still has the log-in link.
WINDOW = timedelta(minutes=15)
ATTEMPTS_PER_ADDRESS = 10
ATTEMPTS_PER_ACCOUNT = 100


def create_login_link(
    user_id: int, *, actor: Actor, minutes: int = LINK_MINUTES, project_id: int | None = None
) -> NewLoginLink:
    """Make a link that logs a person in once, within so many minutes.

    The secret is in the answer alone. The address shows a button; the POST spends it.
    """
    secret = make_secret()
    now = clock.now()
    expires_at = now + timedelta(minutes=minutes)
    with write_transaction():
        user = _get_user(user_id)
        LoginLink.objects.create(
            user=user, secret_hash=hash_secret(secret), created_at=now, expires_at=expires_at
        )
        record_action(
            project_id=project_id,
            actor=actor,
            verb="login_link.create",
            target=f"user:{user.username}",
            after={"expires_at": expires_at.isoformat()},
        )
    return NewLoginLink(user_id, expires_at, secret=secret, path=f"{LINK_PATH}{secret}")


def spend_login_link(secret: str) -> UserRow:
    """Use up a log-in link and return its user; LinkSpent for the second of two callers.

    The conditions stand on the link's own columns: with the user's row joined, PostgreSQL would
    look for it in a subquery that a waiting second update does not ask again.
    """
    now = clock.now()
    with write_transaction():
        link = LoginLink.objects.filter(secret_hash=hash_secret(secret))
        if not link.filter(used_at__isnull=True, expires_at__gt=now).update(used_at=now):
            raise errors.LinkSpent
        user = link.select_related("user").get().user
        if not user.is_active:
            raise errors.LinkSpent
    return rows.user_row(user)


def set_password(user_id: int, password: str, *, actor: Actor) -> None:
    """Give a person a password; their sessions elsewhere end with it."""
    user = _get_user(user_id)
    # Hashing takes longer than a write transaction may last on SQLite.
    user.set_password(password)
    with write_transaction():
        user.save(update_fields=["password"])
        record_action(
            project_id=None, actor=actor, verb="user.password", target=f"user:{user.username}"
        )


def admit_attempt(username: str, address: str) -> bool:
    """Count an attempt to log in by password and say whether it may be tried.

    Counted before the password is looked at, so that parallel guesses cannot all pass; what is
    refused here is not counted, so that a lock ends when its owner waits.
    """
    now = clock.now()
    account, origin = _hashes(username, address)
    with write_transaction():
        LoginFailure.objects.filter(at__lte=now - WINDOW).delete()
        attempt = LoginFailure.objects.create(account_hash=account, address_hash=origin, at=now)
    recent = LoginFailure.objects.filter(account_hash=account, at__gt=now - WINDOW)
    from_here = recent.filter(address_hash=origin).count()
    if from_here <= ATTEMPTS_PER_ADDRESS and recent.count() <= ATTEMPTS_PER_ACCOUNT:
        return True
    with write_transaction():
        LoginFailure.objects.filter(id=attempt.id).delete()
    return False


def forget_attempts(username: str, address: str) -> None:
    """Forget a person's attempts from an address, after one that was right."""
    account, origin = _hashes(username, address)
    with write_transaction():
        LoginFailure.objects.filter(account_hash=account, address_hash=origin).delete()


def record_login(user: UserRow, *, by: str) -> None:
    """Record that a person logged in, by `link` or `password`."""
    actor = Actor("person", str(user.id), user.label)
    record_action(
        project_id=None, actor=actor, verb="login", target=f"user:{user.username}", reason=by
    )


def _hashes(username: str, address: str) -> tuple[str, str]:
    account = hashlib.sha256(username.casefold().encode("utf-8", "replace")).hexdigest()
    return account, hashlib.sha256(address.encode("utf-8", "replace")).hexdigest()


def _get_user(user_id: int) -> User:
    user = User.objects.filter(id=user_id).first()
    if user is None:
        raise errors.NotFound("There is no such user.")
    return user
