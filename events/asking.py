"""What the addresses of buses and lanes ask for, read and refused with what was wrong."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from events.domain.axis import Axis
from events.domain.times import micros
from kit import search
from kit.http import ProblemError

WIDTH, NARROWEST, WIDEST = 1_200, 40, 4_000
LONGEST_NAME = 255


def bad(name: str, detail: str) -> ProblemError:
    """Make the problem for a parameter that cannot be read."""
    return ProblemError(400, "bad_parameter", f"`{name}` cannot be read", detail)


def time_of(name: str, text: str, now: datetime) -> int | None:
    """Read a time in microseconds; None for an empty text."""
    if not text:
        return None
    try:
        return micros(search.moment_to_read_at(text, now))
    except ValueError as error:
        detail = (
            f"`{name}` takes a time such as 2026-10-05T09:00:00Z, a date, or an age such as 2h."
        )
        raise bad(name, detail) from error


def number_of(name: str, text: str, least: int, most: int, usual: int) -> int:
    """Read a whole number within bounds; `usual` for an empty text."""
    if not text:
        return usual
    if not text.isascii() or not text.isdecimal() or not least <= int(text[:20]) <= most:
        raise bad(name, f"`{name}` takes a whole number from {least:,} to {most:,}.")
    return int(text)


def text_of(name: str, text: str) -> str:
    """Read a name that a producer gave."""
    if len(text) > LONGEST_NAME:
        raise bad(name, f"`{name}` takes up to {LONGEST_NAME} characters.")
    return text


@dataclass(frozen=True, slots=True)
class Range:
    """A part of a bus's life, as its address gives it: texts, empty where nothing is said.

    `lane` is one that is wanted for sure, however many the bus has.
    """

    begin: str = ""
    end: str = ""
    width: str = ""
    lane: str = ""

    def axis(self, now: datetime, first: int, last: int) -> Axis:
        """Give the range, with what is not said taken from the first and the last that is known."""
        width = number_of("width", self.width, NARROWEST, WIDEST, WIDTH)
        begin, end = time_of("from", self.begin, now), time_of("to", self.end, now)
        end = last + 1 if end is None else end
        begin = min(first, end - 1) if begin is None else begin
        if begin >= end:
            raise bad("from", "`from` must be before `to`.")
        return Axis(begin, end, width)
