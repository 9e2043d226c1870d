"""How each lane of scenario 4 comes into the ledger: by its own segments, an upload, or a tail.

The three replicas write their own segments. Our own tail is a process that listens to the Redis,
or, where there is none, a recording taken in by the same door as any other.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Protocol

from events.domain import rows
from events.domain.segments import Builder, Segment
from events.domain.times import moment
from events.integrations import recorded
from events.integrations.watched import Rows, Watched
from ledger.domain.leaf import rfc3339


class Voice(Protocol):
    """A lane as the story tells it; what its methods give are receipts to be stored now."""

    def hear(self, at: int, scope: str, message: str) -> list[bytes]: ...

    def miss(self, begin: int, end: int) -> list[bytes]: ...

    def close(self) -> list[bytes]: ...


class OwnVoice:
    """A replica that writes segments itself, in the words of its version."""

    def __init__(self, watched: Watched) -> None:
        self._rows = Rows(watched)
        self._builder = Builder(watched.lane())

    def hear(self, at: int, scope: str, message: str) -> list[bytes]:
        """Take a message; give the segment that it ended."""
        return _raw(self._builder.add(*self._rows.of_message(at, scope, message.encode())))

    def miss(self, begin: int, end: int) -> list[bytes]:
        """Take a time in which nothing was received."""
        return _raw(self._builder.add(rows.hole(begin, end, "restart")))

    def close(self) -> list[bytes]:
        """Give the segment that is open."""
        return _raw(self._builder.close())


class UploadedVoice:
    """A recording that is taken in part by part, as `bus_tail --upload` takes a file."""

    def __init__(self, watched: Watched) -> None:
        self._watched = watched
        self._lines: list[str] = []

    def hear(self, at: int, scope: str, message: str) -> list[bytes]:
        """Note a message."""
        line = {"at": rfc3339(moment(at)), "channel": scope, "message": message}
        self._lines.append(json.dumps(line))
        return []

    def miss(self, begin: int, end: int) -> list[bytes]:
        """Note a hole."""
        times = {"at": rfc3339(moment(begin)), "until": rfc3339(moment(end))}
        self._lines.append(json.dumps({**times, "hole": "restart"}))
        return []

    def close(self) -> list[bytes]:
        """Take in what was noted."""
        if self._lines:
            with tempfile.TemporaryDirectory(prefix="counterfoil-demo-") as folder:
                path = Path(folder) / "recorded.ndjson"
                path.write_text("\n".join(self._lines) + "\n", encoding="ascii")
                recorded.upload(self._watched, path, _refuse)
            self._lines.clear()
        return []


class SomebodyElse:
    """A lane that a process of its own writes: nothing is left to do here."""

    def hear(self, at: int, scope: str, message: str) -> list[bytes]:
        """Leave it."""
        return []

    def miss(self, begin: int, end: int) -> list[bytes]:
        """Leave it."""
        return []

    def close(self) -> list[bytes]:
        """Leave it."""
        return []


def _raw(segment: Segment | None) -> list[bytes]:
    return [] if segment is None else [segment.raw]


def _refuse(sentence: str) -> None:
    raise ValueError(f"The recording has a line that cannot be taken: {sentence}")
