"""A receipt as one line of UTF-8 JSON.

A task must never fail because of what it put in a receipt, so values that JSON has no word for are
given as text, and objects that nobody taught us to write are given by the name of their type.
"""

from __future__ import annotations

import datetime as dt
import decimal
import json
import math
import time
import uuid
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

MAX_DEPTH = 64
_MAX_INT_BITS = 4096


def line_of(receipt: Mapping[str, Any]) -> bytes:
    """Give the receipt as one line, newline included."""
    try:
        return (_fast(receipt) + "\n").encode("utf-8")
    except (TypeError, ValueError, RecursionError):
        # NaN, a cycle, a key that is no text, a lone surrogate: rare, so the slow way is taken
        # only after the fast one has failed. UnicodeEncodeError is a ValueError.
        return (_safe(plain(receipt)) + "\n").encode("ascii")


def canonical(value: Any) -> bytes:
    """Give one text for equal values: members sorted, no white space, in UTF-8."""
    text = json.dumps(
        plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    return text.encode("utf-8", "surrogatepass")


def utc_text(at: dt.datetime) -> str:
    """Give a time as RFC 3339 in UTC with microseconds; a time without a zone is taken as UTC."""
    aware = at if at.tzinfo else at.replace(tzinfo=dt.timezone.utc)
    return aware.astimezone(dt.timezone.utc).isoformat(timespec="microseconds")[:-6] + "Z"


def now_text() -> str:
    """Give the present time as RFC 3339 in UTC with microseconds."""
    global _second
    second, rest = divmod(time.time_ns() // 1000, 1_000_000)
    known, text = _second
    if known != second:
        # Kept for a second: turning a time into a date is the dearest part of a receipt.
        text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))
        _second = (second, text)
    return f"{text}.{rest:06d}Z"


def plain(value: Any, depth: int = 0) -> Any:
    """Give a value that JSON can write, made of the one given."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, (int, float)):
        return _number(value)
    if depth >= MAX_DEPTH:
        return _named(value)
    if isinstance(value, Mapping):
        return {_member(k): plain(v, depth + 1) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v, depth + 1) for v in value]
    return _known(value)


def _number(value: float) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, int) and value.bit_length() > _MAX_INT_BITS:
        # Python refuses to write longer ones in decimal.
        return hex(value)
    return int(value) if isinstance(value, int) else float(value)


def _member(key: Any) -> str:
    if isinstance(key, str):
        return key
    return str(key) if isinstance(key, (int, float, uuid.UUID)) else repr(type(key))


def _known(value: Any) -> Any:
    if isinstance(value, dt.datetime):
        return utc_text(value)
    if isinstance(value, (dt.date, dt.time)):
        return value.isoformat()
    if isinstance(value, (uuid.UUID, decimal.Decimal, PurePath)):
        return str(value)
    return _named(value)


def _named(value: Any) -> dict[str, str]:
    kind = type(value)
    return {"type": f"{kind.__module__}.{kind.__qualname__}"}


_second = (-1, "")
_fast = json.JSONEncoder(
    ensure_ascii=False,
    allow_nan=False,
    separators=(",", ":"),
    default=_known,
    # A cycle ends as a RecursionError, which costs the others nothing.
    check_circular=False,
).encode
_safe = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode
