"""A receipt before it is stored: what was read of its bytes, and the hashes that keep it.

All hashes of readable text are keyed with the project's key, so the receipt table tells nothing
without it; each kind of text has its own prefix, so that an id never equals a digest of bytes.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from ledger.domain import canonical, leaf, reading, shapes
from ledger.domain.reading import Fault, Reading

ACCEPTED, CONFLICT, QUARANTINED, OVERSIZE = "accepted", "conflict", "quarantined", "oversize"
PREFIX_BYTES = 4096

Body = dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class Envelope:
    """What the ledger knows of a delivery, apart from its bytes."""

    project_id: int
    received_at: datetime
    token_id: int | None = None
    content_type: str = "application/json"
    content_encoding: str = ""
    feed_spool: str = ""
    feed_number: int | None = None
    derived_from: uuid.UUID | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """One receipt, ready for `store.append`."""

    envelope: Envelope
    receipt: uuid.UUID
    state: str
    kind: str
    faults: tuple[Fault, ...]
    id_text: str | None
    id_source: str
    id_key: bytes
    masked_id: bytes | None
    pointer: bytes | None
    subjects: bytes
    fingerprint: bytes
    raw: bytes
    length: int
    salt: bytes
    commitment: str
    stub_commitment: str
    headers: str
    sent: str
    is_cut: bool = False


def keyed(key: bytes, kind: str, text: bytes | str) -> bytes:
    """HMAC-SHA-256 of a text under the project's key, apart for each kind of text."""
    begun = _begun(key, kind).copy()
    begun.update(text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text)
    return begun.digest()


@lru_cache(maxsize=1_000)
def _begun(key: bytes, kind: str) -> hmac.HMAC:
    return hmac.new(key, kind.encode("ascii") + b"\0", "sha256")


def draft(raw: bytes, envelope: Envelope, key: bytes, receipt: uuid.UUID) -> Draft:
    """Read the bytes and key what they say; never fails, whatever the bytes are."""
    read = reading.read(raw, envelope.content_type, envelope.content_encoding)
    salt = secrets.token_bytes(32)
    id_text, id_source = _name(read, envelope, receipt)
    set_aside = read.state != ACCEPTED
    if set_aside:
        id_key = _bytes_key(key, hashlib.sha256(raw).digest())
    else:
        id_key = keyed(key, "id", read.receipt_id.key if read.receipt_id else id_text)
    masked = read.receipt_id.masked if read.receipt_id and not set_aside else None
    return Draft(
        envelope=envelope,
        receipt=receipt,
        state=read.state,
        kind=read.kind,
        faults=read.faults,
        id_text=None if set_aside else id_text,
        id_source="bytes" if set_aside else id_source,
        id_key=id_key,
        masked_id=keyed(key, "masked", masked) if masked else None,
        pointer=_pointer(read.body, key),
        subjects=_subjects(read.body, key),
        # What is set aside is known by its bytes alone, so that they are always the same receipt.
        fingerprint=keyed(key, "content", raw if set_aside else read.canonical),
        raw=raw,
        length=len(raw),
        salt=salt,
        commitment=leaf.commitment(salt, raw),
        stub_commitment=leaf.stub_commitment(salt, read.stub),
        headers=_headers(envelope) if set_aside else "",
        sent=_sent(read.body),
    )


def oversize(
    prefix: bytes,
    digest: bytes,
    length: int,
    truncated: bool,
    envelope: Envelope,
    key: bytes,
    receipt: uuid.UUID,
) -> Draft:
    """Keep of a body over the limit its first 4 KiB, its length and its digest."""
    kept = prefix[:PREFIX_BYTES]
    salt = secrets.token_bytes(32)
    said = f"more than {length:,} bytes" if truncated else f"{length:,} bytes"
    detail = f"The body has {said}; at most {reading.MAX_BODY:,} are kept."
    facts = {"sha256": digest.hex(), "length": length, "truncated": truncated}
    return Draft(
        envelope=envelope,
        receipt=receipt,
        state=OVERSIZE,
        kind="other",
        faults=(Fault("", "oversize", detail),),
        id_text=None,
        id_source="bytes",
        id_key=_bytes_key(key, digest),
        masked_id=None,
        pointer=None,
        subjects=b"",
        fingerprint=keyed(key, "content", digest),
        raw=kept,
        length=length,
        salt=salt,
        commitment=leaf.commitment(salt, kept),
        stub_commitment="",
        headers=_headers(envelope, facts),
        sent="",
        is_cut=truncated,
    )


def _name(read: Reading, envelope: Envelope, receipt: uuid.UUID) -> tuple[str, str]:
    """Give the receipt's id and where it is from: sent, numbered by its feed, or made here."""
    if read.receipt_id is not None:
        return read.receipt_id.text, "sent"
    if envelope.feed_number is not None:
        return f"feed:{envelope.feed_spool}:{envelope.feed_number}", "feed"
    return str(receipt), "minted"


def _bytes_key(key: bytes, digest: bytes) -> bytes:
    return keyed(key, "bytes", digest)


def _pointer(body: Body, key: bytes) -> bytes | None:
    original = body.get("original") if body else None
    if type(original) is not dict:
        return None
    return keyed(key, "pointer", canonical.canonical_text(original, without=()))


def _subjects(body: Body, key: bytes) -> bytes:
    subjects = body.get("subjects") if body else None
    if type(subjects) is not list:
        return b""
    pairs = (item for item in subjects[: shapes.MAX_SUBJECTS] if type(item) is dict)
    return b"".join(keyed(key, "subject", f"{p.get('type')}:{p.get('id')}") for p in pairs)


def _headers(envelope: Envelope, facts: Mapping[str, object] | None = None) -> str:
    kept: dict[str, object] = {
        "content_type": envelope.content_type,
        "content_encoding": envelope.content_encoding,
        **(facts or {}),
    }
    return json.dumps(kept, sort_keys=True)


def _sent(body: Body) -> str:
    sent = body.get("sent") if body else None
    return "" if sent is None else canonical.canonical_text(sent, without=()).decode("ascii")
