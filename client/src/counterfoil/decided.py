"""What is decided of the tallies of a spool directory, in its file `tallies.json`."""

from __future__ import annotations

import json
import logging
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from counterfoil import alive, names, regular
from counterfoil.planning import Round
from counterfoil.tails import Position

log = logging.getLogger("counterfoil")

NAME = "tallies.json"
_NUMBERS = ("next_number", "outcomes", "lost")


@dataclass(frozen=True)
class Decided:
    """The tallies' spool, its next number, all outcomes so far, and how far each journal is read.

    `lost` outcomes were given up for want of room; each took a number.
    """

    stem: str
    next_number: int = 1
    outcomes: int = 0
    lost: int = 0
    journals: Mapping[str, Position] = field(default_factory=dict)

    def position(self, stem: str) -> Position:
        """Give how far a journal is read."""
        return self.journals.get(stem, Position())

    def path(self, directory: Path, first: int, ending: str) -> Path:
        """Give the path of the file of tallies that begins with a number."""
        name, pid, start = self.stem.rsplit(".", 2)
        file = names.SpoolFile(name, int(pid), start, ending, names.TALLIES, first)
        return directory / file.filename

    def after(self, planned: Round) -> Decided:
        """Give what is decided when a round is: its lines take the numbers after what was lost."""
        journals = {**self.journals, **planned.journals}
        lost = sum(at.lost - self.position(stem).lost for stem, at in planned.journals.items())
        return Decided(
            self.stem,
            self.next_number + lost + len(planned.lines),
            self.outcomes + planned.outcomes,
            self.lost + lost,
            journals,
        )

    def without(self, stems: list[str]) -> Decided:
        """Forget journals that are done with."""
        return replace(self, journals={s: p for s, p in self.journals.items() if s not in stems})


def load(directory: Path, *, repairs: bool = False) -> Decided:
    """Read what is decided; with no file, a new spool of tallies begins.

    A file that cannot be read is put aside where this one `repairs`, which only a composer may.
    Raises Unreadable where it is there and may not be read: to begin anew would tally twice.
    """
    path = directory / NAME
    try:
        return _read(json.loads(regular.read_bytes(path)))
    except FileNotFoundError:
        return _new()
    except (regular.NotRegular, ValueError, KeyError, TypeError, AttributeError):
        if repairs:
            log.warning("%s cannot be read and was put aside; tallies begin anew", path)
            path.replace(path.with_suffix(".bad"))
        return _new()


def save(directory: Path, decided: Decided) -> None:
    """Decide: after this, crash or not, it is so."""
    journals = {stem: list(position) for stem, position in decided.journals.items()}
    made = directory / f".{NAME}.new"
    # Synced, unlike the other files here: after a loss of power an old one would have the same
    # outcomes tallied twice.
    write_synced(made, json.dumps({**decided.__dict__, "journals": journals}).encode())
    made.replace(directory / NAME)


def write_synced(path: Path, data: bytes) -> None:
    """Write a file so that it is on disk."""
    fd = regular.create(path)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]
        os.fsync(fd)
    finally:
        os.close(fd)


def _new() -> Decided:
    token = secrets.token_hex(5)
    return Decided(f"tallies-{names.TALLIES}-{token}.{os.getpid()}.{alive.own_start()}")


def _read(found: Any) -> Decided:
    journals = {stem: Position(*map(int, at)) for stem, at in found["journals"].items()}
    stem = found["stem"]
    file = names.parse(stem.replace(".", "+1.", 1) + ".ready")
    if file is None or file.level != names.TALLIES or file.stem != stem:
        raise ValueError(stem)
    next_number, outcomes, lost = (int(found[name]) for name in _NUMBERS)
    return Decided(stem, next_number, outcomes, lost, journals)
