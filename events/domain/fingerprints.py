"""The fingerprint of a message: a keyed hash of its body without its id and its epoch.

So the same event under two ids can be told from two events, without keeping what it said.
Source: design section 2 (segments), reference/events-and-loops.md section 4.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Collection
from typing import Any

from events.domain import go_json, json_spans
from events.domain.decoded import Decoded
from events.domain.json_paths import Path

LENGTH = 12
"""Bytes of the hash that are kept: 16 characters."""
Sign = Callable[[bytes], bytes]
"""Gives the HMAC-SHA-256 of bytes under a key."""
_FIRST = (b'{"id":', b'{"ID":')


def short(digest: bytes) -> str:
    """Write the beginning of a hash as text."""
    return base64.urlsafe_b64encode(digest[:LENGTH]).decode("ascii")


def of_pad(decoded: Decoded, sign: Sign) -> str:
    """Give the fingerprint of a message of Pad's.

    Pad writes the id first, and then the rest is hashed as it came, which costs no second writing.
    """
    raw = decoded.raw
    if decoded.value is not None and raw[:6] in _FIRST:
        comma = raw.find(b",", 6)
        return short(sign(raw[comma + 1 :] if comma > 0 else b"}"))
    return of_rest(decoded, sign, lambda name: go_json.fold(name) == "id")


def of_paths(decoded: Decoded, sign: Sign, left_out: Collection[Path]) -> str:
    """Give the fingerprint of a message of a generic bus, without what lies at some paths."""
    tops = {path[0] for path in left_out if len(path) == 1}
    return of_rest(decoded, sign, lambda name: name in tops)


def of_rest(decoded: Decoded, sign: Sign, is_left_out: Callable[[str], bool]) -> str:
    """Give the fingerprint of a body as sorted JSON without some members of its top level.

    What is nested too deeply to be written again is hashed as it came.
    """
    value = decoded.value
    if value is None:
        root = json_spans.read(decoded.body)
        if root.is_cut:
            return short(sign(decoded.raw))
        value = json_spans.value_of(decoded.body, root)
    if isinstance(value, dict):
        value = {name: one for name, one in value.items() if not is_left_out(name)}
    return short(sign(_sorted(value)))


def _sorted(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode("ascii")
