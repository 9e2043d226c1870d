"""Times as whole microseconds since 1970, which both databases and JSON keep exactly."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from events.domain.records import SECOND

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def micros(at: datetime) -> int:
    """Give an aware time as microseconds since 1970."""
    since = at - EPOCH
    return (since.days * 86_400 + since.seconds) * SECOND + since.microseconds


FIRST = micros(datetime.min.replace(tzinfo=UTC))
LAST = micros(datetime.max.replace(tzinfo=UTC))
"""The moments that a calendar begins and ends with."""


def moment(at: int) -> datetime:
    """Give the time of a number of microseconds since 1970.

    Producers tell any number; one beyond the calendar is its first or its last moment.
    """
    return EPOCH + timedelta(microseconds=min(max(at, FIRST), LAST))


def moment_or_none(at: int | None) -> datetime | None:
    """Give the time of a number of microseconds, or None where there is none."""
    return None if at is None else moment(at)
