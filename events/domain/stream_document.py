"""The document of `evaluate stream`: a recorded history of buses, read with the place of faults.

Source: contract.md section 8. Times are seconds as numbers; ids are texts or whole numbers, exact
beyond 2^53; a body may be any JSON, of which only its fingerprint counts.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from events.domain import profiles
from events.domain.records import BARE, FRAME, HOLE, JUNK, LIVE, PREFIXED, REPLAY, SECOND, Record
from events.domain.stream_settings import StreamSettings

FORMS = (BARE, PREFIXED, FRAME, JUNK, HOLE)
SOURCES = (LIVE, REPLAY)
_WHOLE = re.compile(r"-?[0-9]{1,40}\Z")
_FARTHEST = 1e11
Members = Mapping[str, Any]
Window = tuple[int, int]


class BadStream(ValueError):
    """The history cannot be read; send {"buses": {…}, "records": […], "until": seconds}."""


@dataclass(frozen=True, slots=True)
class Head:
    """One sample of the authority's counter; `installation` is empty where nobody said whose."""

    at: int
    installation: str
    bus: str
    node: str
    epoch: str | None
    head: int
    channel: str


@dataclass(frozen=True, slots=True)
class Document:
    """A history; times in microseconds."""

    buses: Mapping[str, tuple[str, str]]
    records: tuple[Record, ...]
    heads: tuple[Head, ...]
    maintenance: tuple[Window, ...]
    aliases: tuple[tuple[str, str], ...]
    until: int

    def settings(self, installation: str, bus: str) -> StreamSettings:
        """Give the settings of a bus; one that is not described has the defaults of its name."""
        profile = profiles.default_profile(bus)
        known = self.buses.get(bus, (profile, profiles.default_density(profile)))
        return StreamSettings(installation, bus, *known, self.maintenance)


def read(document: object) -> Document:
    """Read a history; BadStream says where one cannot be read."""
    if not isinstance(document, Mapping):
        raise BadStream(BadStream.__doc__)
    buses = {name: _bus(f"buses.{name}", one) for name, one in _buses(document)}
    only = next(iter(buses)) if len(buses) == 1 else None
    records = tuple(_record(place, one, only) for place, one in _rows(document, "records"))
    heads = tuple(_head(place, one, only) for place, one in _rows(document, "heads"))
    newest = max([0, *(one.at for one in records), *(one.at for one in heads)])
    until = document.get("until")
    return Document(
        buses,
        records,
        heads,
        tuple(_window(place, one) for place, one in _items(document, "maintenance")),
        tuple(_pair(place, one) for place, one in _items(document, "aliases")),
        newest if until is None else _time("until", until),
    )


def _buses(document: Members) -> Iterator[tuple[str, object]]:
    given = document.get("buses")
    if given is not None and not isinstance(given, Mapping):
        raise BadStream("buses: send an object of buses by name")
    yield from (given or {}).items()


def _bus(place: str, given: object) -> tuple[str, str]:
    if not isinstance(given, Mapping):
        raise BadStream(f'{place}: send {{"density": "dense", "profile": "…"}}')
    try:
        profile = profiles.profile_of(given.get("profile", profiles.GENERIC))
    except ValueError as error:
        raise BadStream(f"{place}.profile: {error}") from error
    density = given.get("density", profiles.default_density(profile))
    if density not in (profiles.DENSE, profiles.SPARSE):
        raise BadStream(f'{place}.density: send "dense" or "sparse"')
    return profile, density


def _items(document: Members, name: str) -> Iterator[tuple[str, object]]:
    given = document.get(name)
    if given is not None and not isinstance(given, list):
        raise BadStream(f"{name}: send a list")
    for index, one in enumerate(given or ()):
        yield f"{name}[{index}]", one


def _rows(document: Members, name: str) -> Iterator[tuple[str, Members]]:
    for place, one in _items(document, name):
        if not isinstance(one, Mapping):
            raise BadStream(f"{place}: send an object")
        yield place, one


