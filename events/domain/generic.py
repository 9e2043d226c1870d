"""Any JSON bus, read by the paths that a person named.

Source: contract section 10; reference/events-and-loops.md section 4 for the forms.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterable
from typing import Any, NoReturn

from events.domain import conditions, go_json, json_paths, json_spans
from events.domain.bus_members import PREFIXED
from events.domain.bus_settings import BusSettings
from events.domain.decoded import Answer, Decoded, Frame, Reject
from events.domain.json_paths import Path
from events.domain.json_spans import NotJson

LONGEST_ID = 39
"""Digits of a number of 128 bits; longer ones are no counter's."""
_INTEGER = re.compile(r"[+-]?[0-9]+")
_ENTRY = re.compile(r"([0-9]{1,13})-([0-9]{1,7})")
ENTRIES_A_MS = 2**18 - 1
"""More entries than a stream takes in a millisecond. A power of two would make nearly all ids
divisible by 256, which is how ids look that went through doubles; and with more of them, ids would
be as large as those that carry the start of a process (from 2^59 on) before 2039."""


class Reader:
    """Decodes the messages of one generic bus; never raises for any bytes."""

    def __init__(self, settings: BusSettings) -> None:
        self.form = settings.form
        self.id = _path(settings.id)
        self.epoch = _path(settings.epoch)
        self.channel = _path(settings.channel) if settings.channel.startswith("$") else None
        self.part = json_paths.channel_part(settings.channel)
        self.is_frame = conditions.parse(settings.heartbeat) if settings.heartbeat else None

    def decode(self, channel: str, raw: bytes) -> Answer:
        """Read a message that came on a channel."""
        parts = raw.split(b"|", 2) if self.form == PREFIXED and raw[:1] != b"{" else []
        if len(parts) == 3:
            return self._prefixed(channel, parts)
        text = go_json.text_of(raw)
        value, is_plain = parse(text)
        if value is None:
            return Reject("json")
        if self.is_frame is not None and self.is_frame(value):
            return Frame(text)
        return self._message(channel, raw, text, value, is_plain, self._number(value))

    def entry(self, stream: str, entry: str, pairs: Iterable[tuple[bytes, bytes]]) -> Answer:
        """Read an entry of a Redis stream; without a path its own id is the number.

        Its milliseconds are multiplied and its counter is added: so it fits 64 bits and keeps its
        order.
        """
        fields = {go_json.text_of(name): go_json.text_of(value) for name, value in pairs}
        if self.is_frame is not None and self.is_frame(fields):
            return Frame(json.dumps(fields, ensure_ascii=False))
        number = _entry_number(entry) if self.id is None else self._number(fields)
        text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
        return self._message(stream, text.encode(), text, fields, True, number)

    def _prefixed(self, channel: str, parts: list[bytes]) -> Answer:
        if not parts[0]:
            return Reject("empty_epoch")
        number = go_json.parse_int64(parts[1])
        if number is None:
            return Reject("id_not_integer")
        text = go_json.text_of(parts[2])
        value, is_plain = parse(text)
        if value is None:
            return Reject("json")
        epoch = parts[0].decode("utf-8", "backslashreplace")
        scope = self._scope(channel, value)
        if isinstance(scope, Reject):
            return scope
        known = value if is_plain and isinstance(value, dict) else None
        return Decoded(epoch, number, scope, parts[2], text, _kind(value), None, known)

    def _message(
        self, channel: str, raw: bytes, text: str, value: Any, is_plain: bool, number: int | Reject
    ) -> Answer:
        epoch = None if self.epoch is None else _epoch(json_paths.find(value, self.epoch))
        scope = self._scope(channel, value)
        if isinstance(number, Reject):
            return number
        if isinstance(epoch, Reject):
            return epoch
        if isinstance(scope, Reject):
            return scope
        known = value if is_plain and isinstance(value, dict) else None
        return Decoded(epoch, number, scope, raw, text, _kind(value), None, known)

    def _number(self, value: Any) -> int | Reject:
        found = None if self.id is None else json_paths.find(value, self.id)
        if found is None:
            return Reject("id_missing")
        return _integer(str(found)) if isinstance(found, int | str) else Reject("id_not_integer")

    def _scope(self, channel: str, value: Any) -> str | Reject:
        if self.part is not None:
            parts = channel.split(":")
            return parts[self.part] if self.part < len(parts) else channel
        if self.channel is None:
            return channel
        found = json_paths.find(value, self.channel)
        if isinstance(found, bool) or not isinstance(found, str | int):
            return Reject("channel_not_text")
        return str(found)


def _path(text: str) -> Path | None:
    return json_paths.parse(text) if text else None


def _kind(value: Any) -> str:
    kind = value.get("type") if isinstance(value, dict) else None
    return kind if isinstance(kind, str) else ""


def _integer(text: str) -> int | Reject:
    if _INTEGER.fullmatch(text) is None:
        return Reject("id_not_integer")
    digits = text.lstrip("+-").lstrip("0") or "0"
    if len(digits) > LONGEST_ID:
        return Reject("id_out_of_range")
    return -int(digits) if text[0] == "-" else int(digits)


def _epoch(found: Any) -> str | Reject | None:
    if found is None or found == "":
        return None
    if isinstance(found, bool) or not isinstance(found, str | int):
        return Reject("epoch_not_text")
    return str(found)


def _entry_number(entry: str) -> int | Reject:
    found = _ENTRY.fullmatch(entry)
    if found is None:
        return Reject("id_not_integer")
    ms, counter = int(found[1]), int(found[2])
    is_in_range = counter < ENTRIES_A_MS
    return ms * ENTRIES_A_MS + counter if is_in_range else Reject("id_out_of_range")


class _Doubled(ValueError):
    """A member is named twice, so that the common reader keeps one of them."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _Doubled
    return members


def _refuse(word: str) -> NoReturn:
    raise NotJson(f"{word} is no JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_refuse)


def parse(text: str) -> tuple[Any, bool]:
    """Return the value of a JSON text and whether it names each member once; None for no JSON."""
    with contextlib.suppress(ValueError):
        if not json_spans.may_be_deep(text):
            return _DECODER.decode(text), True
    try:
        return json_spans.value_of(text, json_spans.read(text)), False
    except NotJson:
        return None, False
