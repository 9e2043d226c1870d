"""The one place that reads the clock, so that a test can hold it still."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> datetime:
    """Give the present moment as an aware datetime in UTC, to the microsecond."""
    return datetime.now(UTC)
