"""Checks of JSON values: each looks at one and adds what is wrong with it to a list."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ledger.domain import canonical, receipt_ids

MAX_PROBLEMS = 32

_DATE_TIME = re.compile(
    r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)", re.ASCII
)


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with one value: where (JSON pointer), the code, and what to send instead."""

    pointer: str
    code: str
    detail: str


Check = Callable[[Any, str, list[Problem]], None]
"""Looks at a value and adds what is wrong with it, under the pointer given."""


def find_problems(check: Check, value: Any) -> list[Problem]:
    """Return the problems of a value, the first 32 of them."""
    found: list[Problem] = []
    check(value, "", found)
    return found[:MAX_PROBLEMS]


def members_of(members: dict[str, Check]) -> Check:
    """Check the known members of an object.

    Unknown members are passed over, and so are known ones that are null: a producer that writes
    every field says with null that it has nothing to say.
    """
    texts = frozenset(name for name, check in members.items() if check in (text, name_or_number))

    def check_object(value: Any, path: str, found: list[Problem]) -> None:
        if type(value) is not dict:
            found.append(wrong_type(path, value, "an object"))
            return
        for name, item in value.items():
            # Most members are texts that may be any text: they cost no call and no pointer.
            if type(item) is str and name in texts:
                continue
            check = members.get(name)
            if check is not None and item is not None:
                check(item, f"{path}/{name}", found)

    return check_object


def each(check: Check, most: int = 0, needs: tuple[str, ...] = ()) -> Check:
    """Check a list: `most` items (0: no limit), each an object with the members `needs`, if any."""

    def check_list(value: Any, path: str, found: list[Problem]) -> None:
        if type(value) is not list:
            found.append(wrong_type(path, value, "a list"))
            return
        if most and len(value) > most:
            detail = f"has {len(value)} items; send at most {most}"
            found.append(Problem(path, "length", detail))
            return
        for index, item in enumerate(value):
            check(item, f"{path}/{index}", found)
            missing = [n for n in needs if type(item) is dict and item.get(n) is None]
            found += [Problem(f"{path}/{index}/{n}", "missing", "send it") for n in missing]
            if len(found) >= MAX_PROBLEMS:
                return

    return check_list


def json_type(value: Any) -> str:
    """Return the JSON type of a parsed value in words, for a sentence."""
    return _TYPES.get(type(value), "a value")


def find_moment(text: str) -> datetime | None:
    """Return the time of an RFC 3339 date-time with a zone, in UTC; None for any other text.

    Digits beyond microseconds are cut off; a leap second counts as the second before it.
    """
    if _DATE_TIME.fullmatch(text) is None:
        return None
    if text[17:19] == "60":
        text = f"{text[:17]}59{text[19:]}"
    try:
        return datetime.fromisoformat(text.upper()).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def wrong_type(path: str, value: Any, wanted: str) -> Problem:
    """Return the problem of a value of another JSON type than the one wanted."""
    return Problem(path, "type", f"is {json_type(value)}; send {wanted}")


def text(value: Any, path: str, found: list[Problem]) -> None:
    """Check a text; every text will do."""
    if type(value) is not str:
        found.append(wrong_type(path, value, "text"))


def name_or_number(value: Any, path: str, found: list[Problem]) -> None:
    """Check a name or number of the producer's: a whole number stands for its digits."""
    if canonical.text_of(value) is None:
        found.append(wrong_type(path, value, "text or a whole number"))


def any_object(value: Any, path: str, found: list[Problem]) -> None:
    """Check an object, whatever its members."""
    if type(value) is not dict:
        found.append(wrong_type(path, value, "an object"))


def object_or_number(value: Any, path: str, found: list[Problem]) -> None:
    """Check what is an object in most receipts and a count in some."""
    if type(value) is not dict and type(value) is not canonical.Number:
        found.append(wrong_type(path, value, "an object, or a number in a feed line"))


def seconds(value: Any, path: str, found: list[Problem]) -> None:
    """Check a length of time in seconds, as a number."""
    if type(value) is not canonical.Number:
        found.append(wrong_type(path, value, "a number of seconds"))


def moment(value: Any, path: str, found: list[Problem]) -> None:
    """Check an RFC 3339 time with a zone; how far it is off the clock is never a fault."""
    wanted = "an RFC 3339 date-time with a zone, such as 2026-10-05T09:00:30Z"
    if type(value) is not str:
        found.append(wrong_type(path, value, wanted))
    elif find_moment(value) is None:
        found.append(Problem(path, "format", f"send {wanted}"))


def receipt_id(value: Any, path: str, found: list[Problem]) -> None:
    """Check the id of a receipt that is referred to."""
    fault = receipt_ids.id_fault(value)
    if fault is not None:
        found.append(Problem(path, "id", fault))


def matching(pattern: re.Pattern[str], wanted: str) -> Check:
    """Check a text by a pattern that `wanted` says in words."""

    def check_text(value: Any, path: str, found: list[Problem]) -> None:
        if type(value) is not str:
            found.append(wrong_type(path, value, wanted))
        elif pattern.fullmatch(value) is None:
            found.append(Problem(path, "format", f"send {wanted}"))

    return check_text


def text_of_length(least: int, most: int) -> Check:
    """Check a text by its number of characters."""

    def check_text(value: Any, path: str, found: list[Problem]) -> None:
        if type(value) is not str:
            found.append(wrong_type(path, value, "text"))
        elif not least <= len(value) <= most:
            detail = f"has {len(value)} characters; send {least} to {most}"
            found.append(Problem(path, "length", detail))

    return check_text


_TYPES = {
    type(None): "null",
    bool: "true or false",
    str: "text",
    canonical.Number: "a number",
    list: "a list",
    dict: "an object",
}
