"""The feed line of a request: which numbers of which spool its lines are (contract section 3)."""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_SPOOL = 200
MAX_NUMBER = 2**63 - 1

_SPOOL = re.compile(rf"[!-:<-~]{{1,{MAX_SPOOL}}}")
_NUMBER = re.compile(r"[1-9][0-9]{0,18}")


class FeedFault(ValueError):
    """The Counterfoil-Feed header is not `SPOOL; first=N`."""


@dataclass(frozen=True, slots=True)
class Feed:
    """The spool of a request, and the number of the request's first line in it, from 1."""

    spool: str
    first: int

    def number_of(self, line: int) -> int:
        """Return the number of a line of the request, counted from 0 without blank lines."""
        return self.first + line

    def id_of(self, line: int) -> str:
        """Return the id that a line gets which was sent without one."""
        return f"feed:{self.spool}:{self.first + line}"


def read_feed(header: str | None) -> Feed | None:
    """Return what a Counterfoil-Feed header says; None when there is none.

    A spool's name is 1 to 200 visible ASCII characters without a semicolon, a number 1 to
    2^63 - 1 without leading zeros; parameters that we do not know are ignored. Raises FeedFault.
    """
    if header is None or not header.strip():
        return None
    spool, *parameters = (part.strip() for part in header.split(";"))
    if _SPOOL.fullmatch(spool) is None:
        raise FeedFault("the spool's name must be 1 to 200 visible ASCII characters without ';'")
    numbers = [value.strip() for name, value in map(_pair, parameters) if name == "first"]
    if len(numbers) != 1 or _NUMBER.fullmatch(numbers[0]) is None or int(numbers[0]) > MAX_NUMBER:
        raise FeedFault("say the number of the first line once, as first=N with N from 1")
    return Feed(spool, int(numbers[0]))


def _pair(parameter: str) -> tuple[str, str]:
    name, _, value = parameter.partition("=")
    return name.strip().lower(), value
