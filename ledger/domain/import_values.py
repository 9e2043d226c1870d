"""How a map takes a value out of a line: texts with columns in braces, words, times, numbers."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from decimal import Decimal, InvalidOperation
from typing import Any

from ledger.domain import canonical, plain
from ledger.domain.leaf import rfc3339

Record = Mapping[str, Any]
ABSENT = object()
"""What a member comes to whose columns are empty: it is left out."""

SET_ASIDE, LEFT_OUT, AS_IS = "set_aside", "absent", "as_is"
OTHERWISE = (SET_ASIDE, LEFT_OUT, AS_IS)
ECHO = 40
_PART = re.compile(r"\{\{|\}\}|\{([^{}]+)\}|[{}]")
_UNITS = {"unix": 1, "unix_ms": 1_000, "unix_us": 1_000_000}
MICROSECOND = 1_000_000


class LineFault(ValueError):
    """A line that a map cannot read; `code` is kept in the log, the message is for the terminal."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Text:
    """A text with columns in it; each part is a text, or the name of a column in a tuple.

    A column of `optional` may be lacking in the file; it then counts as empty.
    """

    parts: tuple[str | tuple[str], ...]
    optional: frozenset[str] = frozenset()

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the columns that a file must have for it."""
        named = (part[0] for part in self.parts if isinstance(part, tuple))
        return tuple(name for name in named if name not in self.optional)

    def read(self, record: Record) -> Any:
        """Return the text, ABSENT when a column is empty.

        A column that stands alone gives its value as it is, so that a number of a JSON line stays
        a number.
        """
        if len(self.parts) == 1 and isinstance(self.parts[0], tuple):
            return find(record, self.parts[0][0])
        found = [part if isinstance(part, str) else _text(record, part[0]) for part in self.parts]
        return ABSENT if None in found else "".join(part for part in found if part is not None)


def read_text(template: str) -> Text:
    """Read a text such as `order-{id}`; `{id?}` may be lacking, a brace itself is written twice.

    Raises ValueError for a brace that is not closed.
    """
    parts: list[str | tuple[str]] = []
    optional = set()
    end = 0
    for match in _PART.finditer(template):
        parts.append(template[end : match.start()])
        end = match.end()
        if match[1]:
            name = match[1].strip()
            parts.append((name.removesuffix("?"),))
            optional |= {name[:-1]} if name.endswith("?") else set()
        elif match[0] in ("{{", "}}"):
            parts.append(match[0][0])
        else:
            raise ValueError(f"{template!r} has a brace that is not closed; write {{{{ for one")
    parts.append(template[end:])
    return Text(_joined(parts), frozenset(optional))


def _joined(parts: Sequence[str | tuple[str]]) -> tuple[str | tuple[str], ...]:
    joined: list[str | tuple[str]] = []
    for part in parts:
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        elif part:
            joined.append(part)
    return tuple(joined)


def find(record: Record, column: str) -> Any:
    """Return a column's value, or that of a path such as `job.id` in a JSON line; else ABSENT."""
    value: Any = record.get(column, ABSENT)
    if value is ABSENT and "." in column:
        value = record
        for name in column.split("."):
            value = value.get(name, ABSENT) if isinstance(value, Mapping) else ABSENT
    return ABSENT if value is None or value == "" else value


def _text(record: Record, column: str) -> str | None:
    value = find(record, column)
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return None if value is ABSENT else plain.number_token(value)


@dataclass(frozen=True, slots=True)
class Taken:
    """A value that is worked on: found inside JSON, looked up, or read as a time or a number.

    `times` are the forms that a time may have, tried in order; `add` and `scale` are for numbers.
    """

    source: Text
    inside: str = ""
    words: Mapping[str, Any] | None = None
    otherwise: str = SET_ASIDE
    times: tuple[str, ...] = ()
    zone: tzinfo = UTC
    is_number: bool = False
    add: Decimal = Decimal(0)
    scale: Decimal = Decimal(1)

    def read(self, record: Record) -> Any:
        """Return the value; raises LineFault for one that the map does not provide for."""
        value = self.source.read(record)
        if self.inside and value is not ABSENT:
            value = _inside(value, self.inside)
        if self.words is not None and value is not ABSENT:
            value = self._word(value)
        if value is ABSENT:
            return ABSENT
        if self.times:
            return self._time(value)
        return self._number(value) if self.is_number else value

    def _word(self, value: Any) -> Any:
        text = value if isinstance(value, str) else plain.json_text(value)
        if self.words is not None and text in self.words:
            return self.words[text]
        if self.otherwise == SET_ASIDE:
            named = "".join(f"{{{one}}}" for one in self.source.columns)
            raise LineFault("word", f"{named} is {echo(text)}, which the map has no word for")
        return ABSENT if self.otherwise == LEFT_OUT else value

    def _time(self, value: Any) -> str:
        text = value if isinstance(value, str) else plain.json_text(value)
        at = find_time(text.strip(), self.times, self.zone)
        if at is None:
            wanted = ", ".join(self.times)
            raise LineFault("time", f"{echo(text)} is no time in the form {wanted}")
        return rfc3339(at)

    def _number(self, value: Any) -> canonical.Number:
        text = value.strip() if isinstance(value, str) else plain.json_text(value)
        try:
            number = Decimal(text)
            if not number.is_finite() or abs(number.adjusted()) > 30:
                raise InvalidOperation
        except InvalidOperation:
            raise LineFault("number", f"{echo(text)} is no number") from None
        return canonical.Number(f"{(number + self.add) * self.scale:f}")


def _inside(value: Any, path: str) -> Any:
    """Look into a column that holds JSON; what is no JSON has nothing inside."""
    if isinstance(value, str):
        try:
            value = canonical.parse(value.encode("utf-8", "replace"))
        except canonical.NotCanonical:
            return ABSENT
    found = find(value, path) if isinstance(value, Mapping) else ABSENT
    return found if isinstance(found, str) or plain.number_token(found) else ABSENT


def find_time(text: str, forms: Sequence[str], zone: tzinfo) -> datetime | None:
    """Return a time in UTC by the first form that fits; one that names no zone is in `zone`.

    Of an hour that a clock goes through twice the first is meant.
    """
    for form in forms:
        at = _time(text, form)
        if at is not None:
            at = at if at.tzinfo is not None else at.replace(tzinfo=zone)
            try:
                return at.astimezone(UTC)
            except OverflowError:
                return None
    return None


def _time(text: str, form: str) -> datetime | None:
    try:
        if form == "rfc3339":
            return datetime.fromisoformat(text)
        if form in _UNITS:
            microseconds = int(Decimal(text) * (MICROSECOND // _UNITS[form]))
            seconds, rest = divmod(microseconds, MICROSECOND)
            return datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest)
        return datetime.strptime(text, form)  # noqa: DTZ007
    except (ValueError, OverflowError, InvalidOperation, OSError):
        return None


def is_time_form(form: str) -> bool:
    """Tell whether a text names a form of times: rfc3339, unix, unix_ms, unix_us, or one with %."""
    return form == "rfc3339" or form in _UNITS or "%" in form


def echo(text: str) -> str:
    """Show the beginning of a value, for the terminal."""
    return json.dumps(text if len(text) <= ECHO else f"{text[:ECHO]}…", ensure_ascii=True)
