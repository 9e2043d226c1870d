"""The sources file: TOML with a table for each source, checked before anything is done.

`[bus.NAME]` and `[oban.NAME]` are watched today. Other tables are named, so that nobody takes what
is in the file for what is watched.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from config.sources import tables

BUS, OBAN = "bus", "oban"
READERS = {BUS: tables.read_bus, OBAN: tables.read_oban}


class BadFile(ValueError):
    """The sources file cannot be used; the message names each fault on a line of its own."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One source: its table's kind and name, what acts call it, and its settings as JSON."""

    kind: str
    name: str
    target: str
    settings: Mapping[str, Any]

    @property
    def shown(self) -> str:
        """Name its table as the file does."""
        return f"{self.kind}.{self.name}"


@dataclass(frozen=True, slots=True)
class Sources:
    """What a file names: sources by target, and tables that nothing watches yet."""

    entries: Mapping[str, Entry]
    unwatched: tuple[str, ...] = ()


def read(text: str) -> Sources:
    """Read a sources file; raises BadFile."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadFile(f"no TOML: {error}") from error
    faults: list[str] = []
    entries: dict[str, Entry] = {}
    for kind, tables_of_kind in document.items():
        if kind in READERS and not isinstance(tables_of_kind, dict):
            faults.append(f"{kind}: holds no tables; write [{kind}.NAME]")
        elif kind in READERS:
            _read_kind(kind, tables_of_kind, entries, faults)
    if faults:
        raise BadFile("\n".join(faults))
    return Sources(entries, tuple(_unwatched(document)))


def _read_kind(
    kind: str, found: Mapping[str, Any], entries: dict[str, Entry], faults: list[str]
) -> None:
    for name, table in found.items():
        if not isinstance(table, dict):
            faults.append(f"{kind}.{name}: is no table; write [{kind}.{name}]")
            continue
        try:
            target, settings = READERS[kind](name, table)
        except ValueError as error:
            faults.append(str(error))
            continue
        entries[target] = Entry(kind, name, target, settings)


def _unwatched(document: Mapping[str, Any]) -> list[str]:
    names = []
    for kind, found in document.items():
        if kind in READERS:
            continue
        inner = [name for name, table in found.items() if isinstance(table, dict)] if isinstance(
            found, dict) else []  # fmt: skip
        names += [f"{kind}.{name}" for name in inner] or [kind]
    return names
