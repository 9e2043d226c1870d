"""How a bus, a lane and an installation are named, and their public ids.

Source: the glossary of reference/events-and-loops.md section 2.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from events.domain.times import FIRST, LAST, kept, micros
from kit import ids
from ledger.domain import plain
from ledger.domain.names import column
from ledger.domain.statement import Statement

TAIL = "tail"
"""The replica that our own watching is, unless it was given another name."""
UNNAMED = "default"
EARLIEST, LATEST = FIRST, LAST
"""The times and lengths that are kept: nobody can draw, or ask for, what lies beyond them."""


class BusName(NamedTuple):
    """An installation and one of its buses."""

    installation: str
    bus: str

    @property
    def id(self) -> str:
        """Give the public id of the bus."""
        return bus_id(self.installation, self.bus)

    def lane_id(self, replica: str) -> str:
        """Give the public id of a replica's lane."""
        return lane_id(self.installation, self.bus, replica)


# Each is asked for with every finding and segment, and takes a digest.
@lru_cache(1024)
def bus_id(installation: str, bus: str) -> str:
    """Give the public id of a bus."""
    return ids.public_id("b", installation, bus)


@lru_cache(1024)
def lane_id(installation: str, bus: str, replica: str) -> str:
    """Give the public id of a lane."""
    return ids.public_id("l", installation, bus, replica)


@lru_cache(1024)
def installation_id(installation: str) -> str:
    """Give the public id of an installation."""
    return ids.public_id("i", installation)


def installation_of(statement: Statement) -> str:
    """Name the installation that a receipt is about: its own word, or its source's instance."""
    named = plain.name_of(statement.body.get("installation"))
    return named or column(statement.instance) or UNNAMED


def bus_of(statement: Statement) -> BusName | None:
    """Name the bus that a receipt is about, or None where it names none."""
    bus = plain.name_of(statement.body.get("bus"))
    return BusName(installation_of(statement), bus) if bus else None


def replica_of(statement: Statement) -> str:
    """Name the replica that a receipt is about."""
    return plain.name_of(statement.body.get("replica")) or TAIL


def moment_of(statement: Statement, *members: str) -> int:
    """Give the first readable time of some members, or when it happened, in microseconds."""
    for one in members:
        at = time_or_none(statement.body.get(one))
        if at is not None:
            return at
    return kept(micros(statement.happened_at))


def time_or_none(value: object) -> int | None:
    """Read a time in microseconds, None where there is none or it cannot be read."""
    at = plain.time_of(value)
    return None if at is None else kept(micros(at))


def int64_of(value: object) -> int | None:
    """Read a whole number that a column holds, given as a number or a text, or None."""
    token = value if isinstance(value, str) else plain.number_token(value)
    if token is None or len(token) > 20 or not token.isascii():
        return None
    if not token.removeprefix("-").isdecimal():
        return None
    number = int(token)
    return number if -(2**63) <= number < 2**63 else None


def text_or_none(value: object) -> str | None:
    """Read a text or a number as a name, None where there is none."""
    return None if value is None else plain.name_of(value)
