"""Maps: how lines of a file become receipts, written as TOML (docs/how-to/import-history.md)."""

from __future__ import annotations

import hashlib
import math
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, tzinfo
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ledger.domain import words
from ledger.domain.import_values import (
    ABSENT,
    OTHERWISE,
    SET_ASIDE,
    LineFault,
    Record,
    Taken,
    Text,
    find,
    is_time_form,
    read_text,
)

FORMATS = ("csv", "ndjson", "text", "dump", "sqlite", "auto")
COVERS = ("all", "some")
LONGEST_TEXT = 64 * 1024
_TOP = frozenset(
    {
        "format",
        "delimiter",
        "columns",
        "table",
        "zone",
        "covers",
        "receipt",
        "rule",
        "rows",
        "whole",
    }
)
_RULE = frozenset({"pattern", "when", "has", "receipt"})
_TAKEN = frozenset(
    {"from", "inside", "words", "otherwise", "time", "zone", "number", "add", "scale"}
)
_MEMBER = re.compile(r"[^\x00-\x1f]{1,100}")


class BadMap(ValueError):
    """The map cannot be used; the message says where and what to write instead."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A receipt that lines make which match: by pattern, by words of columns, by full columns."""

    receipt: Mapping[str, Any]
    pattern: re.Pattern[str] | None = None
    when: Mapping[str, frozenset[str]] = field(default_factory=dict)
    has: tuple[str, ...] = ()

    def make(self, record: Record) -> dict[str, Any] | None:
        """Make the receipt of a line; None for a line that the rule is not about.

        Raises LineFault for a line that it is about and that cannot be read.
        """
        if self.pattern is not None:
            match = self.pattern.search(str(record.get("line", "")))
            if match is None:
                return None
            record = {**record, **match.groupdict()}
        if not self._is_about(record):
            return None
        made = _fill(self.receipt, record)
        return made if isinstance(made, dict) else {}

    def _is_about(self, record: Record) -> bool:
        if any(find(record, name) is ABSENT for name in self.has):
            return False
        return all(_word(record, name) in wanted for name, wanted in self.when.items())

    def columns(self) -> Iterator[str]:
        """Give the columns that the rule names, but those that its own pattern finds."""
        own = set(self.pattern.groupindex) if self.pattern is not None else set()
        named = [*self.when, *self.has, *_columns(self.receipt)]
        yield from (name for name in named if name not in own)


@dataclass(frozen=True, slots=True)
class Map:
    """How one kind of file is read.

    `rows` names a reader of rows that an app brings, in place of rules; `is_whole` takes a line
    as the receipt that it is. `covers` is "some" where the file tells of a part only, so that
    its time does not count as watched.
    """

    name: str
    digest: str
    format: str
    delimiter: str = ","
    columns: tuple[str, ...] = ()
    table: str = ""
    zone_name: str = ""
    covers: str = "all"
    rules: tuple[Rule, ...] = ()
    rows: str = ""
    is_whole: bool = False

    def make(self, record: Record) -> list[dict[str, Any]]:
        """Make the receipts of a line, none for one that says nothing of interest."""
        if self.is_whole:
            return [{name: item for name, item in record.items() if name != "source"}]
        made = (rule.make(record) for rule in self.rules)
        return [one for one in made if one is not None]

    def named_columns(self) -> list[str]:
        """Return the columns that the map names, each once."""
        return list(dict.fromkeys(name for rule in self.rules for name in rule.columns()))


