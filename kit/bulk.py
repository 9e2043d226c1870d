"""Many rows at once, in the fastest way that each database has.

Values are what the driver takes: bytes, text, numbers, None, UUID and aware datetimes; the two
databases' own forms of the last two are made here.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from itertools import chain, islice
from typing import Any

from django.db import connection

from kit.db import is_postgresql

Row = Sequence[Any]
# Below this a COPY's own round trip costs more than it saves.
_COPY_FROM = 8
_ARRAY_FROM = 20
# The columns of `insert_new` on PostgreSQL, by what their first row holds.
_ARRAYS = {int: "bigint[]", str: "text[]", bytes: "bytea[]", uuid.UUID: "uuid[]"}
# Rows that one statement inserts on SQLite. Each statement is compiled once a connection and kept,
# at some 14 kB a row of 16 columns. Row by row takes twice the time, and gives up the interpreter's
# lock a thousand times a batch, for other threads to hold on to.
_ROWS_AT_ONCE = (100, 10, 1)


def insert_rows(table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
    """Insert rows that cannot conflict."""
    if not rows:
        return
    if is_postgresql() and len(rows) >= _COPY_FROM:
        _copy(table, columns, rows)
        return
    with connection.cursor() as cursor:
        if is_postgresql():
            cursor.executemany(_insert(table, tuple(columns), 1, "%s"), rows)
            return
        for size, parts in _parts(rows):
            cursor.executemany(_insert(table, tuple(columns), size), parts)


def insert_ignoring(table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
    """Insert rows, leaving out those whose unique key is taken."""
    insert_new(table, columns, sorted(rows, key=tuple), columns[0])


def insert_new(
    table: str, columns: Sequence[str], rows: Sequence[Row], returning: str
) -> list[Any]:
    """Insert the rows whose unique key is free, and give `returning` of those.

    The caller sorts the rows by that key: unsorted, two overlapping batches deadlock on
    PostgreSQL (design, section 2: 68 of 72, measured).
    """
    if not rows:
        return []
    if is_postgresql():
        # As columns, since psycopg takes longer to find 4,000 places than the rows take to insert.
        marks = ", ".join(f"%s::{_ARRAYS[type(value)]}" for value in rows[0])
        insert = f"INSERT INTO {table} ({_names(columns)}) SELECT * FROM unnest({marks})"  # noqa: S608
        values = [_array(column) for column in zip(*rows, strict=True)]
        return _insert_free(insert, values, returning)
    found: list[Any] = []
    for size, parts in _parts(rows):
        insert = _insert(table, tuple(columns), size)
        for part in parts:
            found += _insert_free(insert, part, returning)
    return found


def select_in(
    statement: str, fixed: Sequence[Any], values: Iterable[Any], size: int = 5_000
) -> list[tuple[Any, ...]]:
    """Run a SELECT whose `{values}` stands for a list that may be longer than one statement.

    The list comes last in the statement; bytes come back as bytes on both databases.
    """
    rows: list[tuple[Any, ...]] = []
    wanted = list(values)
    for start in range(0, len(wanted), size):
        chunk = wanted[start : start + size]
        with connection.cursor() as cursor:
            cursor.execute(*_listing(statement, fixed, chunk))
            rows.extend(cursor.fetchall())
    return rows


def _listing(statement: str, fixed: Sequence[Any], chunk: list[Any]) -> tuple[str, list[Any]]:
    """Write a list into a statement; PostgreSQL takes a long one as one array.

    The driver would look for a thousand places in the text, which takes longer than the look-up.
    """
    if is_postgresql() and len(chunk) >= _ARRAY_FROM:
        as_array = statement.replace("IN ({values})", "= ANY({values})")
        return as_array.format(values="%s"), [*fixed, chunk]
    marks = ", ".join(["%s"] * len(chunk))
    return statement.format(values=marks), [*adapt(fixed), *adapt(chunk)]


def delete_in(
    statement: str, fixed: Sequence[Any], values: Iterable[Any], size: int = 5_000
) -> None:
    """Run a DELETE whose `{values}` stands for a list that may be longer than one statement."""
    wanted = list(values)
    for start in range(0, len(wanted), size):
        chunk = wanted[start : start + size]
        marks = ", ".join(["%s"] * len(chunk))
        with connection.cursor() as cursor:
            cursor.execute(statement.format(values=marks), [*adapt(fixed), *adapt(chunk)])


def select_rows(statement: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Run a SELECT; bytes come back as bytes on both databases."""
    with connection.cursor() as cursor:
        cursor.execute(statement, adapt(parameters))
        return list(cursor.fetchall())


