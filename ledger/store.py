"""The only writer of receipts.

`append` decides new, replayed or conflict by two unique keys and no lock (design, section 2):
`receipt_key` holds the first content of an id, `receipt_variant` every other. Rows go in sorted by
key and those that do not come back are read and compared; the second of two racing writers waits
for the first to commit, so equal bodies get one "accepted" and replays, and different ones one
"accepted" and conflicts.
"""

from __future__ import annotations

import json
import uuid
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from itertools import groupby
from typing import Any

from kit import bulk, ids
from kit.db import write_transaction
from ledger.domain import canonical, plain, reading
from ledger.domain.draft import ACCEPTED, CONFLICT, Draft

# Deliveries of one receipt that get a row of their own; later ones are only counted.
DELIVERIES_KEPT = 100

_RECEIPT = (
    "id", "project_id", "kind", "state", "received_at", "id_key", "id_source", "masked_id",
    "pointer", "subjects", "fingerprint", "length", "commitment", "stub_commitment", "token_id",
    "derived_from",
)  # fmt: skip
_DELIVERY = (
    "id", "project_id", "receipt", "at", "outcome", "token", "bytes_differ", "feed_spool",
    "feed_number", "sent",
)  # fmt: skip
_ARRIVAL = (
    "project_id", "token", "spool", "first_number", "last_number", "replayed", "at", "began_at",
    "conflicts",
)  # fmt: skip