def read_map(text: str, name: str, zone_name: str = "") -> Map:
    """Read a map; `zone_name` stands in place of its own zone. Raises BadMap."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadMap(f"it is no TOML: {error}") from None
    _only(document, _TOP, "the map")
    zone_name = zone_name or _text_of(document, "zone", "the map")
    zone = find_zone(zone_name) if zone_name else UTC
    rules = tuple(_rules(document, zone))
    rows, is_whole = _text_of(document, "rows", "the map"), document.get("whole", False)
    if sum((bool(rules), bool(rows), is_whole is True)) != 1:
        raise BadMap("give one of [receipt], [[rule]], rows and whole = true")
    return Map(
        name=name,
        digest=hashlib.sha256(f"{zone_name}\n{text}".encode()).hexdigest(),
        format=_one_of(document, "format", FORMATS, "auto"),
        delimiter=_delimiter(document.get("delimiter", ",")),
        columns=tuple(_texts(document.get("columns", []), "columns")),
        table=_text_of(document, "table", "the map"),
        zone_name=zone_name,
        covers=_one_of(document, "covers", COVERS, "all"),
        rules=rules,
        rows=rows,
        is_whole=is_whole is True,
    )


def with_format(one: Map, found: str) -> Map:
    """Return the map for a file whose format was looked at."""
    return replace(one, format=found)


def find_zone(name: str) -> tzinfo:
    """Return a zone by its name; BadMap for one that there is not."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise BadMap(f"there is no time zone {name!r}; write one such as Europe/Berlin") from None


def _rules(document: Mapping[str, Any], zone: tzinfo) -> Iterator[Rule]:
    is_text = document.get("format") == "text"
    if "receipt" in document:
        yield Rule(_receipt(document["receipt"], zone, "[receipt]"))
    for number, raw in enumerate(_list(document.get("rule", []), "rule"), 1):
        where = f"[[rule]] {number}"
        _only(raw, _RULE, where)
        if is_text and "pattern" not in raw:
            raise BadMap(f"{where} needs a pattern, since the format is text")
        when = _object(raw.get("when", {}), f"{where}, when")
        yield Rule(
            receipt=_receipt(raw.get("receipt"), zone, where),
            pattern=_pattern(raw["pattern"], where) if "pattern" in raw else None,
            when={name: frozenset(_texts(wanted, f"{where}, when.{name}"))
                  for name, wanted in when.items()},
            has=tuple(_texts(raw.get("has", []), f"{where}, has")),
        )  # fmt: skip


def _receipt(raw: Any, zone: tzinfo, where: str) -> Mapping[str, Any]:
    receipt = _object(raw, f"{where}, receipt")
    if "kind" not in receipt:
        raise BadMap(f'{where} makes a receipt without a kind; write kind = "done" or the like')
    kind = receipt["kind"]
    if isinstance(kind, str) and "{" not in kind and kind not in words.KIND_WORDS:
        raise BadMap(f"{where}: {kind!r} is no kind; there are {', '.join(words.KIND_WORDS)}")
    if "source" in receipt:
        raise BadMap(f"{where} names a source; that is given by --source")
    compiled = {name: _compile(item, zone, f"{where}, {name}") for name, item in receipt.items()}
    if isinstance(compiled.get("occurred_at"), Text):
        compiled["occurred_at"] = Taken(compiled["occurred_at"], times=("rfc3339",), zone=zone)
    return compiled


def _compile(raw: Any, zone: tzinfo, where: str) -> Any:
    """Make of a template what `_fill` reads: texts, values to work on, and constants."""
    if isinstance(raw, str):
        return _template(raw, where) if "{" in raw or "}" in raw else raw
    if isinstance(raw, Mapping) and "from" in raw and raw.keys() <= _TAKEN:
        return _taken(raw, zone, where)
    if isinstance(raw, Mapping):
        return {name: _compile(item, zone, f"{where}.{name}") for name, item in raw.items()}
    if isinstance(raw, list):
        return [_compile(item, zone, where) for item in raw]
    if isinstance(raw, bool | int) or (isinstance(raw, float) and math.isfinite(raw)):
        return raw
    raise BadMap(f"{where} is no text, number, table or list; write a date in quotes")


def _taken(raw: Mapping[str, Any], zone: tzinfo, where: str) -> Taken:
    times = raw.get("time", [])
    named = ["rfc3339"] if times is True else _texts(times, f"{where}, time")
    for form in named:
        if not is_time_form(form):
            raise BadMap(f"{where}: {form!r} is no form of a time; write rfc3339, unix, unix_ms, "
                         "unix_us or one such as %d.%m.%Y %H:%M:%S")  # fmt: skip
    own_zone = _text_of(raw, "zone", where)
    return Taken(
        source=_template(_text_of(raw, "from", where), where),
        inside=_text_of(raw, "inside", where),
        words=_object(raw["words"], f"{where}, words") if "words" in raw else None,
        otherwise=_one_of(raw, "otherwise", OTHERWISE, SET_ASIDE),
        times=tuple(named),
        zone=find_zone(own_zone) if own_zone else zone,
        is_number=raw.get("number", False) is True or "add" in raw or "scale" in raw,
        add=_decimal(raw.get("add", 0), where),
        scale=_decimal(raw.get("scale", 1), where),
    )