def iter_chunks(
    statement: str, parameters: Sequence[Any], size: int
) -> Iterator[list[tuple[Any, ...]]]:
    """Run a SELECT of very many rows and give them by the chunk, without holding them all.

    PostgreSQL sends on while a chunk is worked on; a cursor on its side would wait to be asked,
    which took twice as long for a million rows (measured).
    """
    if not is_postgresql():
        with connection.chunked_cursor() as chunked:
            chunked.execute(statement, adapt(parameters))
            while rows := chunked.fetchmany(size):
                yield rows
        return
    # Django translates the driver's errors for `execute` only.
    with connection.wrap_database_errors, connection.cursor() as cursor:
        streamed = cursor.stream(statement, adapt(parameters), size=size)
        while rows := list(islice(streamed, size)):
            yield rows


def update_rows(statement: str, rows: Sequence[Row]) -> None:
    """Run one statement for each row of parameters."""
    if not rows:
        return
    with connection.cursor() as cursor:
        cursor.executemany(statement, adapt_rows(rows))


def as_uuid(value: object) -> uuid.UUID:
    """Read a UUID as either database gives it to a plain cursor."""
    return value if isinstance(value, uuid.UUID) else uuid.UUID(str(value))


def as_time(value: Any) -> datetime:
    """Read a time as either database gives it to a plain cursor."""
    if isinstance(value, datetime):
        return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)
    return datetime.fromisoformat(str(value)).replace(tzinfo=UTC)


def adapt(row: Iterable[Any]) -> list[Any]:
    """Give values in the form that the driver of this database takes."""
    return list(row) if is_postgresql() else _for_sqlite(row)


def adapt_rows(rows: Sequence[Row]) -> Sequence[Row]:
    """Give many rows in the form that the driver of this database takes."""
    # Asking the connection for its kind once a row would cost more than the rest.
    return rows if is_postgresql() else [_for_sqlite(row) for row in rows]


@lru_cache(maxsize=256)
def _insert(table: str, columns: tuple[str, ...], size: int, mark: str = "?") -> str:
    """Write the statement for so many rows; the driver finds its compiled form by the text."""
    one = f"({', '.join([mark] * len(columns))})"
    return f"INSERT INTO {table} ({_names(columns)}) VALUES {', '.join([one] * size)}"  # noqa: S608


def _parts(rows: Sequence[Row]) -> Iterator[tuple[int, list[Row]]]:
    """Give the values of so many rows at once, in order, as long as so many are left."""
    start = 0
    for size in _ROWS_AT_ONCE:
        end = len(rows) - (len(rows) - start) % size
        if end > start:
            starts = range(start, end, size)
            yield size, [_for_sqlite(chain.from_iterable(rows[at : at + size])) for at in starts]
        start = end


def _array(column: Sequence[Any]) -> object:
    """Write an array of ids or digests, which the driver does one by one in Python."""
    if isinstance(column[0], uuid.UUID):
        texts = [one.hex for one in column]
    elif isinstance(column[0], bytes):
        texts = [rf'"\\x{one.hex()}"' for one in column]
    else:
        return list(column)
    return "{" + ",".join(texts) + "}"


def _insert_free(insert: str, values: Sequence[Any], returning: str) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(f"{insert} ON CONFLICT DO NOTHING RETURNING {returning}", values)
        return [value for (value,) in cursor.fetchall()]


def _copy(table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
    statement = f"COPY {table} ({_names(columns)}) FROM STDIN"
    # Django translates the driver's errors for `execute` only.
    with (
        connection.wrap_database_errors,
        connection.cursor() as cursor,
        cursor.copy(statement) as copy,
    ):
        for row in rows:
            copy.write_row(row)


def _names(columns: Sequence[str]) -> str:
    return ", ".join(f'"{column}"' for column in columns)


def _for_sqlite(row: Iterable[Any]) -> list[Any]:
    forms = _SQLITE_FORMS
    return [forms[kind](value) if (kind := type(value)) in forms else value for value in row]


# The receipts of a batch arrive at one moment.
@lru_cache(maxsize=256)
def _naive(value: datetime) -> str:
    return value.astimezone(UTC).replace(tzinfo=None).isoformat(" ")


# As Django's own backend writes them: UUIDs as 32 digits, times as naive UTC text.
_SQLITE_FORMS: dict[type, Callable[[Any], Any]] = {
    uuid.UUID: lambda value: f"{value.int:032x}",
    datetime: _naive,
}
