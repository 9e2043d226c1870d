"""One receipt: by its ref or its number, as it was sent, stored and delivered."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from kit import bulk, ids
from kit.http import ProblemError
from ledger import statements
from ledger.domain import plain, receipt_ids
from ledger.domain.names import column
from ledger.domain.statement import Statement
from ledger.models import (
    Delivery,
    DeliveryTail,
    Entry,
    Leaf,
    Quarantine,
    Receipt,
    ReceiptBody,
    ReceiptKey,
    ReceiptVariant,
    SetAside,
    TreeHead,
)
from ledger.queries.as_of import AsOf

Document = dict[str, Any]
DELIVERIES_SHOWN = 100


class NoReceipt(ProblemError):
    """There is no receipt of this name in this project."""

    def __init__(self, name: str) -> None:
        detail = f"{name[:60]} names no receipt of this project; names are r… or n and a number."
        super().__init__(404, "not_found", "No such receipt", detail)


@dataclass(frozen=True, slots=True)
class Found:
    """A receipt's row and its leaf, None until it is sequenced."""

    receipt: Receipt
    leaf: Leaf | None

    @property
    def leaf_index(self) -> int | None:
        """Its number in the project's log."""
        return None if self.leaf is None else self.leaf.leaf_index


def get_receipt(project_id: int, name: str) -> Found:
    """Find a receipt by `r…` or `n42`; raises NoReceipt, also for another project's."""
    leaves = Leaf.objects.filter(project_id=project_id)
    if name[:1] == "n" and name[1:].isascii() and name[1:].isdigit() and len(name) <= 19:
        leaf = leaves.filter(leaf_index=int(name[1:])).first()
        receipt = Receipt.objects.filter(pk=leaf.receipt).first() if leaf else None
    else:
        wanted = ids.uuid_of(name)
        mine = Receipt.objects.filter(project_id=project_id)
        receipt = mine.filter(pk=wanted).first() if wanted is not None else None
        leaf = leaves.filter(receipt=receipt.pk).first() if receipt else None
    if receipt is None:
        raise NoReceipt(name)
    return Found(receipt, leaf)


def get_raw(found: Found) -> tuple[bytes, str]:
    """Give the bytes as sent and the content type to serve them under.

    Raises a problem when they were erased. They are served as the text or bytes that they are,
    never as a page.
    """
    body = ReceiptBody.objects.filter(pk=found.receipt.pk).first()
    if body is None:
        raise ProblemError(410, "erased", "The bytes were erased", "Its place in the log stands.")
    return bytes(
        body.raw
    ), "application/json" if found.receipt.state == "accepted" else "text/plain"


def receipt_document(project_id: int, found: Found, as_of: AsOf | None = None) -> Document:
    """Give everything that the ledger knows of one receipt, derived or not."""
    receipt = found.receipt
    statement = statements.read_receipt(receipt, found.leaf_index)
    read = receipt_ids.read_id(statement.id_text) if statement.id_text else None
    body = ReceiptBody.objects.filter(pk=receipt.pk).first()
    return {
        "ref": ids.ref_of(receipt.pk),
        "leaf_index": None if found.leaf is None else str(found.leaf.leaf_index),
        "state": receipt.state,
        "ours": receipt.token_id is None,
        "kind": statement.kind,
        "word": statement.word,
        "id": statement.id_text or None,
        "id_scheme": read.scheme if read else None,
        "id_version": read.version if read else None,
        "id_hint": read.hint if read else None,
        "minted_id": receipt.id_source == "minted",
        "length": receipt.length,
        "content_type": _headers(body).get("content_type"),
        **_understood(statement),
        "reasons": reasons_of(receipt.pk),
        "times": _times(statement),
        "deliveries": deliveries_of(receipt.pk, as_of),
        "leaf": _leaf(project_id, found),
        "same_id": same_id(receipt, as_of),
        "derived_from": _ref(receipt.derived_from),
        "set_aside": _set_aside(project_id, found, as_of),
        "erased": body is None,
    }


def reasons_of(receipt: uuid.UUID) -> list[Document]:
    """Give why a receipt was set aside; empty for one that was not."""
    row = Quarantine.objects.filter(pk=receipt).first()
    return [] if row is None else list(json.loads(row.reasons))


def deliveries_of(receipt: uuid.UUID, as_of: AsOf | None) -> Document:
    """Give the deliveries of a receipt, oldest first, and how many more were only counted."""
    found = Delivery.objects.filter(receipt=receipt)
    if as_of is not None:
        found = found.filter(at__lte=as_of.at)
    tail = DeliveryTail.objects.filter(pk=receipt).first()
    more = tail.more if tail and (as_of is None or tail.last_at <= as_of.at) else 0
    rows = list(found.order_by("pk")[:DELIVERIES_SHOWN])
    return {
        "count": found.count() + more,
        "items": [
            {
                "at": row.at,
                "outcome": row.outcome,
                "token": None if row.token is None else str(row.token),
                "bytes_differ": row.bytes_differ,
                "feed": None
                if row.feed_number is None
                else {"spool": row.feed_spool, "number": str(row.feed_number)},
                "sent": json.loads(row.sent) if row.sent else None,
            }
            for row in rows
        ],
    }


