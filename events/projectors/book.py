"""Rows of one table while a batch is worked through: loaded when asked for, written at its end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields
from operator import attrgetter
from typing import Any, Generic, TypeVar

from kit import bulk

R = TypeVar("R")
Key = tuple[Any, ...]


class Book(Generic[R]):
    """The rows of a table by their key in their project.

    `kind` is a dataclass whose fields are the columns but for the project's, those of the key
    first.
    """

    def __init__(self, project_id: int, table: str, kind: type[R], keys: int) -> None:
        """Start with nothing loaded; the first `keys` columns are the key."""
        names = [one.name for one in fields(kind)]  # type: ignore[arg-type]
        self._project_id = project_id
        self._table = table
        self._kind = kind
        self._names = names
        self._keys = names[:keys]
        self._values = attrgetter(*names)
        self._rows: dict[Key, R | None] = {}
        self._stored: set[Key] = set()
        self._touched: dict[Key, None] = {}

    def find(self, *key: Any) -> R | None:
        """Give a row, as the batch left it so far, or None."""
        if key not in self._rows:
            found = self._select(" AND ".join(f"{name} = %s" for name in self._keys), key)
            self._rows[key] = found[0] if found else None
            if found:
                self._stored.add(key)
        return self._rows[key]

    def known(self, *key: Any) -> R | None:
        """Give a row that this batch put or found; for one that cannot be stored yet."""
        return self._rows.get(key)

    def load(self, where: str, parameters: Iterable[Any]) -> list[R]:
        """Give the rows that a condition on stored columns finds, as the batch left them so far.

        The condition must hold whatever the batch changed; rows that it put are not looked at.
        """
        found = []
        for row in self._select(where, parameters):
            key = self._key(row)
            if key not in self._rows:
                self._rows[key] = row
            self._stored.add(key)
            known = self._rows[key]
            if known is not None:
                found.append(known)
        return found

    def put(self, row: R) -> R:
        """Keep a row, new or changed, to be written."""
        key = self._key(row)
        self._rows[key] = row
        self._touched[key] = None
        return row

    def drop(self, row: R) -> None:
        """Take back a row that this batch put and nobody stored."""
        key = self._key(row)
        self._rows[key] = None
        self._touched.pop(key, None)

    def fresh(self) -> Iterator[R]:
        """Give the rows that are put and not stored yet."""
        return (row for key in self._touched if (row := self._fresh(key)) is not None)

    def write(self) -> None:
        """Write what was put: rows that were stored are changed in place."""
        table, keys = self._table, self._keys
        others = self._names[len(keys) :]
        bulk.insert_rows(
            table,
            ("project_id", *self._names),
            [(self._project_id, *self._values(row)) for row in self.fresh()],
        )
        changes = ", ".join(f"{name} = %s" for name in others)
        same = " AND ".join(f"{name} = %s" for name in keys)
        known = [self._rows[key] for key in self._touched if key in self._stored]
        bulk.update_rows(
            f"UPDATE {table} SET {changes} WHERE project_id = %s AND {same}",  # noqa: S608
            [self._for_update(row) for row in known if row is not None],
        )

    def _for_update(self, row: R) -> tuple[Any, ...]:
        values = self._values(row)
        keys = len(self._keys)
        return (*values[keys:], self._project_id, *values[:keys])

    def _fresh(self, key: Key) -> R | None:
        return None if key in self._stored else self._rows[key]

    def _key(self, row: R) -> Key:
        return tuple(self._values(row)[: len(self._keys)])

    def _select(self, where: str, parameters: Iterable[Any]) -> list[R]:
        names = ", ".join(self._names)
        statement = f"SELECT {names} FROM {self._table} WHERE project_id = %s AND {where}"  # noqa: S608
        found = bulk.select_rows(statement, [self._project_id, *parameters])
        return [self._kind(*row) for row in found]
