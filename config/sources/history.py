"""What was applied so far: a chain of acts in the log, each with all sources as it left them.

The acts are numbered, and their ids follow from their numbers, so that the newest is found at once:
without a table that could disagree with the log, and before anything is derived. The ids are keyed
with the project's secret, so that no producer can take one beforehand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from config.sources.reading import Entry
from ledger import keys
from ledger.domain import canonical, plain
from ledger.queries import on_record


@dataclass(frozen=True, slots=True)
class Applied:
    """The number of the newest act, 0 before the first, and the sources as it left them."""

    number: int = 0
    entries: Mapping[str, Entry] = field(default_factory=dict)


def load(project_id: int) -> Applied:
    """Find the newest act of applying a file."""
    number = _newest(project_id)
    raw = on_record.find_raw(project_id, act_id(project_id, number)) if number else None
    return Applied(number, _entries(raw))


def act_id(project_id: int, number: int, target: str = "") -> str:
    """Name an act: that of applying, or that of configuring one target by it."""
    return f"sources:{keys.keyed(project_id, 'sources', f'{number} {target}').hex()[:32]}"


def _newest(project_id: int) -> int:
    """Search by doubling and then by halving; the chain has no hole."""
    if not _is_there(project_id, 1):
        return 0
    there, absent = 1, 2
    while _is_there(project_id, absent):
        there, absent = absent, absent * 2
    while absent - there > 1:
        middle = (there + absent) // 2
        if _is_there(project_id, middle):
            there = middle
        else:
            absent = middle
    return there


def _is_there(project_id: int, number: int) -> bool:
    return on_record.is_there(project_id, act_id(project_id, number))


def _entries(raw: bytes | None) -> dict[str, Entry]:
    """Read the sources of an act; none where its body was erased."""
    if raw is None:
        return {}
    listed = plain.object_of(canonical.parse(raw)).get("sources")
    found: dict[str, Entry] = {}
    for target, given in plain.object_of(plain.plain(listed)).items():
        one: Mapping[str, Any] = plain.object_of(given)
        settings = plain.object_of(one.get("settings"))
        found[target] = Entry(str(one.get("kind")), str(one.get("name")), target, settings)
    return found
