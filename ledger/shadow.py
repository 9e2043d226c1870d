"""Tables beside the live ones, of the same names, that one connection sees instead of them.

Both databases look for a name among temporary tables first, so the projectors write into the
shadows without knowing. Nothing of the live tables is locked or touched.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from django.db import connection

from kit.db import is_postgresql

_CREATE = re.compile(r"^CREATE (TABLE|INDEX|UNIQUE INDEX) ", re.IGNORECASE)


@contextmanager
def shadows(tables: Sequence[str]) -> Iterator[None]:
    """Put an empty shadow before each table while the block runs."""
    try:
        for table in tables:
            for statement in _statements(table):
                _execute(statement)
        yield
    finally:
        for table in tables:
            _execute(f"DROP TABLE IF EXISTS {shadow_name(table)}")


def live_name(table: str) -> str:
    """Name the live table, past its shadow."""
    return f'{"public" if is_postgresql() else "main"}."{table}"'


def shadow_name(table: str) -> str:
    """Name the shadow alone, never the live table."""
    return f'{"pg_temp" if is_postgresql() else "temp"}."{table}"'


def _statements(table: str) -> Iterable[str]:
    if is_postgresql():
        yield f'CREATE TEMPORARY TABLE "{table}" (LIKE {live_name(table)} INCLUDING ALL)'
        return
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT sql FROM main.sqlite_master WHERE tbl_name = %s AND sql IS NOT NULL "
            "AND type IN ('table', 'index') ORDER BY type DESC",
            [table],
        )
        found = [sql for (sql,) in cursor.fetchall()]
    for sql in found:
        yield _CREATE.sub(_temporary, sql)


def _temporary(match: re.Match[str]) -> str:
    """Have SQLite make a table or an index in its temporary schema."""
    what = match[1].upper()
    return "CREATE TEMPORARY TABLE " if what == "TABLE" else f"CREATE {what} temp."


def _execute(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)