def same_id(receipt: Receipt, as_of: AsOf | None = None) -> list[Document]:
    """Give the other receipts that came under the same id with another content."""
    mine = Q(project_id=receipt.project_id, id_key=bytes(receipt.id_key))
    firsts = ReceiptKey.objects.filter(mine).values_list("receipt", flat=True)
    others = ReceiptVariant.objects.filter(mine).values_list("receipt", flat=True)
    found = sorted({*firsts, *others} - {receipt.pk})
    if as_of is not None:
        leaves = Leaf.objects.filter(receipt__in=found, leaf_index__lte=as_of.leaf)
        found = sorted(leaves.values_list("receipt", flat=True))
    return [{"ref": ids.ref_of(one)} for one in found]


def find_by_id(project_id: int, text: str) -> list[str]:
    """Give the refs of receipts that came under an id as a producer wrote it."""
    rows = Entry.objects.filter(project_id=project_id, id_key=column(receipt_ids.read_id(text).key))
    return [
        ids.ref_of(one) for one in rows.order_by("leaf_index").values_list("receipt", flat=True)
    ]


def _understood(one: Statement) -> Document:
    """Give the members that the ledger understood, each None where the source has none."""
    return {
        "task": one.task or None,
        "queue": one.queue or None,
        "job": None
        if one.job is None
        else {"system": one.job.system, "instance": one.job.instance, "id": one.job.number},
        "source": one.source or None,
        "via": one.via,
        "subjects": [{"type": kind, "id": name} for kind, name in one.subjects],
        "invoke": {"scope": one.scope, "id": one.invoke_id, "generation": one.generation or None}
        if one.scope or one.invoke_id
        else None,
        "reason": one.reason,
        "original": _original(one),
        "act": None
        if not one.act_verb
        else {
            "verb": one.act_verb,
            "target": one.act_target or None,
            "reason": plain.prose_of(one.act.get("reason")) or None,
        },
        "rule": None
        if one.rule is None
        else {"name": one.rule.name, "version": one.rule.version or None},
        "level": one.level,
        "actor": {"type": one.actor_type, "id": one.actor_id, "label": one.actor_label}
        if one.actor_id or one.actor_label
        else None,
        "trace_id": one.trace_id or None,
    }


def _original(one: Statement) -> Document | None:
    """Give what a receipt names as its original, as one text for a page to show."""
    pointer = one.pointer
    if pointer is None or not pointer.names_something:
        return None
    job = pointer.job.text() if pointer.job else None
    return {"receipt": pointer.receipt, "job": job, "text": pointer.receipt or job}


def _times(one: Statement) -> Document:
    skew = None
    if one.occurred_at is not None:
        skew = round((one.received_at - one.occurred_at).total_seconds(), 6)
    return {
        "occurred": {"at": one.occurred_at, "by": "producer"},
        "received": {"at": one.received_at, "by": "ledger"},
        "recorded_by": None,
        "skew_s": skew,
    }


def _leaf(project_id: int, found: Found) -> Document | None:
    if found.leaf is None:
        return None
    heads = TreeHead.objects.filter(project_id=project_id, size__gt=found.leaf.leaf_index)
    head = heads.order_by("size").first()
    return {
        "index": str(found.leaf.leaf_index),
        "hash": bytes(found.leaf.hash).hex(),
        "record": bytes(found.leaf.record).decode("ascii"),
        "committed_at": head.committed_at if head else None,
    }


def _set_aside(project_id: int, found: Found, as_of: AsOf | None) -> Document | None:
    if found.leaf is None:
        return None
    leaf = found.leaf.leaf_index
    row = SetAside.objects.filter(project_id=project_id, leaf_index=leaf).first()
    if row is None:
        return None
    settled = row.redriven_leaf if row.closed_leaf is None else row.closed_leaf
    if as_of is not None and settled is not None and settled > as_of.leaf:
        row = SetAside(is_open=True)
    return {
        "is_open": row.is_open,
        "redriven_leaf": None if row.redriven_leaf is None else str(row.redriven_leaf),
        "closed_leaf": None if row.closed_leaf is None else str(row.closed_leaf),
        "closed_reason": row.closed_reason or None,
    }


def _headers(body: ReceiptBody | None) -> Document:
    return dict(json.loads(body.headers)) if body is not None and body.headers else {}


def _ref(receipt: uuid.UUID | None) -> str | None:
    return None if receipt is None else ids.ref_of(bulk.as_uuid(receipt))
