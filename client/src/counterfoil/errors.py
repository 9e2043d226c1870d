"""What can go wrong in the client, each with its message as the docstring."""

from __future__ import annotations


class CounterfoilError(Exception):
    """The Counterfoil client could not do what was asked."""

    def __init__(self, detail: str = "") -> None:
        text = (type(self).__doc__ or "").strip()
        super().__init__(f"{text} {detail}".strip())


class SettingsError(CounterfoilError):
    """The Counterfoil settings cannot be used."""


class BadReceipt(CounterfoilError):
    """The receipt cannot be written as it was given."""


class SpoolError(CounterfoilError):
    """The receipt could not be put on disk."""


class SpoolFull(SpoolError):
    """The spool is full and holds only receipts that may not be dropped."""


class SpoolUnusable(SpoolError):
    """The spool directory cannot be written."""


class Unreachable(CounterfoilError):
    """The server could not be reached."""
