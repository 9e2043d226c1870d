"""JSON numbers as they were sent, and what they are worth."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

MAX_INTEGER_DIGITS = 4000


@dataclass(frozen=True, slots=True)
class Number:
    """A JSON number, kept as the token that was sent: 1, 1.0 and 1e0 are three different ones.

    It is no `str`, so that what asks for text never takes a number for one.
    """

    token: str

    def as_int(self) -> int | None:
        """Return the value of an integer token of at most 4,000 digits; None for all others."""
        digits = self.token.removeprefix("-")
        if len(digits) > MAX_INTEGER_DIGITS or not digits.isdecimal():
            return None
        try:
            return int(self.token)
        except ValueError:
            # Python can be told to convert even fewer digits (PYTHONINTMAXSTRDIGITS).
            return None

    def as_float(self) -> float:
        """Return the nearest float, infinite when there is none."""
        return float(self.token)

    def __str__(self) -> str:
        return self.token


def is_integer(token: str) -> bool:
    """Tell whether a JSON number was written without a fraction and an exponent."""
    return token.removeprefix("-").isdecimal()


def text_of(value: Any) -> str | None:
    """Return a text, or the digits of a whole number sent in its place; None for all else."""
    if type(value) is str:
        return value
    if type(value) is Number and is_integer(value.token):
        return value.token
    return None


def plain(value: Any) -> Any:
    """Return the value with numbers as int or float, or as their token where neither holds it."""
    if type(value) is Number:
        return _plain_number(value)
    if type(value) is dict:
        return {name: plain(item) for name, item in value.items()}
    if type(value) is list:
        return [plain(item) for item in value]
    return value


def _plain_number(number: Number) -> int | float | str:
    whole = number.as_int()
    if whole is not None:
        return whole
    if is_integer(number.token):
        return number.token
    nearest = number.as_float()
    try:
        same = Decimal(repr(nearest)) == Decimal(number.token)
    except InvalidOperation:
        # An exponent beyond 10^18 is out of Decimal's range.
        same = False
    return nearest if same else number.token