def _fill(template: Any, record: Record) -> Any:
    """Fill a template from a line; what comes to nothing is left out."""
    if isinstance(template, Text | Taken):
        return template.read(record)
    if isinstance(template, Mapping):
        filled = {name: _fill(item, record) for name, item in template.items()}
        kept = {name: item for name, item in filled.items() if item is not ABSENT}
        return kept if kept or not template else ABSENT
    if isinstance(template, list):
        items = [_fill(item, record) for item in template if _is_full(item, record)]
        return items or ABSENT
    return template


def _is_full(template: Any, record: Record) -> bool:
    """Tell whether an item of a list has all its columns: half a business object is none."""
    if isinstance(template, Mapping):
        return all(_is_full(item, record) for item in template.values())
    return _fill(template, record) is not ABSENT


def _columns(template: Any) -> Iterator[str]:
    if isinstance(template, Text):
        yield from template.columns
    elif isinstance(template, Taken):
        yield from template.source.columns
    elif isinstance(template, Mapping):
        for item in template.values():
            yield from _columns(item)
    elif isinstance(template, list):
        for item in template:
            yield from _columns(item)


def _word(record: Record, name: str) -> str:
    value = find(record, name)
    return "" if value is ABSENT else str(getattr(value, "token", value))


def _template(text: str, where: str) -> Text:
    try:
        return read_text(text)
    except ValueError as error:
        raise BadMap(f"{where}: {error}") from None


def _pattern(raw: Any, where: str) -> re.Pattern[str]:
    if not isinstance(raw, str) or len(raw) > LONGEST_TEXT:
        raise BadMap(f"{where}, pattern is no text")
    try:
        return re.compile(raw, re.ASCII)
    except re.error as error:
        raise BadMap(f"{where}, pattern: {error}") from None


def _delimiter(raw: Any) -> str:
    if not isinstance(raw, str) or len(raw) != 1 or raw in '"\r\n':
        raise BadMap('delimiter is one character, such as ";" or "\\t"')
    return raw


def _only(raw: Any, known: frozenset[str], where: str) -> None:
    unknown = sorted(set(_object(raw, where)) - known)
    if unknown:
        raise BadMap(f"{where} has {', '.join(unknown)}, which it does not know; "
                     f"it knows {', '.join(sorted(known))}")  # fmt: skip


def _object(raw: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(raw, Mapping):
        raise BadMap(f"{where} is missing or no table")
    for name in raw:
        if not _MEMBER.fullmatch(name):
            raise BadMap(f"{where} has a name that is empty or too long")
    return raw


def _list(raw: Any, where: str) -> list[Any]:
    if not isinstance(raw, list):
        raise BadMap(f"{where} is no list; write [[{where}]]")
    return raw


def _texts(raw: Any, where: str) -> list[str]:
    found = [raw] if isinstance(raw, str) else raw
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise BadMap(f"{where} is a text or a list of texts")
    return found


def _text_of(raw: Mapping[str, Any], name: str, where: str) -> str:
    value = raw.get(name, "")
    if not isinstance(value, str):
        raise BadMap(f"{where}, {name} is no text")
    return value


def _one_of(raw: Mapping[str, Any], name: str, allowed: tuple[str, ...], usual: str) -> str:
    value = raw.get(name, usual)
    if value not in allowed:
        raise BadMap(f"{name} is one of {', '.join(allowed)}")
    return str(value)


def _decimal(raw: Any, where: str) -> Decimal:
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        raise BadMap(f"{where}: add and scale are numbers")
    return Decimal(str(raw))


__all__ = ["BadMap", "LineFault", "Map", "Rule", "find_zone", "read_map", "with_format"]
