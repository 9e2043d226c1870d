"""The known fields of a receipt and what each must look like (contract section 2), as a table."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ledger.domain import canonical, receipt_ids

MAX_PROBLEMS = 32
MAX_SUBJECTS = 16

_DATE_TIME = re.compile(
    r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)", re.ASCII
)
_SUBJECT_TYPE = re.compile(r"[a-z0-9_]{1,32}")
_TRACE_ID = re.compile(r"[0-9A-Fa-f]{32}")
_SPAN_ID = re.compile(r"[0-9A-Fa-f]{16}")


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


def _object(members: dict[str, Check]) -> Check:
    """Check the known members of an object.

    Unknown members are passed over, and so are known ones that are null: a producer that writes
    every field says with null that it has nothing to say.
    """
    texts = frozenset(name for name, check in members.items() if check in (_text, _name))

    def check_object(value: Any, path: str, found: list[Problem]) -> None:
        if type(value) is not dict:
            found.append(_wrong_type(path, value, "an object"))
            return
        for name, item in value.items():
            # Most members are texts that may be any text: they cost no call and no pointer.
            if type(item) is str and name in texts:
                continue
            check = members.get(name)
            if check is not None and item is not None:
                check(item, f"{path}/{name}", found)

    return check_object


def _each(check: Check, most: int = 0, needs: tuple[str, ...] = ()) -> Check:
    """Check a list: `most` items (0: no limit), each an object with the members `needs`, if any."""

    def check_list(value: Any, path: str, found: list[Problem]) -> None:
        if type(value) is not list:
            found.append(_wrong_type(path, value, "a list"))
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


def _wrong_type(path: str, value: Any, wanted: str) -> Problem:
    return Problem(path, "type", f"is {json_type(value)}; send {wanted}")


def _text(value: Any, path: str, found: list[Problem]) -> None:
    if type(value) is not str:
        found.append(_wrong_type(path, value, "text"))


def _name(value: Any, path: str, found: list[Problem]) -> None:
    """Check a name or number of the producer's: a whole number stands for its digits."""
    if canonical.text_of(value) is None:
        found.append(_wrong_type(path, value, "text or a whole number"))


def _any_object(value: Any, path: str, found: list[Problem]) -> None:
    if type(value) is not dict:
        found.append(_wrong_type(path, value, "an object"))


def _seconds(value: Any, path: str, found: list[Problem]) -> None:
    if type(value) is not canonical.Number:
        found.append(_wrong_type(path, value, "a number of seconds"))


def _moment(value: Any, path: str, found: list[Problem]) -> None:
    wanted = "an RFC 3339 date-time with a zone, such as 2026-10-05T09:00:30Z"
    if type(value) is not str:
        found.append(_wrong_type(path, value, wanted))
    elif find_moment(value) is None:
        found.append(Problem(path, "format", f"send {wanted}"))


def _receipt_id(value: Any, path: str, found: list[Problem]) -> None:
    fault = receipt_ids.id_fault(value)
    if fault is not None:
        found.append(Problem(path, "id", fault))


def _original(value: Any, path: str, found: list[Problem]) -> None:
    wanted = 'send {"receipt": id}, {"job": id}, or null for none'
    _original_members(value, path, found)
    if type(value) is dict and value.get("receipt") is None and value.get("job") is None:
        found.append(Problem(path, "format", f"names nothing; {wanted}"))


def _evidence(value: Any, path: str, found: list[Problem]) -> None:
    # In a decision the member is where to look it up; in all other kinds it is the level's word.
    if type(value) is not dict and type(value) is not str:
        found.append(_wrong_type(path, value, 'an object such as {"url": …}'))


def _matching(pattern: re.Pattern[str], wanted: str) -> Check:
    def check_text(value: Any, path: str, found: list[Problem]) -> None:
        if type(value) is not str:
            found.append(_wrong_type(path, value, wanted))
        elif pattern.fullmatch(value) is None:
            found.append(Problem(path, "format", f"send {wanted}"))

    return check_text


