"""The known fields of a receipt and what each must look like (contract section 2), as a table."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ledger.domain import canonical, receipt_ids

MAX_NAME = 255
MAX_REASON = 500
MAX_SUBJECTS = 16

Problem = tuple[str, str]

_DATE_TIME = re.compile(
    r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)", re.ASCII
)
_SUBJECT_TYPE = re.compile(r"[a-z0-9_]{1,32}")
_TRACE_ID = re.compile(r"[0-9A-Fa-f]{32}")
_SPAN_ID = re.compile(r"[0-9A-Fa-f]{16}")


@dataclass(frozen=True, slots=True)
class Rule:
    """What one value must be: `find` returns the code and the sentence of a problem, or None."""

    find: Callable[[Any], Problem | None]


@dataclass(frozen=True, slots=True)
class Each:
    """A list whose items all have one shape."""

    item: Shape
    most: int = 0


Shape = Rule | Each | dict[str, "Shape"]


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


def iter_problems(shape: Shape, value: Any, path: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield the pointer, code and sentence of each problem of a value.

    Unknown members are passed over, and so is a known member that is null, but for those whose
    rule names null.
    """
    if type(shape) is dict:
        yield from _member_problems(shape, value, path)
    elif type(shape) is Each:
        yield from _item_problems(shape, value, path)
    elif type(shape) is Rule:
        problem = shape.find(value)
        if problem is not None:
            yield path, *problem


def _member_problems(
    shape: dict[str, Shape], value: Any, path: str
) -> Iterator[tuple[str, str, str]]:
    if type(value) is not dict:
        yield path, *_wrong_type(value, "an object")
        return
    for name, item in value.items():
        part = shape.get(name)
        if part is None or item is None:
            continue
        # A rule is asked here, not by one more generator: nearly all members have one.
        if type(part) is Rule:
            problem = part.find(item)
            if problem is not None:
                yield f"{path}/{name}", *problem
        else:
            yield from iter_problems(part, item, f"{path}/{name}")


def _item_problems(shape: Each, value: Any, path: str) -> Iterator[tuple[str, str, str]]:
    if type(value) is not list:
        yield path, *_wrong_type(value, "a list")
        return
    if shape.most and len(value) > shape.most:
        yield path, "length", f"has {len(value)} items; send at most {shape.most}"
    for index, item in enumerate(value[: shape.most or None]):
        yield from iter_problems(shape.item, item, f"{path}/{index}")


def _wrong_type(value: Any, wanted: str) -> Problem:
    return "type", f"is {json_type(value)}; send {wanted}"


def _text(most: int = MAX_NAME, least: int = 0) -> Rule:
    def find(value: Any) -> Problem | None:
        if type(value) is not str:
            return _wrong_type(value, "text")
        if least <= len(value) <= most:
            return None
        return "length", f"has {len(value)} characters; send {least} to {most}"

    return Rule(find)


def _number_or_text(most: int = MAX_NAME, least: int = 1) -> Rule:
    def find(value: Any) -> Problem | None:
        text = value if type(value) is str else canonical.text_of(value)
        if text is None:
            return _wrong_type(value, "text, or a whole number, which is taken by its digits")
        if least <= len(text) <= most:
            return None
        return "length", f"has {len(text)} characters; send {least} to {most}"

    return Rule(find)


def _matching(pattern: re.Pattern[str], wanted: str) -> Rule:
    def find(value: Any) -> Problem | None:
        if type(value) is not str:
            return _wrong_type(value, wanted)
        return None if pattern.fullmatch(value) else ("format", f"send {wanted}")

    return Rule(find)


def _of_type(*kinds: type, wanted: str) -> Rule:
    return Rule(lambda value: None if type(value) in kinds else _wrong_type(value, wanted))


def _find_moment_problem(value: Any) -> Problem | None:
    wanted = "an RFC 3339 date-time with a zone, such as 2026-10-05T09:00:30Z"
    if type(value) is not str:
        return _wrong_type(value, wanted)
    return None if find_moment(value) is not None else ("format", f"send {wanted}")


def _find_id_problem(value: Any) -> Problem | None:
    fault = receipt_ids.id_fault(value)
    return None if fault is None else ("id", fault)


def find_original_problem(original: dict[str, Any]) -> Problem | None:
    """Return what is wrong with an original that names neither a receipt nor a job."""
    if original.get("receipt") is None and original.get("job") is None:
        return "format", 'names nothing; send {"receipt": id}, {"job": id}, or null for none'
    return None


