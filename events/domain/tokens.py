"""How much chance is in an epoch token: equal tokens of two installations mean little without it.

A generation number is counted, not drawn, so that two installations have equal ones by themselves.
Source: reference/events-and-loops.md sections 0.3 and 4.
"""

from __future__ import annotations

import math
import re
from collections import Counter

ENOUGH = 64
"""Bits from which on equal tokens are no chance."""
_UUID = re.compile(r"[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}\Z", re.IGNORECASE)
_LONG_NUMBER = 20
_DIGIT, _HEX, _LETTER, _MIXED = 3.3, 4.0, 2.0, 5.0


def is_telling(token: str) -> bool:
    """Tell whether two installations can only have this token in common by copying it."""
    return bits_of(token) >= ENOUGH


def is_named(token: str) -> bool:
    """Tell whether a token is a name that somebody chose: not counted, and not drawn either.

    Two installations may have chosen the same one, so that what they have in common is a hint.
    """
    return any(one.isalpha() for one in token) and not is_telling(token)


def bits_of(token: str) -> float:
    """Estimate the bits of chance in a token from how it is written, rather too few than many."""
    if _UUID.match(token):
        return 122.0 if len(set(token)) > 4 else 0.0
    parts = re.split(r"[^0-9A-Za-z]+", token)
    return min(sum(_part(part) for part in parts), _spread(token))


def _part(part: str) -> float:
    if part.isdigit():
        return _DIGIT * len(part) if len(part) >= _LONG_NUMBER else 0.0
    if part.isalpha() and part in (part.lower(), part.upper(), part.title()):
        return _LETTER * len(part)
    is_hex = re.fullmatch(r"[0-9a-f]+|[0-9A-F]+", part) is not None
    return (_HEX if is_hex else _MIXED) * len(part)


def _spread(token: str) -> float:
    """Give the bits that the frequencies of its characters leave: a repeated one tells nothing."""
    size = len(token)
    shares = [count / size for count in Counter(token).values()]
    return -sum(share * math.log2(share) for share in shares) * size
