"""Times as whole microseconds since 1970, which both databases and JSON keep exactly."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from events.domain.records import SECOND
from kit import search

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def micros(at: datetime) -> int:
    """Give an aware time as microseconds since 1970."""
    since = at - EPOCH
    return (since.days * 86_400 + since.seconds) * SECOND + since.microseconds


FIRST, LAST = micros(search.EARLIEST), micros(search.LATEST)
"""The first and the last moment that is kept of a bus: those that an address may ask for."""


def moment(at: int) -> datetime:
    """Give the time of a number of microseconds since 1970, the first or the last beyond those."""
    return EPOCH + timedelta(microseconds=kept(at))


def kept(at: int) -> int:
    """Give a time as it is kept: producers tell any, and detectors count on from it."""
    return min(max(at, FIRST), LAST)


def moment_or_none(at: int | None) -> datetime | None:
    """Give the time of a number of microseconds, or None where there is none."""
    return None if at is None else moment(at)