_TYPES = {
    type(None): "null",
    bool: "true or false",
    str: "text",
    canonical.Number: "a number",
    list: "a list",
    dict: "an object",
}
_NAME = _text()
_LONG = _text(most=100_000)
_NUMBER = _of_type(canonical.Number, wanted="a number")
_OBJECT = _of_type(dict, wanted="an object")
_LIST = _of_type(list, wanted="a list")
_COUNT = _number_or_text()
_MOMENT = Rule(_find_moment_problem)
_SOURCE: Shape = {"system": _NAME, "instance": _NAME, "via": _NAME}
_ACTOR: Shape = {
    "type": _NAME,
    "id": _COUNT,
    "label": _NAME,
    "on_behalf_of": _OBJECT,
    "authority": _NAME,
}
_HEAD: Shape = {
    "channel": _NAME,
    "node": _NAME,
    "epoch": _COUNT,
    "head": _COUNT,
    "floor": _COUNT,
}

EVERY_KIND: dict[str, Shape] = {
    "schema": _NAME,
    "occurred_at": _MOMENT,
    "job": {
        "id": _COUNT,
        "task": _NAME,
        "queue": _NAME,
        "attempt": _COUNT,
        "delivery": _COUNT,
        "state": _NAME,
    },
    "subjects": Each(
        {
            "type": _matching(_SUBJECT_TYPE, "1 to 32 characters a-z, 0-9 and _"),
            "id": _text(255, 1),
        },
        most=MAX_SUBJECTS,
    ),
    "invoke": {
        "scope": _COUNT,
        "id": _COUNT,
        "generation": _COUNT,
        "element": Each(_COUNT),
        "index": _COUNT,
    },
    "timer": {"scope": _COUNT, "ordinal": _COUNT, "send_id": _COUNT},
    "key": {"recipe": _NAME, "version": _COUNT, "fields": _OBJECT, "ignored": _OBJECT},
    "reason": _text(most=MAX_REASON),
    "original": {"receipt": Rule(_find_id_problem), "job": _COUNT, "source": _SOURCE},
    "original_state": _NAME,
    "rule": {
        "name": _NAME,
        "version": _COUNT,
        "text": _LONG,
        "decision": _NAME,
        "repo": _LONG,
        "path": _LONG,
        "line": _COUNT,
        "symbol": _LONG,
        "commit": _NAME,
    },
    "condition": {"inputs": _OBJECT},
    "switch": {"name": _NAME, "set_at": _MOMENT, "actor": _ACTOR},
    "actor": _ACTOR,
    "trace": {
        "trace_id": _matching(_TRACE_ID, "32 hexadecimal digits"),
        "span_id": _matching(_SPAN_ID, "16 hexadecimal digits"),
    },
    "source": _SOURCE,
    "evidence": _NAME,
    "sent": _OBJECT,
}

OF_KIND: dict[str, dict[str, Shape]] = {
    "heartbeat": {
        "loop": _NAME,
        "incarnation": _COUNT,
        "n": _COUNT,
        "run_id": _COUNT,
        "beat": _NAME,
        "sent_at": _MOMENT,
        "period_s": _NUMBER,
        "grace_s": _NUMBER,
        "channels": Each(
            {
                "channel": _NAME,
                "epoch": _COUNT,
                "from": _COUNT,
                "to": _COUNT,
                "floor_seen": _COUNT,
                "outcome": _NAME,
                "backfill": Each(Each(_COUNT)),
            }
        ),
    },
    "observe": {
        "what": _NAME,
        "sampled_at": _MOMENT,
        "heads": Each(_HEAD),
        "bus": _NAME,
        "replica": _NAME,
        "spool": _NAME,
        "ranges": Each(Each(_COUNT)),
        "version": _COUNT,
        "each": Each(_NAME),
        "tally": Each(_NAME),
        "never": Each(_NAME),
    },
    "tally": {"window": {"from": _MOMENT, "to": _MOMENT}, "policy": _COUNT, "counts": Each({})},
    "act": {"act": {"verb": _NAME, "target": _LONG, "commit": _NAME}},
    "decide": {
        "decision": _NAME,
        "move": _NAME,
        "text_hash": _NAME,
        "commit": _NAME,
        "evidence": _OBJECT,
    },
}

# `Each({})` asks that every item is an object and looks no further.
SHAPES: dict[str, Shape] = {kind: {**EVERY_KIND, **own} for kind, own in OF_KIND.items()}
