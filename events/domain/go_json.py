"""JSON as Go's encoding/json reads it into a struct.

What differs from `json.loads`: names match by any case, the last of equal ones wins unless it is
null, a value of the wrong type is an error although its name was right, bytes that are not UTF-8
are replaced one by one, and nesting may be 10,000 deep. Source: reference/pad.md section 2.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn

from events.domain import json_spans
from events.domain.json_spans import OBJECT, STRING, NotJson, Span

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
_INT64_DIGITS = 19
_INTEGER = re.compile(rb"[+-]?[0-9]+")
_SURROGATE = re.compile("[\ud800-\udfff]")
_SPACE = " \t\r\n"
_REPLACE = "events.go_json"
_WORDS = {"true": True, "false": False}

_CLEAN = re.compile(r"[A-Za-z0-9_]+")


class Fields:
    """The members of a struct by name: `str`, `int` (64 bits) or `bool`."""

    def __init__(self, kinds: Mapping[str, type]) -> None:
        self.kinds = kinds
        self._folded = {fold(name): name for name in kinds}

    def find(self, key: str) -> str | None:
        """Return the member that a name in JSON stands for, by that name or by another case."""
        return key if key in self.kinds else self._folded.get(fold(key))


def fold(name: str) -> str:
    """Return a name as Go compares it with those of members in another case."""
    if name.isascii():
        return name.lower()
    # Go folds by the simple rules of Unicode: of all that is not ASCII, two letters meet it.
    name = name.replace("\u017f", "s").replace("\u212a", "k")
    return "".join(char.lower() if char.isascii() else char for char in name)


class Body(NamedTuple):
    """What a struct was filled with, and what the text holds besides.

    `is_plain` holds where the text is an object that names each member once, by its very name;
    other members have names of letters, digits and underscores.
    """

    members: dict[str, Any]
    is_plain: bool


def _replace_each_byte(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return "\ufffd" * (error.end - error.start), error.end


codecs.register_error(_REPLACE, _replace_each_byte)


def text_of(raw: bytes) -> str:
    """Return bytes as text, with U+FFFD for each byte that is not UTF-8."""
    return raw.decode("utf-8", _REPLACE)


def parse_int64(raw: bytes) -> int | None:
    """Return what Go's ParseInt reads in base 10: digits with an optional sign, within int64."""
    if raw.isdigit() and len(raw) < _INT64_DIGITS:
        return int(raw)
    if _INTEGER.fullmatch(raw) is None:
        return None
    digits = raw.lstrip(b"+-").lstrip(b"0") or b"0"
    if len(digits) > _INT64_DIGITS:
        return None
    number = -int(digits) if raw[:1] == b"-" else int(digits)
    return number if INT64_MIN <= number <= INT64_MAX else None


def _once(pairs: list[tuple[str, Any]]) -> object:
    # An object that names a member twice stays a list, so that nobody takes it for a plain one.
    members = dict(pairs)
    return members if len(members) == len(pairs) else pairs


def _refuse(word: str) -> NoReturn:
    raise NotJson(f"{word} is no JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_refuse)


def unmarshal(text: str, fields: Fields) -> Body | None:
    """Fill a struct from JSON; None where Go gives an error. `null` fills nothing."""
    value = _parse_plain(text)
    if value is None:
        return _unmarshal_slowly(text, fields)
    kind_of = fields.kinds.get
    for name, item in value.items():
        kind = type(item)
        if kind is not kind_of(name):
            if not _is_beside(name, fields):
                return _unmarshal_slowly(text, fields)
        elif kind is int and not INT64_MIN <= item <= INT64_MAX:
            return None
    return Body(value, True)


def _is_beside(name: str, fields: Fields) -> bool:
    return _CLEAN.fullmatch(name) is not None and fields.find(name) is None


def _parse_plain(text: str) -> dict[str, Any] | None:
    """Parse an object, or give None for what has to be read with care, such as surrogates."""
    if text[:1] != "{" or "\\ud" in text or "\\uD" in text or json_spans.may_be_deep(text):
        return None
    try:
        value, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        return None
    if end != len(text) and text[end:].strip(_SPACE):
        return None
    return value if type(value) is dict else None


def _unmarshal_slowly(text: str, fields: Fields) -> Body | None:
    try:
        root = json_spans.read(text)
    except NotJson:
        return None
    if root.kind != OBJECT:
        return Body({}, False) if json_spans.token_of(text, root) == "null" else None
    members: dict[str, Any] = {}
    for key, span in root.members:
        name = fields.find(key)
        if name is None or json_spans.token_of(text, span) == "null":
            continue
        value = _value(text, span, fields.kinds[name])
        if value is None:
            return None
        members[name] = value
    return Body(members, False)


def _value(text: str, span: Span, kind: type) -> Any:
    token = json_spans.token_of(text, span)
    if kind is str:
        return _whole(json_spans.string_of(text, span)) if span.kind == STRING else None
    if kind is bool:
        return _WORDS.get(token)
    return parse_int64(token.encode()) if span.kind == json_spans.NUMBER else None


def _whole(text: str) -> str:
    # A surrogate without its other half, written as an escape, becomes U+FFFD as well.
    return _SURROGATE.sub("\ufffd", text)
