"""Parts of an address that are numbers of rows."""

from __future__ import annotations

from django.urls import register_converter


class Number:
    """A whole number that every database can hold: Django's own takes any length of digits."""

    regex = "[0-9]{1,18}"

    def to_python(self, value: str) -> int:
        """Read the digits."""
        return int(value)

    def to_url(self, value: int) -> str:
        """Write the digits."""
        return str(value)


register_converter(Number, "number")
