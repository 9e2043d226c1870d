"""Writes of API tokens: made, used, revoked and never deleted."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db.models import Q

from access import errors, rows
from access.domain import names, rights
from access.domain.tokens import make_token
from access.models import ApiToken
from access.rows import Actor, TokenListing
from access.store.actions import record_action
from kit import clock
from kit.db import write_transaction

# A last use is for people who look for unused tokens; a minute is close enough, and one update
# a receipt would double the writes of ingest.
TOUCH_INTERVAL = timedelta(minutes=1)


def create_token(
    project_id: int,
    *,
    name: str,
    scope: str,
    actor: Actor,
    source: str = "",
    expires_at: datetime | None = None,
) -> tuple[TokenListing, str]:
    """Make a token and return its row and its text, which is nowhere else and never again.

    `source` is `system/instance` or empty and cannot be changed later. Raises UnknownScope and
    BadName.
    """
    if scope not in rights.SCOPES:
        raise errors.UnknownScope
    system, instance = names.parse_source(source)
    made = make_token()
    with write_transaction():
        token = ApiToken.objects.create(
            project_id=project_id,
            name=names.check_name(name),
            prefix=made.prefix,
            secret_hash=made.secret_hash,
            scope=scope,
            source_system=system,
            source_instance=instance,
            created_at=clock.now(),
            created_by=actor.label,
            expires_at=expires_at,
        )
        listing = rows.token_listing(token, clock.now())
        record_action(
            project_id=project_id,
            actor=actor,
            verb="token.create",
            target=f"token:{made.prefix}",
            after=_describe(listing),
        )
    return listing, made.text


def revoke_token(project_id: int, token_id: int, *, actor: Actor, reason: str = "") -> bool:
    """End a token for good; False when it was revoked before, NotFound when there is none.

    A reason may be left out; BadName for one that cannot be kept.
    """
    why = names.check_reason(reason) if reason else ""
    with write_transaction():
        token = ApiToken.objects.filter(project_id=project_id, id=token_id).first()
        if token is None:
            raise errors.NotFound("There is no such token in this project.")
        now = clock.now()
        unrevoked = ApiToken.objects.filter(id=token_id, revoked_at__isnull=True)
        if not unrevoked.update(revoked_at=now):
            return False
        record_action(
            project_id=project_id,
            actor=actor,
            verb="token.revoke",
            target=f"token:{token.prefix}",
            reason=why,
            before={"name": token.name, "revoked_at": None},
            after={"name": token.name, "revoked_at": now.isoformat()},
        )
    return True


def touch_tokens(token_ids: Iterable[int], at: datetime) -> int:
    """Note a use of tokens, at most once a minute each; return how many rows changed."""
    stale = Q(last_used_at__isnull=True) | Q(last_used_at__lte=at - TOUCH_INTERVAL)
    with write_transaction():
        # Sorted and locked first: two processes that touch the same tokens must not deadlock.
        used = ApiToken.objects.filter(stale, id__in=list(token_ids)).order_by("id")
        locked = [token.id for token in used.select_for_update().only("id")]
        return ApiToken.objects.filter(stale, id__in=locked).update(last_used_at=at)


def _describe(token: TokenListing) -> dict[str, str | None]:
    expires_at = token.expires_at.isoformat() if token.expires_at else None
    return {
        "name": token.name,
        "prefix": token.prefix,
        "scope": token.scope,
        "source": token.source,
        "expires_at": expires_at,
    }
