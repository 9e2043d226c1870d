"""Strict JSON: what `json.loads` lets pass is refused, what it breaks on is read."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple, NoReturn

from ledger.domain.tokens import Number

MAX_DEPTH = 200
MAX_DEEP_POINTERS = 8

Members = list[tuple[str, Any]]


class NotCanonical(ValueError):
    """This body has no canonical text of its own.

    `code` is one of empty, utf8, json, duplicate and depth, `detail` a sentence that repeats
    nothing of the body, `pointer` the JSON pointer of a duplicate member.
    """

    def __init__(self, code: str, detail: str, pointer: str = "") -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.pointer = pointer


def parse(raw: bytes) -> Any:
    """Return the value of strict JSON, each number as a `Number`.

    Raises NotCanonical with the code `empty`, `utf8`, `json`, `duplicate` (a member named twice,
    at any depth) or `depth` (more than 200 levels). Integers of any length, NUL and lone
    surrogates written as escapes are fine.
    """
    value, doubled = parse_any(raw)
    if doubled:
        detail = "a member is named twice in one object; send it once"
        raise NotCanonical("duplicate", detail, doubled[0])
    return value


def parse_any(raw: bytes) -> tuple[Any, tuple[str, ...]]:
    """Return the value of JSON and the pointers of members named twice, whose last value counts.

    There is a pointer for each such member of the top level, and for some of those below.

    Raises NotCanonical as `parse` does, but for duplicates.
    """
    text = _decode(raw)
    doubled: tuple[str, ...] = ()
    try:
        value = _run(_STRICT, text)
    except _NamedTwice:
        value, doubled = _parse_doubled(text)
    if text.count("[") + text.count("{") > MAX_DEPTH and _is_too_deep(value):
        raise _too_deep()
    return value, doubled


class _NamedTwice(Exception):
    """A member is named twice."""


def _once(pairs: Members) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _NamedTwice
    return members


def _refuse_constant(word: str) -> NoReturn:
    raise NotCanonical("json", f"not JSON: {word} is not a number; send null or a text")


_STRICT = json.JSONDecoder(
    object_pairs_hook=_once,
    parse_float=Number,
    parse_int=Number,
    parse_constant=_refuse_constant,
)


def _decode(raw: bytes) -> str:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        detail = f"not UTF-8 at byte {error.start}; send JSON encoded as UTF-8"
        raise NotCanonical("utf8", detail) from None
    if not text.strip(" \t\r\n"):
        raise NotCanonical("empty", "the body is empty; send one JSON object")
    return text


def _run(decoder: json.JSONDecoder, text: str) -> Any:
    try:
        return decoder.decode(text)
    except json.JSONDecodeError as error:
        detail = (
            f"not JSON: {error.msg.removesuffix(' at')} at line {error.lineno} column {error.colno}"
        )
        raise NotCanonical("json", detail) from None
    except RecursionError:
        raise _too_deep() from None


def _too_deep() -> NotCanonical:
    return NotCanonical("depth", f"nested more than {MAX_DEPTH} levels deep; flatten the body")


def _is_too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            child
            for item in level
            if type(item) is dict or type(item) is list
            for child in (item.values() if type(item) is dict else item)
            if type(child) is dict or type(child) is list
        ]
        if not level:
            return False
    return True


def _parse_doubled(text: str) -> tuple[Any, tuple[str, ...]]:
    # The objects are kept as well as their ids, so that no id can be given out a second time.
    doubled: dict[int, tuple[dict[str, Any], list[str]]] = {}

    def note(pairs: Members) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) != len(pairs):
            doubled[id(members)] = members, _repeated(pairs)
        return members

    decoder = json.JSONDecoder(
        object_pairs_hook=note,
        parse_float=Number,
        parse_int=Number,
        parse_constant=_refuse_constant,
    )
    value = _run(decoder, text)
    return value, _pointers(value, {key: names for key, (_, names) in doubled.items()})


def _repeated(pairs: Members) -> list[str]:
    # In the order of the second mention.
    seen: set[str] = set()
    twice: dict[str, None] = {}
    for name, _ in pairs:
        if name in seen:
            twice[name] = None
        seen.add(name)
    return list(twice)


def _pointers(value: Any, doubled: dict[int, list[str]]) -> tuple[str, ...]:
    """Return all pointers into the top level and a few of those further down, top level first.

    A pointer is written only where something is found: written for every value, the pointers
    under one long name would fill the memory.
    """
    found = [f"/{_escape(name)}" for name in doubled.get(id(value), ())]
    enough = len(found) + MAX_DEEP_POINTERS
    rest: list[_Place] = [_Place(None, "", value)]
    for place in rest:
        if place.inside is not None and id(place.value) in doubled:
            path = place.pointer()
            found += [f"{path}/{_escape(name)}" for name in doubled[id(place.value)][:1]]
        if len(found) >= enough:
            break
        rest += [_Place(place, name, child) for name, child in _children(place.value)]
    return tuple(found)


class _Place(NamedTuple):
    """A value, the object or list that it is in, and its name there."""

    inside: Any
    name: str | int
    value: Any

    def pointer(self) -> str:
        parts: list[str] = []
        place = self
        while place.inside is not None:
            parts.append(_escape(str(place.name)))
            place = place.inside
        return "".join(f"/{part}" for part in reversed(parts))


def _children(value: Any) -> Iterable[tuple[str | int, Any]]:
    if type(value) is dict:
        return value.items()
    return enumerate(value) if type(value) is list else ()


def _escape(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
