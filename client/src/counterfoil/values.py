"""What is sent of arguments, results and exception texts: sizes and keyed digests, never values.

Equal values have equal digests in every process and on every host, because what is hashed is one
canonical text: members sorted, tuples as lists, sets sorted, times, UUIDs and decimals as text. The
key is the project's own (`digest_key`) and is never sent; without one the size alone is given.

The work is bounded. A value with more than 2,000 parts, deeper than 24 or longer than 64 KiB is
said to be `more` than that and has no digest; nor has one with an object in it that JSON has no
word for, since two of those cannot be told apart. No value's own code is run.
"""

from __future__ import annotations

import datetime as dt
import decimal
import hmac
import json
import math
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from counterfoil import encode

MAX_PARTS = 2_000
MAX_DEPTH = 24
MAX_BYTES = 64 * 1024
MAX_ARGUMENTS = 64
MAX_CLEAR_BYTES = 1_024
MAX_SUBJECTS = 16
_MAX_INT_BITS = 4_096


class TooMuch(Exception):
    """The value is larger than what is worth describing."""


class Canonical:
    """Makes one text of a value within the bounds; `is_exact` when no other value gives it."""

    def __init__(self) -> None:
        self.is_exact = True
        self._parts = self._bytes = 0

    def text_of(self, value: Any) -> bytes:
        """Give the text as UTF-8; raises TooMuch."""
        text = _write(self._plain(value, 0)).encode("utf-8", "surrogatepass")
        if len(text) > MAX_BYTES:
            raise TooMuch
        return text

    def _plain(self, value: Any, depth: int) -> Any:
        self._count(depth)
        kind = type(value)
        if value is None or kind is bool:
            return value
        if kind is int or kind is float or kind is str:
            return self._scalar(value)
        if isinstance(value, (bool, int, float, str)):
            return self._plain(_bare(value), depth)
        if kind is dict:
            return self._members(value, depth)
        if kind is list or kind is tuple:
            return [self._plain(part, depth + 1) for part in value]
        if kind is set or kind is frozenset:
            return {"set": sorted(_write(self._plain(part, depth + 1)) for part in value)}
        return self._other(value, depth)

    def _count(self, depth: int) -> None:
        self._parts += 1
        if self._parts > MAX_PARTS or depth > MAX_DEPTH:
            raise TooMuch

    def _scalar(self, value: Any) -> Any:
        if type(value) is str:
            self._bytes += len(value)
            if self._bytes > MAX_BYTES:
                raise TooMuch
            return value
        if type(value) is float:
            return value if math.isfinite(value) else str(value)
        # Python refuses to write longer ones in decimal.
        return value if value.bit_length() <= _MAX_INT_BITS else hex(value)

    def _members(self, value: dict[Any, Any], depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, member in value.items():
            name = self._scalar(self._name(key))
            # {1: …} and {"1": …} come out of JSON alike; one mapping with both has no such text.
            self.is_exact = self.is_exact and name not in found
            found[name] = self._plain(member, depth + 1)
        return found

    def _name(self, key: Any) -> str:
        if isinstance(key, str):
            return str.__str__(key)
        if key is None or isinstance(key, (bool, int, float)):
            return _write(self._plain(key, 0))
        known = _known(key)
        if known is None:
            self.is_exact = False
        return known if known is not None else _type_of(key)

    def _other(self, value: Any, depth: int) -> Any:
        if isinstance(value, (bytes, bytearray, memoryview)):
            if len(value) > MAX_BYTES:
                raise TooMuch
            return {"bytes": bytes(value).hex()}
        # Of a subclass the type's own methods are asked, never the ones that it overrides.
        for kind in (dict, list, tuple):
            if isinstance(value, kind):
                return self._plain(_base_copy(kind, value), depth)
        known = _known(value)
        if known is not None:
            return self._scalar(known)
        self.is_exact = False
        return {"type": _type_of(value)}


def described(value: Any, key: bytes) -> dict[str, Any]:
    """Give of a value its size in bytes and, under a key, its digest; never raises.

    `{"size": 12, "digest": "hmac-sha256:…"}`; `{"size": 65536, "more": true}` for a value that is
    too large to look at whole; `type` names an object that JSON has no word for.
    """
    text = _scalar_text(value)
    if text:
        return _told(text, key)
    canonical = Canonical()
    try:
        text = canonical.text_of(value)
    except TooMuch:
        return {"size": MAX_BYTES, "more": True}
    except Exception:
        # Somebody else's objects: whatever they do, a task must not fail for being described.
        return {"type": _type_of(value)}
    if canonical.is_exact:
        return _told(text, key)
    if isinstance(value, (dict, list, tuple, set, frozenset)):
        return {"size": len(text)}
    return {"type": _type_of(value)}


def _told(text: bytes, key: bytes) -> dict[str, Any]:
    if not key:
        return {"size": len(text)}
    return {
        "size": len(text),
        "digest": f"hmac-sha256:{hmac.digest(key, text, 'sha256').hex()}",
    }


def _scalar_text(value: Any) -> bytes:
    """Give the canonical text of the commonest values at once; empty for all others."""
    kind = type(value)
    if kind is str and len(value) <= MAX_CLEAR_BYTES:
        return _quoted(value).encode("utf-8", "surrogatepass")
    if kind is int and -_SMALL < value < _SMALL:
        return b"%d" % value
    return b""


def error_of(error: BaseException, key: bytes) -> dict[str, Any]:
    """Give of an exception its type, and of its text the size and the digest; never raises."""
    return {"type": _type_of(error), **_without_type(described(_text_of(error), key))}


def arguments_of(
    args: Any, kwargs: Any, *, clear: Sequence[str], names: Sequence[str], key: bytes
) -> dict[str, Any]:
    """Describe a call: each argument by size and digest, the named fields in clear; never raises.

    `{"args": […], "kwargs": {name: …}, "clear": {"kwargs.payout_id": "PO-1"}, "more": n}`; what a
    call does not have is left out.
    """
    given, named = _as_sequence(args), _as_mapping(kwargs)
    found: dict[str, Any] = {}
    if given:
        found["args"] = [described(value, key) for value in given[:MAX_ARGUMENTS]]
    if named:
        chosen = list(named.items())[:MAX_ARGUMENTS]
        found["kwargs"] = {str(name)[:255]: described(value, key) for name, value in chosen}
    more = max(0, len(given) - MAX_ARGUMENTS) + max(0, len(named) - MAX_ARGUMENTS)
    if more:
        found["more"] = more
    shown = dict(_iter_clear(given, named, clear, names))
    if shown:
        found["clear"] = shown
    return found


def subjects_of(
    args: Any, kwargs: Any, *, fields: Sequence[tuple[str, str]], names: Sequence[str]
) -> list[dict[str, str]]:
    """Give the business objects that the named fields hold; a list gives several, at most 16."""
    given, named = _as_sequence(args), _as_mapping(kwargs)
    found: dict[tuple[str, str], None] = {}
    for kind, name in fields:
        value = field_of(given, named, name, names)
        for one in value if type(value) in (list, tuple) else (value,):
            text = _id_of(one)
            if text is not None:
                found[(kind, text)] = None
    return [{"type": kind, "id": text} for kind, text in list(found)[:MAX_SUBJECTS]]


def field_of(
    args: Sequence[Any], kwargs: Mapping[Any, Any], field: str, names: Sequence[str]
) -> Any:
    """Find a field of a call: "args.0", "kwargs.name" or "name", deeper as "kwargs.order.id".

    `names` are the names of the positional parameters, by which a name finds an argument that was
    given by its place. None when it is not there.
    """
    head, *rest = field.split(".")
    if head == "args" and rest and rest[0].isdigit():
        at, rest = int(rest[0]), rest[1:]
        return _inside(args[at], rest) if at < len(args) else None
    if head == "kwargs" and rest:
        head, rest = rest[0], rest[1:]
    if head in kwargs:
        return _inside(kwargs[head], rest)
    if head in names and names.index(head) < len(args):
        return _inside(args[names.index(head)], rest)
    return None


def _iter_clear(
    args: Sequence[Any], kwargs: Mapping[Any, Any], clear: Sequence[str], names: Sequence[str]
) -> Iterator[tuple[str, Any]]:
    for name in clear:
        value = field_of(args, kwargs, name, names)
        text = b"" if value is None else _exact_text(value)
        if text and len(text) <= MAX_CLEAR_BYTES:
            yield name, json.loads(text)


def _exact_text(value: Any) -> bytes:
    canonical = Canonical()
    try:
        text = canonical.text_of(value)
    except Exception:
        # As in `described`: whatever the object does, the task goes on.
        return b""
    return text if canonical.is_exact else b""


def _inside(value: Any, path: Sequence[str]) -> Any:
    for name in path:
        if isinstance(value, dict):
            value = dict.get(value, name)
        elif type(value) in (list, tuple) and name.isdigit() and int(name) < len(value):
            value = value[int(name)]
        else:
            return None
    return value


def _id_of(value: Any) -> str | None:
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (str, int)):
        bare = _bare(value)
        text = bare if isinstance(bare, str) else str(bare) if abs(bare) < 10**250 else ""
    else:
        text = _known(value) or ""
    return text if 1 <= len(text) <= 255 else None


