"""A sources file against what was applied, and against what is in use without either."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from config.sources.reading import Entry, Sources


@dataclass(frozen=True, slots=True)
class Comparison:
    """What differs: sources that are new or other than before, and those that the file lacks."""

    new: tuple[Entry, ...]
    changed: tuple[tuple[Entry, Entry], ...]
    absent: tuple[Entry, ...]
    unnamed: tuple[str, ...]
    unwatched: tuple[str, ...]

    @property
    def differs(self) -> bool:
        """Tell whether applying the file would change anything."""
        return bool(self.new or self.changed)

    @property
    def to_apply(self) -> list[Entry]:
        """List the sources that applying would set."""
        return [*self.new, *(after for _, after in self.changed)]

    def lines(self) -> Iterator[str]:
        """Tell it, one line for each thing."""
        for entry in self.new:
            yield f"+ {entry.shown}: is not applied yet"
        for before, after in self.changed:
            yield f"~ {after.shown}: {'; '.join(_changes(before.settings, after.settings))}"
        for entry in self.absent:
            yield f"  {entry.shown}: was applied and is not in the file; it stays as it is"
        for name in self.unnamed:
            yield f"  {name}: is in use and is not in the file"
        for name in self.unwatched:
            yield f"  {name}: is not watched by this version"


def compare(
    sources: Sources, applied: Mapping[str, Entry], in_use: Iterable[tuple[str, str]]
) -> Comparison:
    """Compare a file with what was applied; `in_use` gives targets with the words for them."""
    wanted = sources.entries
    known = wanted.keys() | applied.keys()
    return Comparison(
        new=tuple(one for target, one in wanted.items() if target not in applied),
        changed=tuple(
            (applied[target], one)
            for target, one in wanted.items()
            if target in applied and applied[target].settings != one.settings
        ),
        absent=tuple(one for target, one in applied.items() if target not in wanted),
        unnamed=tuple(shown for target, shown in in_use if target not in known),
        unwatched=sources.unwatched,
    )


def _changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name), after.get(name)
        if old != new:
            yield f"{name} {_shown(old)} becomes {_shown(new)}"


def _shown(value: object) -> str:
    return "unset" if value is None else json.dumps(value, ensure_ascii=False, sort_keys=True)
