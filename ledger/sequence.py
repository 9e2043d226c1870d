"""Pending receipts get their place in their project's log: leaf, tree, head, in one commit.

No database sequence is followed: a row that commits late would be lost (reference ledger, section
3, measured). `pending` is drained by one sequencer a log, under an advisory lock; leaf records are
made before the lock is taken, so that the transaction stays short.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import connection

from access.models import Project
from kit import bulk, clock
from kit.db import is_postgresql, try_lock, write_transaction
from ledger.domain import leaf, merkle
from ledger.domain.merkle import Edge
from ledger.models import Pending, TreeHead

BATCH = 500
_LEAF = ("project_id", "leaf_index", "receipt", "record", "hash")
_HEAD = ("project_id", "size", "root", "edge", "committed_at")
_WAITING = """
SELECT receipt.id, receipt.kind, receipt.state, receipt.length, receipt.received_at,
       receipt.commitment, receipt.stub_commitment
FROM pending JOIN receipt ON receipt.id = pending.receipt
WHERE pending.project_id = %s ORDER BY pending.receipt LIMIT %s
"""
# What a leaf calls a receipt that was set aside or is in conflict, in place of its kind.
_LEAF_KINDS = {"conflict": "conflict", "quarantined": "quarantine", "oversize": "quarantine"}


@dataclass(frozen=True, slots=True)
class Record:
    """A receipt's leaf record and its hash."""

    receipt: uuid.UUID
    text: bytes
    hash: bytes


def waiting_projects() -> list[int]:
    """Give the projects that have receipts without a leaf."""
    return list(Pending.objects.values_list("project_id", flat=True).distinct())


def sequence(project_id: int, limit: int = BATCH) -> int:
    """Give up to `limit` pending receipts their leaves and return how many got one.

    Zero also when another sequencer holds this log at the moment.
    """
    origin = Project.objects.values_list("origin", flat=True).get(pk=project_id)
    records = _records(project_id, origin, limit)
    if not records:
        return 0
    with write_transaction():
        if not try_lock(f"sequence:{project_id}"):
            return 0
        records = _still_pending(records)
        if records:
            _extend(project_id, records)
    return len(records)


def head(project_id: int) -> tuple[Edge, datetime | None]:
    """Give the right edge of a project's tree and when its newest head was committed."""
    newest = TreeHead.objects.filter(project_id=project_id).order_by("-size").first()
    if newest is None:
        return Edge(0, ()), None
    return Edge.unpack(newest.size, bytes(newest.edge)), newest.committed_at


def leaf_indexes(receipts: Iterable[uuid.UUID]) -> dict[uuid.UUID, int]:
    """Give the leaf indexes of those receipts that have one."""
    statement = "SELECT receipt, leaf_index FROM leaf WHERE receipt IN ({values})"
    return {bulk.as_uuid(one): leaf for one, leaf in bulk.select_in(statement, [], receipts)}


def _records(project_id: int, origin: str, limit: int) -> list[Record]:
    # Model instances would cost more than the leaves that are made of them.
    rows = bulk.select_rows(_WAITING, [project_id, limit])
    return [_record(origin, *row) for row in rows]


def _record(
    origin: str,
    receipt: object,
    kind: str,
    state: str,
    length: int,
    received_at: object,
    commitment: str,
    stub_commitment: str,
) -> Record:
    text = leaf.leaf_record(
        log=origin,
        kind=_LEAF_KINDS.get(state, kind),
        length=length,
        received_at=bulk.as_time(received_at),
        commit=commitment,
        stub=stub_commitment,
    )
    return Record(bulk.as_uuid(receipt), text, merkle.leaf_hash(text))


def _still_pending(records: Sequence[Record]) -> list[Record]:
    """Leave out what another sequencer placed while the records were made."""
    lock = " FOR UPDATE" if is_postgresql() else ""
    statement = "SELECT receipt FROM pending WHERE receipt IN ({values})" + lock  # noqa: S608
    wanted = [record.receipt for record in records]
    found = {bulk.as_uuid(one) for (one,) in bulk.select_in(statement, [], wanted)}
    return [record for record in records if record.receipt in found]


def _extend(project_id: int, records: Sequence[Record]) -> None:
    edge, last = head(project_id)
    grown = edge.extend([record.hash for record in records])
    rows = [
        (project_id, edge.size + offset, record.receipt, record.text, record.hash)
        for offset, record in enumerate(records)
    ]
    bulk.insert_rows("leaf", _LEAF, rows)
    now = clock.now()
    committed_at = max(now, last) if last else now
    head_row = (project_id, grown.size, grown.root(), grown.pack(), committed_at)
    bulk.insert_rows("tree_head", _HEAD, [head_row])
    _drain([record.receipt for record in records])


def _drain(receipts: Sequence[uuid.UUID]) -> None:
    marks = ", ".join(["%s"] * len(receipts))
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM pending WHERE receipt IN ({marks})", bulk.adapt(receipts))  # noqa: S608
