"""Ids of receipts: made from names, so that a retry makes the same one again, or by time.

To the ledger an id is an opaque text of 1 to 255 characters. Which of these to use is the
producer's choice; RFC 9562 is the source of all four.
"""

from __future__ import annotations

import hashlib
import os
import time
import uuid
from typing import Union

Namespace = Union[uuid.UUID, str]


def v5(namespace: Namespace, name: str) -> str:
    """Give the UUIDv5 of a name: SHA-1 of namespace and name (RFC 9562 section 5.5)."""
    return str(uuid.uuid5(_uuid_of(namespace), name))


def v8_sha256(namespace: Namespace, name: str) -> str:
    """Give the UUIDv8 of a name: SHA-256 of namespace and name (RFC 9562 section 6.5, B.2)."""
    digest = hashlib.sha256(_uuid_of(namespace).bytes + name.encode("utf-8")).digest()
    return str(_stamped(digest[:16], 8))


def v4_stamped(namespace: Namespace, name: str) -> str:
    """Give the UUIDv5 of a name with the version digit of a random UUID written over it.

    This is for an API that refuses every UUID but version 4. It is not random, and RFC 9562
    (section 5.4) calls version 4 random: nobody can tell the two apart by looking, so nothing may
    be concluded from the version digit. It differs from `v5` of the same name in that digit alone,
    which is how the ledger finds a pointer that names the one while the receipt bears the other.
    """
    return str(_stamped(uuid.uuid5(_uuid_of(namespace), name).bytes, 4))


def v7() -> str:
    """Give a new UUIDv7: milliseconds since 1970, then 74 random bits (RFC 9562 section 5.7)."""
    # Written as text at once: every receipt needs one, and uuid.UUID costs four times as much.
    noise = os.urandom(10)
    digits = f"{time.time_ns() // 1_000_000:012x}{noise.hex()}"
    variant = "89ab"[noise[2] & 3]
    return f"{digits[:8]}-{digits[8:12]}-7{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"


def done_of(token: str) -> str:
    """Give the id of the done receipt of a claim: UUIDv5(token, "done")."""
    return v5(token, "done")


def fail_of(token: str) -> str:
    """Give the id of the fail receipt of a claim: UUIDv5(token, "fail")."""
    return v5(token, "fail")


def is_uuid(text: str) -> bool:
    """Say whether the text is a UUID in its 8-4-4-4-12 form, of any version."""
    try:
        return str(uuid.UUID(text)) == text.lower()
    except (ValueError, AttributeError, TypeError):
        return False


def is_v7(text: str) -> bool:
    """Say whether the text is a UUID of version 7, as `v7` makes them."""
    return is_uuid(text) and uuid.UUID(text).version == 7


def _uuid_of(namespace: Namespace) -> uuid.UUID:
    return namespace if isinstance(namespace, uuid.UUID) else uuid.UUID(namespace)


def _stamped(raw: bytes, version: int) -> uuid.UUID:
    number = int.from_bytes(raw, "big")
    number &= ~(0xF000 << 64) & ~(0xC000 << 48)
    return uuid.UUID(int=number | version << 76 | 0x8000 << 48)
