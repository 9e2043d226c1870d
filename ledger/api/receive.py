"""`POST /api/v1/receipts` as an ASGI callable of its own, in front of Django.

Django's handler costs more than the work itself here (design, section 7, measured). The order is:
token, quota, body under our own cap, drafts, one commit, answer.
"""

from __future__ import annotations

import asyncio
import json
import time
import traceback
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qs

import structlog
from django.db import Error as DatabaseError
from django.db import connection

from kit import clock, ids
from ledger import ingest, sequence
from ledger.api import answers, bearer
from ledger.api.answers import Answer
from ledger.api.writer import QueueFull, writer
from ledger.domain import arrival
from ledger.domain.draft import Draft, Envelope
from ledger.domain.reading import MAX_BODY
from ledger.store import Outcome

Scope = Mapping[str, Any]
Receive = Callable[[], Awaitable[Mapping[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]

PATH = "/api/v1/receipts"
MAX_READ = 8 * 1024 * 1024
MAX_LINES = 1_000
LARGEST_FIRST = arrival.MAX_NUMBER - MAX_LINES
WAIT_S = 2.0
POLL_S = 0.02
NDJSON = "application/x-ndjson"
_COMPACT = json.JSONEncoder(separators=(",", ":"))

log = structlog.get_logger(__name__)


class ClientGone(Exception):
    """The client went away before its body was complete."""


@dataclass(frozen=True, slots=True)
class Body:
    """What was read of a body; `is_cut` says that there was more than we read."""

    data: bytes
    is_cut: bool


def is_ingest(scope: Scope) -> bool:
    """Say whether a request is for this callable."""
    return bool(scope["type"] == "http" and scope["method"] == "POST" and scope["path"] == PATH)


async def receive_receipts(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer one POST of receipts."""
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    try:
        got = await _answer(headers, scope.get("query_string", b""), receive)
    except ClientGone:
        return
    except (DatabaseError, QueueFull):
        got = _unavailable()
    except Exception:
        # The rim of the application: beyond it a fault would be an answer without a body.
        # Not `exception`, which would print the bodies at hand as well.
        log.error("receiving failed", action="receive_failed", trace=traceback.format_exc())
        got = _failed()
    await _send(send, got)


async def _answer(
    headers: Mapping[str, str], query: bytes, receive: Receive
) -> tuple[int, str, bytes, Mapping[str, str]]:
    token = await bearer.find_token(headers.get("authorization", ""))
    refusal = bearer.refusal(token)
    if refusal is not None or token is None:
        return _whole(refusal or bearer.unknown())
    body = await _read(receive)
    envelope, feed, fault = _envelope(token, headers)
    is_batch = headers.get("content-type", "").split(";")[0].strip().lower() == NDJSON
    is_batch = is_batch and envelope.content_encoding in ("", "identity")
    lines = _lines(body.data) if is_batch else [body.data]
    if is_batch and (body.is_cut or len(lines) > MAX_LINES):
        return _whole(_too_much(len(lines), body))
    if is_batch:
        envelope = replace(envelope, content_type="application/json")
    if not lines:
        lines, is_batch = [b""], False
    envelopes = [_numbered(envelope, feed, at) for at in range(len(lines))]
    drafts = await _prepare(lines, envelopes, is_cut=body.is_cut)
    outcomes = await writer.append(drafts)
    leaves = await _leaves(outcomes, must_wait=_wants_leaf(query))
    extra = {"Counterfoil-Feed-Fault": fault} if fault else {}
    if not is_batch:
        answer = answers.of(outcomes[0], leaves)
        body_too = {"feed_fault": fault} if fault else {}
        headers = {**answer.headers, **extra}
        return _whole(replace(answer, body={**answer.body, **body_too}, headers=headers))
    return _batch(outcomes, leaves, extra)


def _envelope(
    token: bearer.Bearer, headers: Mapping[str, str]
) -> tuple[Envelope, arrival.Feed | None, str]:
    """Note what is known of the delivery; a feed header that cannot be read costs no receipt."""
    feed, fault = None, ""
    try:
        feed = arrival.read_feed(headers.get("counterfoil-feed"))
        if feed is not None and feed.first > LARGEST_FIRST:
            raise arrival.FeedFault("the number of the first line is too large")
    except arrival.FeedFault as error:
        feed, fault = None, str(error)
    envelope = Envelope(
        project_id=token.project_id,
        received_at=clock.now(),
        token_id=token.token_id,
        content_type=headers.get("content-type", "")[:200],
        content_encoding=headers.get("content-encoding", "").strip().lower()[:200],
    )
    return envelope, feed, fault


def _numbered(envelope: Envelope, feed: arrival.Feed | None, at: int) -> Envelope:
    if feed is None:
        return envelope
    return replace(envelope, feed_spool=feed.spool, feed_number=feed.number_of(at))


async def _read(receive: Receive) -> Body:
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        part = message.get("body", b"")
        parts.append(part)
        size += len(part)
        if size > MAX_READ:
            return Body(b"".join(parts)[:MAX_READ], is_cut=True)
        if not message.get("more_body", False):
            return Body(b"".join(parts), is_cut=False)


def _lines(data: bytes) -> list[bytes]:
    return [line.rstrip(b"\r") for line in data.split(b"\n") if line.strip()]


async def _prepare(
    lines: Sequence[bytes], envelopes: Sequence[Envelope], *, is_cut: bool
) -> list[Draft]:
    if len(lines) == 1:
        return [_prepare_one(lines[0], envelopes[0], is_cut=is_cut)]
    # A thousand lines take long enough to hold up every other request of the loop.
    return await asyncio.to_thread(_prepare_all, lines, envelopes)


def _prepare_all(lines: Sequence[bytes], envelopes: Sequence[Envelope]) -> list[Draft]:
    receipts = ids.uuid7s(envelopes[0].received_at, len(lines))
    return list(map(_prepare_one, lines, envelopes, receipts))


def _prepare_one(
    line: bytes, envelope: Envelope, receipt: uuid.UUID | None = None, *, is_cut: bool = False
) -> Draft:
    if len(line) <= MAX_BODY:
        return ingest.prepare(line, envelope, receipt)
    return ingest.prepare_oversize(line, envelope, receipt, truncated=is_cut)


def _wants_leaf(query: bytes) -> bool:
    return parse_qs(query.decode("latin-1")).get("wait") == ["leaf"]


async def _leaves(outcomes: Sequence[Outcome], *, must_wait: bool) -> dict[uuid.UUID, int]:
    """Give the leaves that are known: all when they are waited for, else those of replays."""
    if must_wait:
        return await _wait_for_leaves(outcomes)
    replayed = {outcome.receipt for outcome in outcomes if not outcome.is_new}
    return await asyncio.to_thread(_find_leaves, replayed) if replayed else {}


async def _wait_for_leaves(outcomes: Sequence[Outcome]) -> dict[uuid.UUID, int]:
    """Wait until the receipts have leaves, at most two seconds; gives those that have one."""
    receipts = {outcome.receipt for outcome in outcomes}
    end = time.monotonic() + WAIT_S
    while True:
        leaves = await asyncio.to_thread(_find_leaves, receipts)
        if len(leaves) == len(receipts) or time.monotonic() >= end:
            return leaves
        await asyncio.sleep(POLL_S)


def _find_leaves(receipts: set[uuid.UUID]) -> dict[uuid.UUID, int]:
    try:
        return sequence.leaf_indexes(receipts)
    except DatabaseError:
        # The receipts are stored; an answer that said otherwise would be a lie.
        return {}
    finally:
        connection.close()


def _too_much(lines: int, body: Body) -> Answer:
    over = "8 MiB" if body.is_cut else f"{MAX_LINES:,} lines; this one has {lines:,}"
    return answers.problem(
        413,
        "batch_too_large",
        "The batch is over the limit",
        f"A batch may have {over}. Nothing of it was stored: send it in parts.",
        stored=False,
        limit={"lines": MAX_LINES, "bytes": MAX_READ},
    )


def _batch(
    outcomes: Sequence[Outcome], leaves: Mapping[uuid.UUID, int], extra: Mapping[str, str]
) -> tuple[int, str, bytes, Mapping[str, str]]:
    lines = []
    for number, outcome in enumerate(outcomes, start=1):
        answer = answers.of(outcome, leaves, line=number)
        lines.append(_dump({"status": answer.status, **answer.body}))
    return 200, NDJSON, b"\n".join(lines) + b"\n", extra


def _whole(answer: Answer) -> tuple[int, str, bytes, Mapping[str, str]]:
    return answer.status, answer.content_type, _dump(answer.body) + b"\n", answer.headers


def _unavailable() -> tuple[int, str, bytes, Mapping[str, str]]:
    return _whole(
        answers.problem(
            503,
            "unavailable",
            "The ledger cannot store at the moment",
            "Nothing of this request was stored; sending it again is safe.",
            stored=False,
            retry_after=1,
        )
    )


def _failed() -> tuple[int, str, bytes, Mapping[str, str]]:
    return _whole(
        answers.problem(
            500,
            "internal_error",
            "Something went wrong on our side",
            "Send it again: what is stored already is answered as a replay.",
        )
    )


def _dump(body: Mapping[str, Any]) -> bytes:
    return _COMPACT.encode(body).encode("ascii")


async def _send(send: Send, answer: tuple[int, str, bytes, Mapping[str, str]]) -> None:
    status, content_type, body, headers = answer
    fields = {
        "content-type": content_type,
        "content-length": str(len(body)),
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
        **{name.lower(): value for name, value in headers.items()},
    }
    coded = [(name.encode("ascii"), value.encode("latin-1")) for name, value in fields.items()]
    await send({"type": "http.response.start", "status": status, "headers": coded})
    await send({"type": "http.response.body", "body": body})
