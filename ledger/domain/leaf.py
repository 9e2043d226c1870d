"""The leaf record, version 1 (design.md section 5): its bytes are fixed for ever."""

from __future__ import annotations

import base64
import hmac
import json
from datetime import UTC, datetime

VERSION = "1"

# For an object of strings with ASCII names, written in order, this is JCS (RFC 8785) to the byte.
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False)


def commitment(salt: bytes, raw: bytes) -> str:
    """Return base64url, unpadded, of HMAC-SHA-256 of a raw body under its salt: 43 characters."""
    digest = hmac.digest(salt, raw, "sha256")
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode("ascii")


def stub_salt(salt: bytes) -> bytes:
    """Return the salt of a body's stub, 32 bytes, which tells nothing of the body's own salt."""
    return hmac.digest(salt, b"stub", "sha256")


def stub_commitment(salt: bytes, stub: bytes) -> str:
    """Return the commitment to a stub under the salt of its body; "" where there is no stub."""
    return commitment(stub_salt(salt), stub) if stub else ""


def leaf_record(
    *, log: str, kind: str, length: int, received_at: datetime, commit: str, stub: str
) -> bytes:
    """Return the bytes of a leaf: JCS of strings made by the server alone.

    `log` is the log's origin, `length` the bytes of the raw body, `commit` and `stub` the two
    commitments. Raises ValueError for a naive time.
    """
    members = {
        "commit": commit,
        "kind": kind,
        "len": str(length),
        "log": log,
        "recv": rfc3339(received_at),
        "stub": stub,
        "v": VERSION,
    }
    return _ENCODER.encode(members).encode("utf-8")


def rfc3339(at: datetime) -> str:
    """Return an aware time as RFC 3339 in UTC with microseconds and "Z"."""
    if at.tzinfo is None:
        raise ValueError("a time without a zone")
    return at.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"
