"""Readers of JSON values that never fail.

A quarantined receipt can be any JSON at all, so what reads one takes what is readable and
answers with nothing for the rest. Text comes out bounded and without the code points that a
database or a terminal cannot hold; number tokens come out as they were sent.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from json.encoder import encode_basestring

from ledger.domain import names

PROSE_LENGTH = 4000
INTEGER_LIMIT = 2**31 - 1
EXACT_IN_JSON = 2**53 - 1
DEPTH_LIMIT = 100


def object_of(value: object) -> Mapping[str, object]:
    """Return the value when it is a JSON object, else an empty one."""
    # Asking for dict first spares the slow test of an abstract class, a dozen times a receipt.
    if isinstance(value, dict):
        return value
    return value if value is not None and isinstance(value, Mapping) else {}


def list_of(value: object) -> list[object]:
    """Return the value as a list when it is a JSON array, else an empty one."""
    return list(value) if isinstance(value, list | tuple) else []


def number_token(value: object) -> str | None:
    """Return a number as it was written, or None when the value is no number."""
    token = getattr(value, "token", None)
    if isinstance(token, str):
        return token
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return repr(value)
    except ValueError:
        # Python refuses to write an integer of more than 4,300 digits in decimal.
        return hex(int(value))


def printable(text: str) -> str:
    """Write NUL and lone surrogates as escapes: neither database can hold them as they are."""
    if "\0" not in text and text.isprintable():
        return text
    return "".join(
        f"\\u{ord(char):04x}" if char == "\0" or "\ud800" <= char <= "\udfff" else char
        for char in text
    )


def digest_of(text: str) -> str:
    """Return the SHA-256 of any text, lone surrogates included, as 64 hex digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def name_of(value: object) -> str:
    """Return a text or a number as a name that fits a column, else the empty text."""
    if value is None:
        return ""
    token = value if isinstance(value, str) else number_token(value)
    return "" if token is None else names.column(token)


def prose_of(value: object) -> str:
    """Return a text that is read and not looked up, cut with an ellipsis after 4,000 characters."""
    text = printable(value) if isinstance(value, str) else ""
    return text if len(text) <= PROSE_LENGTH else f"{text[:PROSE_LENGTH]}…"


def integer_of(value: object) -> int | None:
    """Return a whole number between 0 and 2**31 - 1, else None."""
    if value is None:
        return None
    token = value if isinstance(value, str) else number_token(value)
    if token is None or len(token) > 10 or not token.isascii() or not token.isdecimal():
        return None
    number = int(token)
    return number if number <= INTEGER_LIMIT else None


def seconds_of(value: object) -> float | None:
    """Return a finite length of time in seconds, not below zero, else None."""
    token = None if value is None else number_token(value)
    if token is None:
        return None
    try:
        seconds = float(token)
    except (ValueError, OverflowError):
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def time_of(value: object) -> datetime | None:
    """Return an RFC 3339 time in UTC, or None when it is unreadable or names no zone."""
    if not isinstance(value, str) or len(value) > 64:
        return None
    try:
        moment = datetime.fromisoformat(value)
        return None if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def plain(value: object, depth: int = 0) -> object:
    """Return a JSON-ready copy; numbers that a browser would round come out as text."""
    if isinstance(value, str):
        return printable(value)
    if value is None or isinstance(value, bool):
        return value
    if depth > DEPTH_LIMIT:
        return "…"
    if isinstance(value, Mapping):
        return {printable(str(name)): plain(item, depth + 1) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item, depth + 1) for item in value]
    return _plain_number(value)


def _plain_number(value: object) -> object:
    token = number_token(value)
    if token is None:
        return printable(str(value))
    if token.lstrip("-").isdecimal() and len(token) <= 17 and abs(int(token)) <= EXACT_IN_JSON:
        return int(token)
    return token


def json_text(value: object, depth: int = 0) -> str:
    """Write a value as JSON with sorted members, no white space and number tokens as sent."""
    if isinstance(value, str):
        return encode_basestring(value)
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if depth > DEPTH_LIMIT:
        return '"…"'
    if isinstance(value, Mapping):
        names = sorted(str(name) for name in value)
        return (
            "{" + ",".join(f"{json_text(n)}:{json_text(value[n], depth + 1)}" for n in names) + "}"
        )
    if isinstance(value, list | tuple):
        return "[" + ",".join(json_text(item, depth + 1) for item in value) + "]"
    return number_token(value) or encode_basestring(str(value))


def text_of_json(text: str) -> str:
    """Return a JSON text as a person reads it: strings without their quotes, all else as it is."""
    if not text.startswith('"'):
        return text
    try:
        value = json.loads(text)
    except ValueError:
        return text
    # The escapes of NUL and lone surrogates were taken away by reading the JSON.
    return printable(value) if isinstance(value, str) else text
