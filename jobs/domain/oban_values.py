"""Values of an Oban job as a receipt may hold them: nothing opaque, nothing endless.

Opaque values of statifier_oban are Erlang terms, perhaps encrypted by a codec that gives other
bytes each time. They are never decoded and never compared: what is kept is their size and codec.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from ledger.domain import canonical, plain

MOST_BYTES = 64 * 1024
"""JSON that is longer is kept as its short members and the sizes of the others."""

SHORT_BYTES = 512
MOST_MEMBERS = 64
MOST_ERRORS = 20
ERROR_LENGTH = 2_000
MOST_WORDS = 100
WORD_LENGTH = 255
_OPAQUE = "t2b64"
_MOMENT = len("2026-10-05T09:00:00.000000Z")


def read_json(text: str | None, most: int = MOST_BYTES) -> Any:
    """Return what a JSON text says, numbers as `canonical.Number`; None for no text.

    What is too long or nested too deeply comes out as `{"cut": {"bytes", …}}`.
    """
    if text is None:
        return None
    raw = text.encode("utf-8", "replace")
    try:
        value, _ = canonical.parse_any(raw)
    except canonical.NotCanonical as error:
        return {"cut": {"bytes": len(raw), "because": error.code}}
    if _OPAQUE in text:
        value = without_opaque(value)
    return value if len(raw) <= most else shortened(value, raw, most)


def without_opaque(value: Any) -> Any:
    """Return a value in which each opaque one is replaced by its size and codec."""
    if isinstance(value, list | tuple):
        return [without_opaque(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    kept = {name: without_opaque(item) for name, item in value.items() if name != _OPAQUE}
    if _OPAQUE not in value:
        return kept
    codec = kept.pop("codec", None)
    size = {"bytes": _decoded_size(value[_OPAQUE])}
    return {**kept, "opaque": size if codec is None else {**size, "codec": codec}}


def _decoded_size(coded: object) -> int:
    text = coded if isinstance(coded, str) else ""
    return len(text) * 3 // 4 - text[-2:].count("=")


def shortened(value: Any, raw: bytes, most: int = MOST_BYTES) -> Any:
    """Return of a long value its short members, and the size and digest of the whole."""
    if len(canonical.canonical_text(value, without=())) <= most:
        return value
    cut = {"cut": {"bytes": len(raw), "sha256": hashlib.sha256(raw).hexdigest()}}
    if not isinstance(value, Mapping):
        return cut
    short = {name: item for name, item in value.items() if _is_short(name, item)}
    return {**dict(sorted(short.items())[:MOST_MEMBERS]), **cut}


def _is_short(name: str, value: Any) -> bool:
    return len(name) <= SHORT_BYTES and len(canonical.canonical_text(value, ())) <= SHORT_BYTES


def errors_of(value: Any) -> list[Any]:
    """Return the newest errors, each text cut to what a person reads."""
    return [_error(item) for item in plain.list_of(value)[-MOST_ERRORS:]]


def _error(item: Any) -> Any:
    if not isinstance(item, Mapping):
        return item
    text = item.get("error")
    is_long = isinstance(text, str) and len(text) > ERROR_LENGTH
    return {**item, "error": f"{str(text)[:ERROR_LENGTH]}…"} if is_long else dict(item)


def words_of(value: Any) -> list[str]:
    """Return a list of short texts, such as tags, without what is none."""
    words = plain.list_of(value)[:MOST_WORDS]
    return [word[:WORD_LENGTH] for word in words if isinstance(word, str)]


def text_of(value: Any) -> str | None:
    """Return a text or a whole number as text, else None."""
    if isinstance(value, str):
        return value or None
    return plain.number_token(value)


def whole_of(value: Any) -> int | None:
    """Return a number that is whole and not below zero, else None."""
    if type(value) is int and 0 <= value <= plain.INTEGER_LIMIT:
        return value
    return None if isinstance(value, str) else plain.integer_of(value)


def moment_of(value: Any) -> str | None:
    """Return a time as RFC 3339 in UTC with microseconds, else None.

    Oban's columns have no zone and are in UTC. A time that no calendar of ours holds, such as
    infinity, is None.
    """
    if isinstance(value, str):
        if len(value) == _MOMENT and value[-1] == "Z":
            return value
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if not isinstance(value, datetime):
        return None
    at = value if value.tzinfo is None else value.astimezone(UTC)
    return at.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"