def _record(place: str, given: Members, only: str | None) -> Record:
    form = _one_of(f"{place}.form", given.get("form"), FORMS)
    at = _time(f"{place}.observed_at", given.get("observed_at"))
    has_id = form in (BARE, PREFIXED)
    return Record(
        at=at,
        installation=_text(f"{place}.installation", given.get("installation"), "default"),
        bus=_text(f"{place}.bus", given.get("bus"), only),
        replica=_text(f"{place}.replica", given.get("replica"), "tail"),
        scope=_text(f"{place}.scope", given.get("scope"), ""),
        form=form,
        epoch=_epoch(f"{place}.epoch", given.get("epoch")) if has_id else None,
        id=_whole(f"{place}.id", given.get("id")) if has_id else None,
        fingerprint=_fingerprint(f"{place}.body", given["body"]) if "body" in given else "",
        publisher=_text(f"{place}.publisher", given.get("publisher"), ""),
        source=_one_of(f"{place}.source", given.get("source") or LIVE, SOURCES),
        until=_time(f"{place}.until", given.get("until")) if form == HOLE else 0,
    )


def _head(place: str, given: Members, only: str | None) -> Head:
    head = given.get("head")
    return Head(
        _time(f"{place}.sampled_at", given.get("sampled_at")),
        _text(f"{place}.installation", given.get("installation"), ""),
        _text(f"{place}.bus", given.get("bus"), only),
        _text(f"{place}.node", given.get("node"), ""),
        _epoch(f"{place}.epoch", given.get("epoch")),
        # A counter that is absent reads as 0 (reference/events-and-loops.md section 4).
        0 if head is None else _whole(f"{place}.head", head),
        _text(f"{place}.channel", given.get("channel"), ""),
    )


def _time(place: str, given: object) -> int:
    """Read a time; what is no number, infinite or out of any calendar compares as too far."""
    if isinstance(given, int | float) and not isinstance(given, bool) and abs(given) <= _FARTHEST:
        return round(given * SECOND)
    raise BadStream(f"{place}: send a time in seconds as a number")


def _text(place: str, given: object, default: str | None) -> str:
    if given is None and default is not None:
        return default
    if not isinstance(given, str):
        raise BadStream(f"{place}: send a text")
    return given


def _one_of(place: str, given: object, words: tuple[str, ...]) -> str:
    if not isinstance(given, str) or given not in words:
        raise BadStream(f"{place}: send one of {', '.join(words)}")
    return given


def _epoch(place: str, given: object) -> str | None:
    if given is None or isinstance(given, str):
        return given or None
    if isinstance(given, bool) or not isinstance(given, int):
        raise BadStream(f"{place}: send an epoch as text, or null for none")
    return str(given)


def _whole(place: str, given: object) -> int:
    if isinstance(given, int) and not isinstance(given, bool):
        return given
    if not isinstance(given, str) or not _WHOLE.match(given):
        raise BadStream(f"{place}: send a whole number as text")
    return int(given)


def _window(place: str, given: object) -> Window:
    if not isinstance(given, list) or len(given) != 2:
        raise BadStream(f"{place}: send [from, to] in seconds")
    return _time(f"{place}[0]", given[0]), _time(f"{place}[1]", given[1])


def _pair(place: str, given: object) -> tuple[str, str]:
    if not isinstance(given, list) or len(given) != 2:
        raise BadStream(f"{place}: send two names of one installation")
    return _text(f"{place}[0]", given[0], None), _text(f"{place}[1]", given[1], None)


def _fingerprint(place: str, body: object) -> str:
    """Name a body: equal JSON has an equal name, whatever the order of its members."""
    try:
        text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    except (RecursionError, TypeError) as error:
        raise BadStream(f"{place}: the value is nested too deeply") from error
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()[:12]).decode()
