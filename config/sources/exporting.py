"""What was applied, written as a sources file again."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from config.sources.reading import Entry
from config.sources.tables import DEFAULT

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_DEL = "\x7f"


def write(entries: Iterable[Entry]) -> str:
    """Write the sources as TOML, which reading gives back as they are."""
    return "\n".join(_table(entry) for entry in sorted(entries, key=lambda one: one.shown))


def _table(entry: Entry) -> str:
    settings = dict(entry.settings)
    if entry.target.startswith("bus:"):
        installation = entry.target.removeprefix("bus:").partition("/")[0]
        settings |= {} if installation == DEFAULT else {"installation": installation}
    lines = [f"{_key(name)} = {_value(value)}" for name, value in sorted(settings.items())]
    return "\n".join((f"[{entry.kind}.{_key(entry.name)}]", *lines, ""))


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _value(value: object) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        return _members(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value)


def _members(value: Mapping[str, Any]) -> str:
    return f"{{ {', '.join(f'{_key(n)} = {_value(v)}' for n, v in value.items())} }}"


def _text(value: str) -> str:
    # TOML's basic strings are JSON's, but for one character that must be escaped.
    return json.dumps(value, ensure_ascii=False).replace(_DEL, "\\u007f")
