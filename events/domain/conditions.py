"""Conditions on a message: `$.type == 'hb'` or `$.beat != null`.

Source: contract section 10.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from events.domain import json_paths

Condition = Callable[[Any], bool]
_FORM = re.compile(r"\s*(?P<path>\$.*?)\s*(?P<sign>==|!=)\s*(?P<value>.*?)\s*")
_QUOTED = re.compile(r"'([^'\\]*)'")


def parse(text: str) -> Condition:
    """Read a condition; ValueError says what is wrong with it and what to write."""
    found = _FORM.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no condition; write one such as $.type == 'hb'")
    path, expected = json_paths.parse(found["path"]), _value(found["value"])
    is_equal = found["sign"] == "=="
    return lambda value: _is_same(json_paths.find(value, path), expected) is is_equal


def _value(text: str) -> Any:
    quoted = _QUOTED.fullmatch(text)
    if quoted is not None:
        return quoted[1]
    try:
        value = json.loads(text)
    except ValueError:
        value = ()
    if isinstance(value, list | dict | tuple):
        raise ValueError(f"{text!r} is no value; write a text in quotes, a number, true or null")
    return value


def _is_same(found: Any, expected: Any) -> bool:
    # 1 and true are equal for Python.
    return type(found) is type(expected) and bool(found == expected)