def _as_sequence(args: Any) -> Sequence[Any]:
    return args if type(args) in (list, tuple) else ()


def _as_mapping(kwargs: Any) -> Mapping[Any, Any]:
    return kwargs if type(kwargs) is dict else {}


def _bare(value: Any) -> Any:
    for kind in (str, int, float):
        if isinstance(value, kind):
            return _base_copy(kind, value)
    return value


def _base_copy(kind: type, value: Any) -> Any:
    if kind is str:
        return str.__str__(value)
    if kind is int:
        return int.__int__(value)
    if kind is float:
        return float.__float__(value)
    if kind is dict:
        return dict(dict.items(value))
    return list(kind.__iter__(value))  # type: ignore[attr-defined]


def _known(value: Any) -> str | None:
    if isinstance(value, dt.datetime):
        return encode.utc_text(value)
    if isinstance(value, (dt.date, dt.time)):
        return value.isoformat()
    if isinstance(value, dt.timedelta):
        return f"{value / dt.timedelta(microseconds=1):.0f}us"
    if isinstance(value, (uuid.UUID, decimal.Decimal, PurePath)):
        return str(value)
    return None


def _text_of(error: BaseException) -> Any:
    # Its arguments, not str(error): that is code of the exception's own, and may be slow or raise.
    args = BaseException.args.__get__(error)  # type: ignore[attr-defined]
    return args[0] if len(args) == 1 else list(args)


def _without_type(found: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in found.items() if name != "type"}


def _type_of(value: Any) -> str:
    kind = type(value)
    return f"{kind.__module__}.{kind.__qualname__}"[:255]


_SMALL = 10**15
_quoted = json.encoder.encode_basestring
_write = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=True
).encode