def _length(least: int, most: int) -> Check:
    def check_text(value: Any, path: str, found: list[Problem]) -> None:
        if type(value) is not str:
            found.append(_wrong_type(path, value, "text"))
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
_source = _object({"system": _text, "instance": _text, "via": _text})
_actor = _object(
    {
        "type": _text,
        "id": _name,
        "label": _text,
        "on_behalf_of": _any_object,
        "authority": _text,
    }
)
_original_members = _object({"receipt": _receipt_id, "job": _name, "source": _source})
_head = _object({"channel": _text, "node": _text, "epoch": _name, "head": _name, "floor": _name})
_pairs = _each(_each(_name))

_EVERY_KIND: dict[str, Check] = {
    "schema": _text,
    "occurred_at": _moment,
    "job": _object(
        {
            "id": _name,
            "task": _text,
            "queue": _text,
            "attempt": _name,
            "delivery": _name,
            "state": _text,
        }
    ),
    "subjects": _each(
        _object(
            {
                "type": _matching(_SUBJECT_TYPE, "1 to 32 characters a-z, 0-9 and _"),
                "id": _length(1, 255),
            }
        ),
        most=MAX_SUBJECTS,
        needs=("type", "id"),
    ),
    "invoke": _object(
        {
            "scope": _name,
            "id": _name,
            "generation": _name,
            "element": _each(_name),
            "index": _name,
        }
    ),
    "timer": _object({"scope": _name, "ordinal": _name, "send_id": _name}),
    "key": _object(
        {"recipe": _text, "version": _name, "fields": _any_object, "ignored": _any_object}
    ),
    "reason": _text,
    "original": _original,
    "original_state": _text,
    "rule": _object(
        {
            "name": _text,
            "version": _name,
            "text": _text,
            "decision": _text,
            "repo": _text,
            "path": _text,
            "line": _name,
            "symbol": _text,
            "commit": _text,
        }
    ),
    "condition": _object({"inputs": _any_object}),
    "switch": _object({"name": _text, "set_at": _moment, "actor": _actor}),
    "actor": _actor,
    "trace": _object(
        {
            "trace_id": _matching(_TRACE_ID, "32 hexadecimal digits"),
            "span_id": _matching(_SPAN_ID, "16 hexadecimal digits"),
        }
    ),
    "source": _source,
    "evidence": _text,
    "sent": _any_object,
}

_OF_KIND: dict[str, dict[str, Check]] = {
    "heartbeat": {
        "loop": _text,
        "incarnation": _name,
        "n": _name,
        "run_id": _name,
        "beat": _text,
        "sent_at": _moment,
        "period_s": _seconds,
        "grace_s": _seconds,
        "channels": _each(
            _object(
                {
                    "channel": _text,
                    "epoch": _name,
                    "from": _name,
                    "to": _name,
                    "floor_seen": _name,
                    "outcome": _text,
                    "backfill": _pairs,
                }
            )
        ),
    },
    "observe": {
        "what": _text,
        "sampled_at": _moment,
        "heads": _each(_head),
        "bus": _text,
        "replica": _text,
        "spool": _text,
        "ranges": _pairs,
        "version": _name,
        "each": _each(_text),
        "tally": _each(_text),
        "never": _each(_text),
    },
    "tally": {
        "window": _object({"from": _moment, "to": _moment}),
        "policy": _name,
        "counts": _each(_any_object),
    },
    "act": {"act": _object({"verb": _text, "target": _text, "commit": _text})},
    "decide": {
        "decision": _text,
        "move": _text,
        "text_hash": _text,
        "commit": _text,
        "evidence": _evidence,
    },
}
_CHECKS = {kind: _object({**_EVERY_KIND, **own}) for kind, own in _OF_KIND.items()}
_CHECK_OF_OTHERS = _object(_EVERY_KIND)


def check_of(kind: str) -> Check:
    """Return the check of a body of this kind."""
    return _CHECKS.get(kind, _CHECK_OF_OTHERS)
