"""The members of a bus's settings, one reader each: a value in, or what to write instead.

Source: contract section 10.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from events.domain import conditions, json_paths, profiles
from ledger.domain import plain

JSON, PREFIXED, STREAM = "json", "prefixed", "stream"
FORMS = (JSON, PREFIXED, STREAM)
MOST_MESSAGES = 100_000_000
LONGEST_S = 366 * 86_400
MOST_NAMES = 100

Values = dict[str, Any]


def _text(name: str, value: object) -> str:
    if not isinstance(value, str) or not value or len(value) > 255:
        raise ValueError(f"{name}: takes a text of 1 to 255 characters")
    return value


def _one_of(*words: str) -> Callable[[str, object], Values]:
    def read(name: str, value: object) -> Values:
        if value not in words:
            raise ValueError(f"{name}: {value!r} is not known; write {' or '.join(words)}")
        return {name: value}

    return read


def _profile(name: str, value: object) -> Values:
    try:
        return {name: profiles.profile_of(value)}
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def _path(name: str, value: object) -> Values:
    text = _text(name, value)
    try:
        json_paths.parse(text)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
    return {name: text}


def _channel(name: str, value: object) -> Values:
    text = _text(name, value)
    if text.startswith("$"):
        return _path(name, text)
    if json_paths.channel_part(text) is None:
        raise ValueError(f"{name}: {text!r} is neither; write channel:1 or a path such as $.topic")
    return {name: text}


def _heartbeat(name: str, value: object) -> Values:
    text = _text(name, value)
    try:
        conditions.parse(text)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
    return {name: text}


def _texts(name: str, value: object) -> list[str]:
    if not isinstance(value, list | tuple) or len(value) > MOST_NAMES:
        raise ValueError(f"{name}: takes a list of up to {MOST_NAMES} texts")
    return [_text(name, one) for one in value]


def _channels(name: str, value: object) -> Values:
    return {name: tuple(_texts(name, value))}


def _mask(name: str, value: object) -> Values:
    for path in _texts(name, value):
        _path(name, path)
    return {name: tuple(_texts(name, value))}


def _count(where: str, value: object, most: int) -> int:
    number = plain.integer_of(None if isinstance(value, str) else value)
    if number is None or not 0 < number <= most:
        raise ValueError(f"{where}: takes a whole number from 1 to {most:,}")
    return number


def _buffer(name: str, value: object) -> Values:
    return _counts(name, value, {"events": MOST_MESSAGES, "seconds": LONGEST_S})


def _keep(name: str, value: object) -> Values:
    return _counts(name, value, {"messages": MOST_MESSAGES})


def _counts(name: str, value: object, most: Mapping[str, int]) -> Values:
    if not isinstance(value, Mapping) or value.keys() - most.keys():
        raise ValueError(f"{name}: takes a table of {' and '.join(most)}")
    return {
        f"{name}_{part}": _count(f"{name}.{part}", value[part], greatest)
        for part, greatest in most.items()
        if part in value
    }


READERS: Mapping[str, Callable[[str, object], Values]] = {
    "profile": _profile,
    "density": _one_of(profiles.DENSE, profiles.SPARSE),
    "channels": _channels,
    "stream": lambda name, value: {name: _text(name, value)},
    "form": _one_of(*FORMS),
    "id": _path,
    "epoch": _path,
    "channel": _channel,
    "heartbeat": _heartbeat,
    "mask": _mask,
    "buffer": _buffer,
    "keep": _keep,
}
"""Each gives what it read by the names of BusSettings; raises ValueError, which says the fault."""