Key = tuple[int, bytes]
Content = tuple[int, bytes, bytes]
_listeners: list[Callable[[], None]] = []


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one draft.

    `receipt` is where this content is kept, now or since an earlier delivery; `first` is the
    receipt that holds the id, another one when the two are in conflict.
    """

    draft: Draft
    receipt: uuid.UUID
    first: uuid.UUID
    first_fingerprint: bytes
    is_new: bool
    bytes_differ: bool = False

    @property
    def is_conflict(self) -> bool:
        """Say whether the id already stood for another content."""
        return self.receipt != self.first

    @property
    def word(self) -> str:
        """Name the outcome as deliveries keep it."""
        if not self.is_new:
            return "again" if self.is_conflict else "replayed"
        return CONFLICT if self.is_conflict else self.draft.state


def on_append(listener: Callable[[], None]) -> None:
    """Have a function called after each append that stored something, from its thread."""
    _listeners.append(listener)


def append(drafts: Sequence[Draft]) -> list[Outcome]:
    """Store drafts in one transaction and say of each what became of it, in order."""
    with write_transaction():
        firsts = _claim_keys(drafts)
        kept = _claim_variants(drafts, firsts)
        outcomes = _outcomes(drafts, firsts, kept)
        outcomes = _compare_bytes(outcomes)
        _insert_receipts([outcome for outcome in outcomes if outcome.is_new])
        _insert_deliveries(outcomes)
        _insert_arrivals(outcomes)
    for listener in _listeners:
        listener()
    return outcomes


def _key(draft: Draft) -> Key:
    return draft.envelope.project_id, draft.id_key


def _content(draft: Draft) -> Content:
    return draft.envelope.project_id, draft.id_key, draft.fingerprint


def _claim_keys(drafts: Sequence[Draft]) -> dict[Key, tuple[bytes, uuid.UUID]]:
    """Claim each id that is free, and give for every id the first content and its receipt."""
    wanted: dict[Key, tuple[bytes, uuid.UUID]] = {}
    for draft in drafts:
        wanted.setdefault(_key(draft), (draft.fingerprint, draft.receipt))
    rows = [(*key, *wanted[key]) for key in sorted(wanted)]
    columns = ("project_id", "id_key", "fingerprint", "receipt")
    claimed = bulk.insert_new("receipt_key", columns, rows, "receipt")
    if len(claimed) == len(rows):
        return wanted
    free = {bulk.as_uuid(receipt) for receipt in claimed}
    held = [key for key, (_, receipt) in wanted.items() if receipt not in free]
    for project_id, id_keys in _by_project(held).items():
        statement = (
            "SELECT id_key, fingerprint, receipt FROM receipt_key "
            "WHERE project_id = %s AND id_key IN ({values})"
        )
        for id_key, fingerprint, receipt in bulk.select_in(statement, [project_id], id_keys):
            wanted[project_id, id_key] = (fingerprint, bulk.as_uuid(receipt))
    return wanted


def _claim_variants(
    drafts: Sequence[Draft], firsts: dict[Key, tuple[bytes, uuid.UUID]]
) -> dict[Content, uuid.UUID]:
    """Claim each content that is not the first of its id, and give where it is kept."""
    wanted: dict[Content, uuid.UUID] = {}
    for draft in drafts:
        if firsts[_key(draft)][0] != draft.fingerprint:
            wanted.setdefault(_content(draft), draft.receipt)
    if not wanted:
        return wanted
    rows = [(*content, wanted[content]) for content in sorted(wanted)]
    columns = ("project_id", "id_key", "fingerprint", "receipt")
    claimed = bulk.insert_new("receipt_variant", columns, rows, "receipt")
    free = {bulk.as_uuid(receipt) for receipt in claimed}
    held = [(p, i) for (p, i, _), receipt in wanted.items() if receipt not in free]
    for project_id, id_keys in _by_project(held).items():
        statement = (
            "SELECT id_key, fingerprint, receipt FROM receipt_variant "
            "WHERE project_id = %s AND id_key IN ({values})"
        )
        for id_key, fingerprint, receipt in bulk.select_in(statement, [project_id], id_keys):
            if (project_id, id_key, fingerprint) in wanted:
                wanted[project_id, id_key, fingerprint] = bulk.as_uuid(receipt)
    return wanted


def _outcomes(
    drafts: Sequence[Draft],
    firsts: dict[Key, tuple[bytes, uuid.UUID]],
    kept: dict[Content, uuid.UUID],
) -> list[Outcome]:
    outcomes = []
    for draft in drafts:
        fingerprint, first = firsts[_key(draft)]
        receipt = first if fingerprint == draft.fingerprint else kept[_content(draft)]
        is_new = receipt == draft.receipt
        outcomes.append(Outcome(draft, receipt, first, fingerprint, is_new))
    return outcomes


def _compare_bytes(outcomes: list[Outcome]) -> list[Outcome]:
    """Mark the replays whose bytes are not those that were stored."""
    replayed = {outcome.receipt for outcome in outcomes if not outcome.is_new}
    if not replayed:
        return outcomes
    statement = "SELECT id, raw FROM receipt_body WHERE id IN ({values})"
    stored = {bulk.as_uuid(one): raw for one, raw in bulk.select_in(statement, [], replayed)}
    stored.update({o.receipt: o.draft.raw for o in outcomes if o.is_new})
    return [replace(one, bytes_differ=_differs(one, stored.get(one.receipt))) for one in outcomes]


def _differs(outcome: Outcome, raw: bytes | None) -> bool:
    return raw is not None and not outcome.is_new and raw != outcome.draft.raw


def _insert_receipts(outcomes: Sequence[Outcome]) -> None:
    bulk.insert_rows("receipt", _RECEIPT, [_receipt_row(outcome) for outcome in outcomes])
    bodies = [(o.receipt, o.draft.raw, o.draft.salt, o.draft.headers) for o in outcomes]
    bulk.insert_rows("receipt_body", ("id", "raw", "salt", "headers"), bodies)
    pending = [(o.receipt, o.draft.envelope.project_id) for o in outcomes]
    bulk.insert_rows("pending", ("receipt", "project_id"), pending)
    reasons = [(o.receipt, _reasons(o.draft), reading.VALIDATOR_VERSION) for o in outcomes
               if o.draft.state != ACCEPTED]  # fmt: skip
    bulk.insert_rows("quarantine", ("receipt", "reasons", "validator"), reasons)


def _receipt_row(outcome: Outcome) -> tuple[object, ...]:
    draft, envelope = outcome.draft, outcome.draft.envelope
    state = CONFLICT if outcome.is_conflict else draft.state
    return (
        outcome.receipt, envelope.project_id, draft.kind, state, envelope.received_at,
        draft.id_key, draft.id_source, draft.masked_id, draft.pointer, draft.subjects,
        draft.fingerprint, draft.length, draft.commitment, draft.stub_commitment,
        envelope.token_id, envelope.derived_from,
    )  # fmt: skip


def _reasons(draft: Draft) -> str:
    return json.dumps([asdict(fault) for fault in draft.faults], ensure_ascii=True)


def _insert_deliveries(outcomes: Sequence[Outcome]) -> None:
    rows, bodies = [], []
    kept = _kept_deliveries({o.receipt for o in outcomes if not o.is_new})
    deliveries = _delivery_ids(outcomes)
    counted: dict[uuid.UUID, list[datetime]] = {}
    for delivery, outcome in zip(deliveries, outcomes, strict=True):
        envelope = outcome.draft.envelope
        if kept[outcome.receipt] >= DELIVERIES_KEPT and envelope.feed_number is None:
            counted.setdefault(outcome.receipt, []).append(envelope.received_at)
            continue
        kept[outcome.receipt] += 1
        rows.append(
            (
                delivery, envelope.project_id, outcome.receipt, envelope.received_at,
                outcome.word, envelope.token_id, outcome.bytes_differ, envelope.feed_spool,
                envelope.feed_number, outcome.draft.sent,
            )
        )  # fmt: skip
        if outcome.bytes_differ:
            bodies.append((delivery, outcome.draft.raw))
    bulk.insert_rows("delivery", _DELIVERY, rows)
    bulk.insert_rows("delivery_body", ("delivery", "raw"), bodies)
    _count_deliveries(counted)


def _delivery_ids(outcomes: Sequence[Outcome]) -> Iterator[uuid.UUID]:
    """Number deliveries in their order; those of a batch came at one moment."""
    moments = (outcome.draft.envelope.received_at for outcome in outcomes)
    for at, same in groupby(moments):
        yield from ids.uuid7s(at, len(list(same)))


def _kept_deliveries(receipts: Collection[uuid.UUID]) -> Counter[uuid.UUID]:
    """Give how many deliveries of some receipts have a row of their own."""
    statement = (
        "SELECT receipt, count(*) FROM delivery WHERE receipt IN ({values}) GROUP BY receipt"
    )
    rows = bulk.select_in(statement, [], receipts)
    return Counter({bulk.as_uuid(receipt): count for receipt, count in rows})


def _count_deliveries(counted: Mapping[uuid.UUID, Sequence[datetime]]) -> None:
    """Count deliveries that get no row; by receipt in order, so that two batches never cross."""
    bulk.update_rows(
        "INSERT INTO delivery_tail (receipt, more, last_at) VALUES (%s, %s, %s) "
        "ON CONFLICT (receipt) DO UPDATE SET more = delivery_tail.more + excluded.more, "
        "last_at = excluded.last_at",
        [(receipt, len(times), times[-1]) for receipt, times in sorted(counted.items())],
    )


def _insert_arrivals(outcomes: Sequence[Outcome]) -> None:
    """Note which numbers of which spools came, a row for each run without a hole."""
    runs: list[list[Any]] = []
    for outcome in outcomes:
        envelope = outcome.draft.envelope
        number = envelope.feed_number
        if number is None:
            continue
        feed = [envelope.project_id, envelope.token_id, envelope.feed_spool]
        if not runs or runs[-1][:3] != feed or runs[-1][4] + 1 != number:
            began = _began_at(outcome.draft) if number == 1 else None
            runs.append([*feed, number, number, 0, envelope.received_at, began, 0])
        runs[-1][4] = number
        runs[-1][5] += not outcome.is_new
        runs[-1][8] += outcome.is_new and outcome.is_conflict
    bulk.insert_rows("arrival", _ARRIVAL, runs)


def _began_at(draft: Draft) -> datetime | None:
    """Give when the first line of a spool happened; nothing of it can be older."""
    if draft.state != ACCEPTED:
        return None
    body, _ = canonical.parse_any(draft.raw)
    return plain.time_of(body.get("occurred_at"))


def _by_project(keys: Sequence[Key]) -> dict[int, list[bytes]]:
    grouped: dict[int, list[bytes]] = {}
    for project_id, id_key in keys:
        grouped.setdefault(project_id, []).append(id_key)
    return grouped
