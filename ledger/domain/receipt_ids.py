"""Ids of receipts: opaque text, of which only known spellings of one id are folded."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

from ledger.domain import canonical

MAX_ID = 255

Scheme = Literal["uuid", "uuid-nonrfc", "ulid", "opaque"]

# uuid.UUID() is too lenient: it takes "6b-a7b8109d..." and strips braces and hyphens anywhere.
_UUID_TEXT = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_LOWER_UUID = re.compile(_UUID_TEXT)
_UUID = re.compile(rf"(?:urn:uuid:)?({_UUID_TEXT})", re.IGNORECASE | re.ASCII)
_ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}", re.IGNORECASE | re.ASCII)
_SPECIAL = {
    "00000000-0000-0000-0000-000000000000": "the Nil UUID",
    "ffffffff-ffff-ffff-ffff-ffffffffffff": "the Max UUID",
}
_LOOKS_LIKE = [
    (re.compile(rf"\{{{_UUID_TEXT}\}}", re.IGNORECASE | re.ASCII), "a UUID in braces"),
    (re.compile(r"[0-9a-f]{32}", re.IGNORECASE | re.ASCII), "a UUID without hyphens"),
    (re.compile(rf"\s*{_UUID.pattern}\s*", re.IGNORECASE | re.ASCII), "a UUID in white space"),
]


@dataclass(frozen=True, slots=True)
class ReceiptId:
    """An id as sent, and the key by which it is matched.

    `key` equals `text` but for UUIDs (lower case, without `urn:uuid:`) and ULIDs (upper case).
    `version` is a fact to show, never a gate; None where RFC 9562 gives none. `masked` is the key
    of a UUID without its version digit and variant bits: two ids that differ only there were
    stamped differently from one hash. It is a hint and never resolves a pointer. `hint` says what
    an opaque id looks like.
    """

    text: str
    key: str
    scheme: Scheme
    version: int | None = None
    masked: str | None = None
    hint: str | None = None


def id_fault(value: Any) -> str | None:
    """Return what keeps a JSON value from being an id, or None: 1 to 255 characters of any text."""
    if type(value) is canonical.Number:
        return "an id must be text; send the number in quotes"
    if type(value) is not str:
        return "an id must be text of 1 to 255 characters; leave it out to have one made"
    if not value:
        return "the id is empty; send 1 to 255 characters, or leave it out to have one made"
    if len(value) > MAX_ID:
        return f"the id has {len(value)} characters; send 1 to 255, such as a hash of it"
    return None


def read_id(text: str) -> ReceiptId:
    """Return an id with its key (reference/ledger.md section 4); takes any text."""
    # Without IGNORECASE a match costs a third, and nearly all ids are lower case.
    if _LOWER_UUID.fullmatch(text):
        return _read_uuid(text, text)
    uuid = _UUID.fullmatch(text)
    if uuid is not None:
        return _read_uuid(text, uuid[1].lower())
    if _ULID.fullmatch(text):
        return ReceiptId(text, text.upper(), "ulid")
    return ReceiptId(text, text, "opaque", hint=_find_hint(text))


def _read_uuid(text: str, key: str) -> ReceiptId:
    variant = int(key[19], 16)
    masked = f"{key[:14]}x{key[15:19]}{variant & 0b11}{key[20:]}"
    if key in _SPECIAL:
        return ReceiptId(text, key, "uuid", None, masked, _SPECIAL[key])
    if variant >> 2 != 0b10:
        return ReceiptId(text, key, "uuid-nonrfc", None, masked)
    return ReceiptId(text, key, "uuid", int(key[14], 16), masked)


def _find_hint(text: str) -> str | None:
    if len(text) > 64:
        return None
    for pattern, name in _LOOKS_LIKE:
        if pattern.fullmatch(text):
            return f"looks like {name}"
    return None
