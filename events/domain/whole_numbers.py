"""Whole numbers of 64 bits as Go's strconv.ParseInt reads them in base ten.

Source: reference/pad.md section 2: a sign and leading zeros are read, anything else around is not.
"""

from __future__ import annotations

import re

LEAST, GREATEST = -(1 << 63), (1 << 63) - 1
_DECIMAL = re.compile(r"([+-]?)0*([0-9]{1,19})", re.ASCII)


def int64_of(given: object) -> int | None:
    """Read a number or a text as a signed number of 64 bits, or give None when it is none."""
    if isinstance(given, str):
        found = _DECIMAL.fullmatch(given)
        number = int("".join(found.groups())) if found else None
    else:
        number = given if isinstance(given, int) and not isinstance(given, bool) else None
    return number if number is not None and LEAST <= number <= GREATEST else None
