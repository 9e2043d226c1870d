"""Rows of a table in a SQLite file, read and never written."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

MAGIC = b"SQLite format 3\x00"
FETCH = 500
Fields = list[str | None]


class NoTable(LookupError):
    """There is no such table in the file; the message names those that are there."""


def iter_rows(path: Path, table: str) -> Iterator[tuple[list[str], Fields]]:
    """Give columns and fields of each row, in the order in which the rows were written.

    Bytes, such as pickled results, come out as nothing. Raises NoTable, and sqlite3.Error for a
    file that cannot be read.
    """
    address = f"file:{quote(str(path.resolve()))}?mode=ro"
    with closing(sqlite3.connect(address, uri=True)) as database:
        database.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
        names = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name"
        tables = [name for (name,) in database.execute(names)]
        if table not in tables:
            raise NoTable(f"has no table {table or 'that the map names'}; it has "
                          f"{', '.join(tables[:30]) or 'none'}")  # fmt: skip
        quoted = table.replace('"', '""')
        cursor = database.execute(f'SELECT * FROM "{quoted}"')  # noqa: S608
        columns = [one[0] for one in cursor.description]
        while rows := cursor.fetchmany(FETCH):
            for row in rows:
                yield columns, [_text(value) for value in row]


def _text(value: object) -> str | None:
    return None if value is None or isinstance(value, bytes) else str(value)
