"""How many equal lines came before each line of a file, in memory that does not grow with it."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence


class Repeats:
    """Counts lines by 64 bits of their digests, in a private database that spills to the disk.

    A dict of the lines of a log of a gigabyte would take about as much memory as the log.
    """

    def __init__(self) -> None:
        """Make the database; it is gone when it is closed."""
        self._database = sqlite3.connect("", isolation_level=None)
        for statement in (
            "PRAGMA journal_mode = OFF",
            "PRAGMA synchronous = OFF",
            "PRAGMA cache_size = -16000",
            "CREATE TABLE seen (line INTEGER PRIMARY KEY, times INTEGER NOT NULL)",
        ):
            self._database.execute(statement)

    def close(self) -> None:
        """Drop what was counted."""
        self._database.close()

    def take(self, digests: Sequence[bytes]) -> list[int]:
        """Return for each of some lines, in their order, how many equal ones came before."""
        keys = [int.from_bytes(digest[:8], "big", signed=True) for digest in digests]
        before = self._before(keys)
        ordinals, added = [], Counter[int]()
        for key in keys:
            ordinals.append(before.get(key, 0) + added[key])
            added[key] += 1
        self._database.execute("BEGIN")
        self._database.executemany(
            "INSERT INTO seen VALUES (?, ?) "
            "ON CONFLICT (line) DO UPDATE SET times = times + excluded.times",
            sorted(added.items()),
        )
        self._database.execute("COMMIT")
        return ordinals

    def _before(self, keys: Sequence[int]) -> dict[int, int]:
        found: dict[int, int] = {}
        for start in range(0, len(keys), 500):
            part = keys[start : start + 500]
            marks = ", ".join("?" * len(part))
            query = f"SELECT line, times FROM seen WHERE line IN ({marks})"  # noqa: S608
            found.update(self._database.execute(query, part).fetchall())
        return found
