"""The canonical dump of a read table, the same text on both databases.

Rows in the order of their natural key, columns by name, values as text (design, section 2).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.db import connection, models

from kit import bulk
from kit.db import is_postgresql
from ledger.domain.leaf import rfc3339

_CHUNK = 2_000


def model_of(table: str) -> type[models.Model]:
    """Give the model of a table."""
    for model in apps.get_models():
        if model._meta.db_table == table:
            return model
    raise LookupError(f"No model has the table {table}.")


@dataclass(frozen=True, slots=True)
class DumpedRow:
    """One row: its natural key, which sorts as the dump does, and its text."""

    key: tuple[Any, ...]
    text: str


def dump(table: str, source: str) -> Iterator[str]:
    """Dump a table as text; `source` is the name to read it by, live or shadow."""
    return (row.text for row in iter_rows(table, source))


def iter_rows(table: str, source: str) -> Iterator[DumpedRow]:
    """Read a table's rows in the order of their natural key."""
    model = model_of(table)
    keys = [str(one.column) for one in model._meta.pk_fields]
    fields = sorted(model._meta.local_concrete_fields, key=lambda one: one.column or "")
    fields = [one for one in fields if one.column]
    columns = ", ".join(f'"{one.column}"' for one in fields)
    statement = f"SELECT {columns} FROM {source} ORDER BY {_order(model)}"  # noqa: S608
    # Chunked: an ordinary cursor of PostgreSQL would load the whole table.
    with connection.chunked_cursor() as cursor:
        cursor.execute(statement)
        while rows := cursor.fetchmany(_CHUNK):
            for row in rows:
                yield _dumped(fields, keys, row)


def _dumped(fields: Sequence[Any], keys: Sequence[str], row: Sequence[Any]) -> DumpedRow:
    """Turn a row into text; a number in its key stays one, so that 10 sorts after 9."""
    values = {one.column: _text(one, value) for one, value in zip(fields, row, strict=True)}
    given = {one.column: value for one, value in zip(fields, row, strict=True)}
    key = tuple(given[name] if isinstance(given[name], int) else values[name] for name in keys)
    return DumpedRow(key, json.dumps(values, ensure_ascii=True))


def _order(model: type[models.Model]) -> str:
    return ", ".join(_sorted_by(one) for one in model._meta.pk_fields)


def _sorted_by(field: Any) -> str:
    is_text = isinstance(field, models.CharField | models.TextField)
    # SQLite compares bytes; PostgreSQL would sort by the language of the database.
    return f'"{field.column}"' + (' COLLATE "C"' if is_text and is_postgresql() else "")


def _text(field: Any, value: Any) -> str | None:
    if value is None:
        return None
    return _TEXTS.get(field.get_internal_type(), str)(value)


_TEXTS: dict[str, Callable[[Any], str]] = {
    "DateTimeField": lambda value: rfc3339(bulk.as_time(value)),
    "UUIDField": lambda value: str(bulk.as_uuid(value)),
    "BooleanField": lambda value: "true" if value else "false",
    "BinaryField": lambda value: bytes(value).hex(),
}
