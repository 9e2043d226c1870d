"""The canonical text of a body: members sorted, no white space, number tokens as sent."""

from __future__ import annotations

import json
from collections.abc import Collection
from itertools import chain, zip_longest
from typing import Any

from ledger.domain.parsing import NotCanonical, parse, parse_any
from ledger.domain.tokens import Number, plain, text_of

__all__ = [
    "BESIDE",
    "BESIDE_STUB",
    "NotCanonical",
    "Number",
    "canonical_text",
    "parse",
    "parse_any",
    "plain",
    "stub_text",
    "text_of",
    "write_slowly",
]

BESIDE = ("sent",)
BESIDE_STUB = ("sent", "data")

_PLACE = "\ue000"
_PLACE_WRITTEN = '"\\ue000"'
_STRING = json.JSONEncoder()


def canonical_text(value: Any, without: Collection[str] = BESIDE) -> bytes:
    """Return the canonical text (contract section 2) of a value that `parse` gave, in ASCII.

    Members are sorted by code point, strings written with ASCII escapes so that lone surrogates
    survive, number tokens kept as sent; the top level's members in `without` are left out.
    """
    if type(value) is dict and not value.keys().isdisjoint(without):
        value = {name: item for name, item in value.items() if name not in without}
    tokens: list[str] = []

    def keep_place(number: Number) -> str:
        tokens.append(number.token)
        return _PLACE

    text = json.JSONEncoder(
        sort_keys=True,
        separators=(",", ":"),
        check_circular=False,
        allow_nan=False,
        default=keep_place,
    ).encode(value)
    if not tokens:
        return text.encode("ascii")
    parts = text.split(_PLACE_WRITTEN)
    if len(parts) != len(tokens) + 1:
        # A producer's own string looks like a place, so that only its type can tell them apart.
        return write_slowly(value).encode("ascii")
    return "".join(chain.from_iterable(zip_longest(parts, tokens, fillvalue=""))).encode("ascii")


def stub_text(value: Any) -> bytes:
    """Return the canonical text without `sent` and `data`: the stub of design.md section 5."""
    return canonical_text(value, BESIDE_STUB)


def write_slowly(value: Any) -> str:
    """Return the canonical text of a whole value, one by one, whatever its strings hold."""
    if type(value) is Number:
        return value.token
    if type(value) is dict:
        members = sorted(value.items(), key=lambda member: member[0])
        return "{" + ",".join(f"{_STRING.encode(k)}:{write_slowly(v)}" for k, v in members) + "}"
    if type(value) is list:
        return "[" + ",".join(map(write_slowly, value)) + "]"
    return _STRING.encode(value)
