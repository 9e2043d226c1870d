"""What the values of a term may be, and what they mean."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from kit.search.terms import FieldSpec

_RELATIVE = re.compile(r"([0-9]{1,6})([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_LONGEST_AGO = timedelta(days=36_525)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt ]([0-9]{2}:[0-9]{2}:[0-9]{2})"
    r"(\.[0-9]{1,9})?([Zz]|[+-][0-9]{2}:[0-9]{2})"
)
_INTEGER = re.compile(r"-?[0-9]{1,18}")
EARLIEST = datetime(2, 1, 1, tzinfo=UTC)
LATEST = datetime(9998, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
"""The times that a page or an answer can be of: next to the ends of the calendar one cannot count
from a time, neither the five minutes before it nor the second after."""


def find_expected(spec: FieldSpec, value: str, comparison: str) -> str | None:
    """Say what `spec` takes instead of `value`, or None where it takes it."""
    if spec.type == "word" and spec.allowed and value not in spec.allowed:
        return "one of " + ", ".join(spec.allowed)
    if spec.type == "time" and not is_time(value):
        return "a time such as 2026-10-05T09:00:00Z, a date, or an age such as 15m, 2h or 7d"
    if spec.type == "pair" and not all(pair(value)):
        return "a type and an id, as in payout:PO-88213"
    compared = spec.type == "number" or (spec.type == "ordinal" and comparison != "=")
    if compared and not _INTEGER.fullmatch(value):
        return "a whole number of at most 18 digits"
    return None


def is_time(value: str) -> bool:
    """Whether `moment` can read the value."""
    try:
        moment(value, datetime(2026, 1, 1, tzinfo=UTC))
    except ValueError:
        return False
    return True


def moment(value: str, now: datetime) -> datetime:
    """Turn a value of a time field into an aware UTC time; raise ValueError where it is none.

    An age such as `2h` counts back from `now`. A date is its first moment in UTC, so that
    `after:2026-10-05 before:2026-10-06` is one whole day: after includes its bound, before
    excludes it. Digits past the microsecond are cut off.
    """
    if match := _RELATIVE.fullmatch(value):
        ago = timedelta(**{_UNITS[match[2]]: int(match[1])})
        if ago > _LONGEST_AGO:
            raise ValueError(f"{value} is more than a hundred years.")
        return now.astimezone(UTC) - ago
    if _DATE.fullmatch(value):
        return datetime.fromisoformat(value).replace(tzinfo=UTC)
    if match := _TIME.fullmatch(value):
        zone = "+00:00" if match[4] in "Zz" else match[4]
        return _utc(datetime.fromisoformat(f"{match[1]}T{match[2]}{match[3] or ''}{zone}"))
    raise ValueError(f"{value} is no time.")


def _utc(at: datetime) -> datetime:
    try:
        return at.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("This time lies outside the years 1 to 9999.") from error


def moment_to_read_at(value: str, now: datetime) -> datetime:
    """Turn a time of which something is to be read into one; as `moment`, in the years 2 to 9998.

    A query may name the ends of the calendar all the same, since receipts may bear them.
    """
    at = moment(value, now)
    if not EARLIEST <= at <= LATEST:
        raise ValueError(f"{value} lies outside the years 2 to 9998.")
    return at


def pair(value: str) -> tuple[str, str]:
    """Part a pair at its first colon: `payout:PO-1` is ("payout", "PO-1")."""
    kind, _, ident = value.partition(":")
    return kind, ident
