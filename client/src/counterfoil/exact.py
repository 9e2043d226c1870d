"""Values that are compared, as JSON that no other value gives.

A key's fields decide whether two calls are the same work. Where JSON has no word for a value, two
different ones would come out alike, and the second piece of work would be left undone for the
first. So such a value is refused, before any guard is asked.
"""

from __future__ import annotations

import datetime as dt
import decimal
import math
import re
import uuid
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from counterfoil import encode
from counterfoil.errors import BadReceipt

MAX_DEPTH = 32
_MAX_INT_BITS = 4_096
_SIZE_ALONE = re.compile(r"len=[0-9]+")


def fields_of(fields: Any, where: str) -> Any:
    """Give the fields of a key as plain JSON; raises BadReceipt, as `plain` does.

    A digest that was made without a digest key is a size alone, and is refused as well.
    """
    return _plain(fields, where, 0, is_compared=True)


def plain(value: Any, where: str) -> Any:
    """Give the value as plain JSON; raises BadReceipt where another value would give the same.

    `where` is its place for the message. Times, UUIDs, decimals and paths become their usual text,
    tuples lists.
    """
    return _plain(value, where, 0, is_compared=False)


def _plain(value: Any, where: str, depth: int, *, is_compared: bool) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(str.__str__(value), where, is_compared)
    if isinstance(value, (int, float)):
        return _number(value, where)
    if isinstance(value, (Mapping, list, tuple)) and depth >= MAX_DEPTH:
        raise BadReceipt(f"{where} is nested deeper than {MAX_DEPTH}; give it as one text")
    if isinstance(value, Mapping):
        return _members(value, where, depth, is_compared=is_compared)
    if isinstance(value, (list, tuple)):
        return [
            _plain(part, f"{where}[{at}]", depth + 1, is_compared=is_compared)
            for at, part in enumerate(value)
        ]
    return _known(value, where)


def _text(text: str, where: str, is_compared: bool) -> str:
    if is_compared and _SIZE_ALONE.fullmatch(text):
        raise BadReceipt(
            f"{where} is {text!r}, a digest made without COUNTERFOIL_DIGEST_KEY, which is alike "
            "for all values of that size; set the key"
        )
    return text


def _number(value: float, where: str) -> int | float:
    if isinstance(value, int):
        number = int.__int__(value)
        if number.bit_length() <= _MAX_INT_BITS:
            return number
    else:
        real = float.__float__(value)
        if math.isfinite(real):
            return real
    raise BadReceipt(f"{where} is a number that JSON cannot write; give it as a text")


def _members(
    value: Mapping[Any, Any], where: str, depth: int, *, is_compared: bool
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, member in value.items():
        if not isinstance(name, str):
            raise BadReceipt(
                f"{where} has a member named by {_type_of(name)}; JSON names members by text, so "
                "give its text"
            )
        text = str.__str__(name)
        found[text] = _plain(member, f"{where}.{text}", depth + 1, is_compared=is_compared)
    return found


def _known(value: Any, where: str) -> str:
    if isinstance(value, dt.datetime):
        return encode.utc_text(value)
    if isinstance(value, (dt.date, dt.time)):
        return value.isoformat()
    if isinstance(value, (uuid.UUID, PurePath)):
        return str(value)
    if isinstance(value, decimal.Decimal) and value.is_finite():
        return str(value)
    raise BadReceipt(
        f"{where} is {_type_of(value)}, for which JSON has no word: two different ones would look "
        "alike; give what tells them apart, such as its id as a text or number"
    )


def _type_of(value: Any) -> str:
    kind = type(value)
    return f"an object of type {kind.__module__}.{kind.__qualname__}"
