"""What was set aside, read once more: by a person, with a reason, under today's rules."""

from __future__ import annotations

import json
import time
import uuid
from dataclasses import asdict, dataclass
from typing import Any

from access import queries as access_queries
from access import store as access_store
from access.domain import names
from access.rows import Actor
from kit import clock, ids
from kit.db import take_lock, write_transaction
from kit.http import ProblemError
from ledger import ingest, store
from ledger.domain.draft import ACCEPTED, OVERSIZE, QUARANTINED, Envelope
from ledger.models import Delivery, Receipt, ReceiptBody
from ledger.queries import heads, set_aside
from ledger.store import Outcome

SETTLE_S = 2.0
POLL_S = 0.02


class NotSetAside(ProblemError):
    """This receipt was never set aside."""

    def __init__(self) -> None:
        super().__init__(409, "not_set_aside", "Nothing to do", self.__doc__ or "")


class NotWhole(ProblemError):
    """Of a body over the limit only the beginning was kept; it can be closed, not sent through."""

    def __init__(self) -> None:
        super().__init__(409, "not_whole", "It cannot be sent through again", self.__doc__ or "")


class NoReason(ProblemError):
    """Say why, in up to 500 characters without control characters: it is kept in the log."""

    def __init__(self) -> None:
        super().__init__(400, "reason", "A reason is needed", self.__doc__ or "")


@dataclass(frozen=True, slots=True)
class Redriven:
    """What sending through again came to."""

    ref: str
    state: str
    derived_from: str
    reasons: list[dict[str, Any]]


def check_reason(text: str) -> str:
    """Give the reason as one line without the space around it; raises NoReason."""
    try:
        return names.check_reason(text)
    except names.BadName as error:
        raise NoReason from error


def redrive(project_id: int, receipt: Receipt, actor: Actor, reason: str) -> Redriven:
    """Read a set-aside body again; a new receipt that names the old one, if it can be read now.

    Doing it twice is harmless: the second time the first answer stands. The old receipt and its
    bytes stay as they are.
    """
    body = _body(receipt)
    # Two people at once would each make a receipt of a body that has no id of its own.
    with write_transaction():
        take_lock(f"redrive:{receipt.pk}")
        done = Receipt.objects.filter(project_id=project_id, derived_from=receipt.pk).first()
        if done is not None:
            return _redriven(receipt, done.pk, done.state)
        return _read_again(project_id, receipt, body, actor, reason)


def _read_again(
    project_id: int, receipt: Receipt, body: ReceiptBody, actor: Actor, reason: str
) -> Redriven:
    draft = ingest.prepare(bytes(body.raw), _envelope(receipt, body))
    if draft.state != ACCEPTED:
        _record(project_id, receipt, actor, "redrive", reason, {"result": draft.state})
        reasons = [asdict(fault) for fault in draft.faults]
        return Redriven(ids.ref_of(receipt.pk), draft.state, ids.ref_of(receipt.pk), reasons)
    (outcome,) = store.append([draft])
    _record_outcome(project_id, receipt, actor, reason, outcome)
    return _redriven(receipt, outcome.receipt, outcome.word)


def close(project_id: int, receipt: Receipt, actor: Actor, reason: str) -> None:
    """Close a set-aside receipt without sending it through, for a reason that is kept."""
    if receipt.state not in (QUARANTINED, OVERSIZE):
        raise NotSetAside
    if set_aside.is_settled(project_id, receipt.pk):
        return
    _record(project_id, receipt, actor, "close", reason, {})


def settle(project_id: int) -> None:
    """Wait, at most two seconds, until what was just done shows in the lists."""
    end = time.monotonic() + SETTLE_S
    while time.monotonic() < end:
        waits = any(access_queries.iter_undrained_actions(project_id, 1))
        pending = ingest.has_pending(project_id)
        if not waits and not pending and not heads.reach_of(project_id).lag:
            return
        time.sleep(POLL_S)


def _body(receipt: Receipt) -> ReceiptBody:
    if receipt.state == OVERSIZE:
        raise NotWhole
    if receipt.state != QUARANTINED:
        raise NotSetAside
    body = ReceiptBody.objects.filter(pk=receipt.pk).first()
    if body is None:
        raise ProblemError(410, "erased", "The bytes were erased", "There is nothing to read.")
    return body


def _envelope(receipt: Receipt, body: ReceiptBody) -> Envelope:
    headers = json.loads(body.headers) if body.headers else {}
    return Envelope(
        project_id=receipt.project_id,
        received_at=clock.now(),
        token_id=receipt.token_id,
        # Whoever asks for it has seen the bytes and says that they are a receipt; by the header
        # that was sent they would be set aside for ever.
        content_type="application/json",
        content_encoding=headers.get("content_encoding", ""),
        derived_from=receipt.pk,
        **_number(receipt),
    )


def _number(receipt: Receipt) -> dict[str, Any]:
    """Give the number that a line without an id is named by, as its first delivery had it."""
    numbered = Delivery.objects.filter(receipt=receipt.pk, feed_number__isnull=False)
    first = numbered.order_by("pk").values("feed_spool", "feed_number").first()
    return dict(first or {})


def _record_outcome(
    project_id: int, receipt: Receipt, actor: Actor, reason: str, outcome: Outcome
) -> None:
    ref = ids.ref_of(outcome.receipt)
    _record(project_id, receipt, actor, "redrive", reason, {"result": outcome.word, "ref": ref})
    if not outcome.is_new:
        # Nothing new came into the log, so nothing there would close the old one.
        said = f"{reason} (the same is recorded as {ref})"
        _record(project_id, receipt, actor, "close", said, {})


def _record(
    project_id: int,
    receipt: Receipt,
    actor: Actor,
    verb: str,
    reason: str,
    after: dict[str, Any],
) -> None:
    access_store.record_action(
        project_id=project_id,
        actor=actor,
        verb=verb,
        target=f"receipt:{ids.ref_of(receipt.pk)}",
        reason=reason,
        after=after,
    )


def _redriven(receipt: Receipt, made: uuid.UUID, state: str) -> Redriven:
    return Redriven(ids.ref_of(made), state, ids.ref_of(receipt.pk), [])
