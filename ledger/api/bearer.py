"""Who posts: tokens looked up at most every five seconds, and counted against their quota."""

from __future__ import annotations

import asyncio
import hashlib
import time
from dataclasses import dataclass, field

from django.conf import settings
from django.db import connection

from access import queries as access_queries
from access import store as access_store
from kit import clock
from ledger import keys
from ledger.api import answers
from ledger.api.answers import Answer

FRESH_S = 5.0
REMEMBERED = 10_000


@dataclass(slots=True)
class Bearer:
    """A token that may or may not post, as it stood when it was looked up."""

    token_id: int
    project_id: int
    may_ingest: bool
    expires_at: float
    minute: int = 0
    posts: int = 0

    def count_post(self) -> bool:
        """Count one request; says whether it is still within the quota of this minute."""
        quota: int = settings.INGEST_QUOTA_PER_MINUTE
        minute = int(time.time() // 60)
        if minute != self.minute:
            self.minute, self.posts = minute, 0
        self.posts += 1
        return not quota or self.posts <= quota


@dataclass(slots=True)
class _Seen:
    bearer: Bearer | None
    at: float = field(default_factory=time.monotonic)

    def is_fresh(self) -> bool:
        return time.monotonic() - self.at < FRESH_S


_seen: dict[bytes, _Seen] = {}


async def find_token(authorization: str) -> Bearer | None:
    """Find the token of an Authorization header, from memory when it was asked for just now."""
    scheme, _, text = authorization.partition(" ")
    if scheme.lower() != "bearer" or not text.strip():
        return None
    text = text.strip()
    name = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    seen = _seen.get(name)
    if seen is None or not seen.is_fresh():
        found = await asyncio.to_thread(_look_up, text)
        seen = _remember(name, found, seen.bearer if seen else None)
    bearer = seen.bearer
    return bearer if bearer is not None and time.time() < bearer.expires_at else None


def refusal(bearer: Bearer | None) -> Answer | None:
    """Say why a request of this bearer is not read: 401, 403 or 429; None when it is."""
    if bearer is None:
        return unknown()
    if not bearer.may_ingest:
        return answers.problem(
            403,
            "forbidden",
            "This token may not post",
            "Its scope has no right to ingest; make one with the scope ingest.",
            stored=False,
        )
    if not bearer.count_post():
        return answers.problem(
            429,
            "quota",
            "The quota of this minute is used up",
            "Nothing was read or stored; send it again in the next minute.",
            stored=False,
            retry_after=max(1, 60 - int(time.time() % 60)),
        )
    return None


def unknown() -> Answer:
    """Answer a request without a usable token."""
    answer = answers.problem(
        401,
        "unauthenticated",
        "A token is needed",
        "Send a usable token as `Authorization: Bearer TOKEN`.",
        stored=False,
    )
    return Answer(401, answer.body, answers.PROBLEM, {"WWW-Authenticate": "Bearer"})


def forget() -> None:
    """Drop what is remembered; for tests."""
    _seen.clear()


def _remember(name: bytes, found: Bearer | None, before: Bearer | None) -> _Seen:
    if found is not None and before is not None:
        found.minute, found.posts = before.minute, before.posts
    if len(_seen) >= REMEMBERED:
        _seen.clear()
    _seen[name] = _Seen(found)
    return _seen[name]


def _look_up(text: str) -> Bearer | None:
    """Read a token from the database, note its use, and have its project's key in memory."""
    try:
        row = access_queries.find_token(text)
        if row is None:
            return None
        keys.project_key(row.project_id)
        access_store.touch_tokens([row.token_id], clock.now())
        return Bearer(
            token_id=row.token_id,
            project_id=row.project_id,
            may_ingest="ingest" in row.rights,
            expires_at=row.expires_at.timestamp() if row.expires_at else float("inf"),
        )
    finally:
        connection.close()
