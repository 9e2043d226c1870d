"""What the forwarder remembers of a spool between two requests, in a file beside it.

The file is written after each answer and never synced: when it is lost or too old, lines are sent
again, under the same numbers, and the ledger answers that it has them.
"""

from __future__ import annotations

import contextlib
import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from counterfoil import regular


@dataclass
class SpoolState:
    """Progress of one spool: what number comes next, and where in which file it stands.

    `current` is the number of the first line of the file being sent, 0 when none is begun.
    """

    spool: str
    next_number: int = 1
    sent: int = 0
    dropped: int = 0
    current: int = 0
    offset: int = 0
    end: str = "in_order"

    def begin_file(self, first: int | None) -> None:
        """Take up a file whose first line has that number, or the next one when it says none."""
        number = first or self.next_number
        if self.current and (first is None or self.current == number):
            return
        # The numbers in a hole were given to lines that were lost before they could be sent.
        self.dropped += max(0, number - self.next_number)
        self.next_number = self.current = number
        self.offset = 0

    def advance(self, lines: int, offset: int) -> None:
        """Count lines as answered."""
        self.next_number += lines
        self.sent += lines
        self.offset = offset

    def end_file(self) -> None:
        """Leave the file: every line of it has an answer."""
        self.current = self.offset = 0


def load(path: Path, spool: str) -> SpoolState:
    """Read the state, or begin a new one when there is none that can be read.

    Raises Unreadable where a directory lies in its place.
    """
    try:
        found = json.loads(regular.read_bytes(path))
        return SpoolState(**{f.name: _typed(found[f.name], f.default) for f in fields(SpoolState)})
    except regular.Unreadable:
        # Anything else is written over by the next state; of this the same would be sent for ever.
        if path.is_dir():
            raise
        return SpoolState(spool)
    except (OSError, ValueError, KeyError, TypeError):
        return SpoolState(spool)


def save(path: Path, state: SpoolState) -> None:
    """Write the state so that a reader sees the old one or the new one."""
    # One name for all: there is one forwarder at a time, and what a crash leaves is written over.
    made = path.with_name(f".{path.name}.new")
    regular.write_bytes(made, json.dumps(asdict(state)).encode())
    made.replace(path)


def remove(path: Path) -> None:
    """Forget the spool."""
    with contextlib.suppress(FileNotFoundError):
        path.unlink()


def _typed(value: Any, default: Any) -> Any:
    wanted = int if isinstance(default, int) else str
    if type(value) is not wanted:
        raise TypeError(value)
    return value
