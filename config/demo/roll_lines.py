"""What scenario 4 saw, line by line: what each lane received, what was told, what was provoked.

A run on a real Redis makes the lines; written down as NDJSON they are the recording for machines
without one. Times are microseconds after the start, so that a recording can be told as of now.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ACTIVITY, WATCH = "activity", "watch"
OURS, THEIRS = "ours", "theirs"
"""The installation that rolls, and one that shares its namespace by mistake for a moment."""


@dataclass(frozen=True, slots=True)
class Heard:
    """A message as some lanes received it; `scope` is its workspace, or the watch bus's channel."""

    at: int
    lanes: tuple[str, ...]
    scope: str
    message: str
    bus: str = ACTIVITY
    installation: str = OURS


@dataclass(frozen=True, slots=True)
class Away:
    """A time in which a lane's replica was not running."""

    at: int
    until: int
    lane: str


@dataclass(frozen=True, slots=True)
class Told:
    """A receipt that an instance posted, without its names and times."""

    at: int
    what: str
    body: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Provoked:
    """What the rig did, which the ledger has to find: a code on a lane, or once for a whole bus.

    `missed` are the ids that a client missed by an answer.
    """

    at: int
    code: str
    lane: str
    bus: str = ACTIVITY
    missed: tuple[str, ...] = ()


Line = Heard | Away | Told | Provoked
_KINDS: dict[str, type[Line]] = {one.__name__.lower(): one for one in (Heard, Away, Told, Provoked)}


def write(path: Path, lines: Iterable[Line]) -> None:
    """Write a recording."""
    texts = (json.dumps(_as_json(one), separators=(",", ":")) + "\n" for one in lines)
    path.write_text("".join(texts), encoding="ascii")


def read(path: Path) -> Iterator[Line]:
    """Read a recording."""
    for text in path.read_text(encoding="ascii").splitlines():
        members = json.loads(text)
        kind = _KINDS[members.pop("line")]
        listed = {name: tuple(one) for name, one in members.items() if isinstance(one, list)}
        yield kind(**members | listed)


def _as_json(line: Line) -> dict[str, Any]:
    usual = {"bus": ACTIVITY, "installation": OURS, "missed": ()}
    told = {name: value for name, value in asdict(line).items() if usual.get(name) != value}
    return {"line": type(line).__name__.lower(), **told}
