"""One Oban table on PostgreSQL, read and never written.

Each query is a short transaction of its own, so that a long first pass does not hold up the
vacuum of a busy queue. `psycopg.Error` goes up to the reader, which knows what to make of it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql

from jobs.domain import oban_table, oban_values
from jobs.domain.oban_known import TERMINAL
from jobs.domain.oban_values import MOST_BYTES, MOST_WORDS

PAGE = 5_000
FETCH = 500
CONNECT_S = 10
STATEMENT_MS = 60_000
LOCK_MS = 5_000
# Values whose stored size is over this are not brought here whole.
LONGEST_STORED = 64 * 1024
_ANY_ID = -(2**63)

_SESSION = (
    "SET default_transaction_read_only = on",
    f"SET statement_timeout = {STATEMENT_MS}",
    f"SET lock_timeout = {LOCK_MS}",
    f"SET idle_in_transaction_session_timeout = {STATEMENT_MS}",
    # What is hashed and written depends on these.
    "SET TimeZone = 'UTC'",
    "SET DateStyle = 'ISO, YMD'",
    "SET bytea_output = 'hex'",
    # Rows that a policy hides must not look as if they were gone.
    "SET row_security = off",
)
_TIMES = frozenset({name for name in oban_table.COLUMNS if name.endswith("_at")})
_TEXTS = frozenset({"state", "queue", "worker"})
_NUMBERS = frozenset({"id", "attempt", "max_attempts", "priority"})
_JSON = ("args", "errors", "meta", "tags", "attempted_by")
_EMPTY: dict[str, Any] = {"[]": [], "{}": {}, "null": None}

Row = dict[str, Any]
Digest = tuple[int, int]
"""An id, and the digest of its row."""


class NoTable(LookupError):
    """There is no such table."""


class NotPermitted(PermissionError):
    """The role may not read the table; the message has the line that lets it."""


@dataclass(frozen=True, slots=True)
class Table:
    """What the catalogue says of the table: where it is, its columns, and what is odd about it."""

    origin: str
    types: dict[str, str]
    open_states: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def columns(self) -> list[str]:
        """Return Oban's own columns that are there."""
        return [name for name in oban_table.COLUMNS if name in self.types]


class ObanTable:
    """A connection to the database that an Oban table is in."""

    def __init__(self, dsn: str, schema: str, table: str) -> None:
        self._schema, self._name = schema, table
        self._names = itertools.count()
        self._connection = psycopg.connect(
            dsn,
            autocommit=True,
            connect_timeout=CONNECT_S,
            application_name="counterfoil oban_sync",
            client_encoding="utf8",
            # A pooler between two transactions may not know a prepared statement.
            prepare_threshold=None,
        )
        try:
            for statement in _SESSION:
                self._connection.execute(statement.encode("ascii"))
            self.table = self.look()
        except BaseException:
            self.close()
            raise

    @property
    def is_broken(self) -> bool:
        """Tell whether the connection was lost."""
        return self._connection.closed

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def look(self) -> Table:
        """Read the catalogue: Oban's columns differ by migration.

        Raises NoTable, NotPermitted or oban_table.NotOban.
        """
        found = self._one(_TABLE, self._schema, self._name)
        if found is None:
            raise NoTable(self._advice())
        oid, database, comment = found
        columns = self._all(_COLUMNS, oid)
        types = {name: kind for name, kind, _, _ in columns}
        oban_table.check_columns(f"{self._schema}.{self._name}", types)
        self._check_rights(oid, {name: readable for name, _, readable, _ in columns})
        labels = [label for (label,) in self._all(_LABELS, oid)]
        self.table = Table(
            origin=f"{database}.{self._schema}.{self._name}",
            types=types,
            open_states=tuple(one for one in labels or _OPEN if one not in TERMINAL),
            warnings=tuple(oban_table.warnings_of(comment, types)),
        )
        return self.table

    def iter_above(self, number: int | None) -> Iterator[tuple[Row, int]]:
        """Stream the rows above an id, with the digest of each, in the order of ids.

        At most a page of them: the caller asks again from the last id.
        """
        above = _ANY_ID if number is None else number
        query = self._select(sql.SQL("WHERE id > {} ORDER BY id LIMIT {}").format(above, PAGE))
        yield from self._stream_rows(query)

    def iter_between(self, spans: Sequence[tuple[int, int]]) -> Iterator[tuple[Row, int]]:
        """Stream the rows in some spans of ids."""
        firsts, lasts = [first for first, _ in spans], [last for _, last in spans]
        where = sql.SQL(
            "JOIN unnest({}::bigint[], {}::bigint[]) AS span(first, last)"
            " ON id BETWEEN span.first AND span.last ORDER BY id"
        ).format(firsts, lasts)
        yield from self._stream_rows(self._select(where))

    def fetch(self, numbers: Sequence[int]) -> list[tuple[Row, int]]:
        """Return the rows of some ids; one that is gone is left out."""
        where = sql.SQL("WHERE id = ANY({}::bigint[]) ORDER BY id").format(list(numbers))
        return list(self._stream_rows(self._select(where)))

    def iter_open(self) -> Iterator[Digest]:
        """Stream id and digest of all rows that may still run, in the order of ids."""
        states = sql.SQL(", ").join(map(sql.Literal, self.table.open_states))
        where = sql.SQL("WHERE state IN ({}) ORDER BY id").format(states)
        yield from self._stream(self._digests(where))

    def digests_between(self, first: int, last: int, most: int) -> list[Digest]:
        """Return id and digest of the rows of a span of ids, the first ones if they are many."""
        where = sql.SQL("WHERE id BETWEEN {} AND {} ORDER BY id LIMIT {}")
        return list(self._stream(self._digests(where.format(first, last, most))))

    def _select(self, rest: sql.Composed) -> sql.Composed:
        columns = [*map(self._read, self.table.columns), *self._sizes(), self._hash()]
        listed = sql.SQL(", ").join(columns)
        return sql.SQL("SELECT {} FROM {} {}").format(listed, self._from(), rest)

    def _digests(self, rest: sql.Composed) -> sql.Composed:
        return sql.SQL("SELECT id, {} FROM {} {}").format(self._hash(), self._from(), rest)

    def _from(self) -> sql.Composable:
        return sql.SQL("{} AS job").format(sql.Identifier(self._schema, self._name))

    def _hash(self) -> sql.Composable:
        """Hash all columns that we know: to notice a change, it need not stand against malice."""
        columns = sql.SQL(", ").join(map(_column, self.table.columns))
        return sql.SQL('hashtextextended(ROW({})::text COLLATE "C", 0)').format(columns)

    def _read(self, name: str) -> sql.Composable:
        kind = self.table.types[name]
        column = _column(name)
        if name in _TIMES:
            return sql.SQL("to_char({}, {})").format(column, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
        if name in _TEXTS:
            return sql.SQL("left({}::text, 1000)").format(column)
        if name in _NUMBERS:
            return column
        if kind == "text[]":
            return sql.SQL("({})[1:{}]").format(column, MOST_WORDS)
        text = sql.SQL("to_jsonb({})::text" if kind.endswith("[]") else "{}::text").format(column)
        return sql.SQL("CASE WHEN pg_column_size({}) > {} THEN {} ELSE {} END").format(
            column, LONGEST_STORED, _short(name, kind), text
        )

    def _sizes(self) -> list[sql.Composable]:
        """Count the errors beside them, since of very long ones only the newest are brought."""
        counts = self.table.types.get("errors", "").endswith("[]")
        return [sql.SQL("cardinality(job.errors)") if counts else sql.SQL("NULL::int")]

    def _stream_rows(self, query: sql.Composed) -> Iterator[tuple[Row, int]]:
        columns = self.table.columns
        for *values, errors, digest in self._stream(query):
            row = dict(zip(columns, values, strict=True))
            row["errors_count"] = errors
            for name in _JSON:
                text = row.get(name)
                if isinstance(text, str):
                    row[name] = _EMPTY[text] if text in _EMPTY else _read_json(name, text)
            yield row, digest

    def _stream(self, query: sql.Composed) -> Iterator[Any]:
        """Run a query with a cursor of the server's, so that memory holds one fetch at a time."""
        name = f"oban_sync_{next(self._names)}"
        with self._connection.transaction(), self._connection.cursor(name=name) as cursor:
            cursor.itersize = FETCH
            yield from cursor.execute(query)

    def _one(self, query: str, *parameters: object) -> tuple[Any, ...] | None:
        return self._connection.execute(query.encode("ascii"), parameters).fetchone()

    def _all(self, query: str, *parameters: object) -> list[tuple[Any, ...]]:
        return self._connection.execute(query.encode("ascii"), parameters).fetchall()

    def _check_rights(self, oid: int, readable: dict[str, bool]) -> None:
        found = self._one(_RIGHTS, self._schema)
        role, may_use = found or ("", True)
        columns = [name for name in oban_table.COLUMNS if name in readable]
        may_read = all(readable[name] for name in columns)
        if may_use and may_read:
            return
        lines = oban_table.grants(
            self._schema, self._name, role, needs_schema=not may_use, needs_table=not may_read
        )
        raise NotPermitted(
            f"The role {role} may not read {self._schema}.{self._name}. This lets it: {lines}"
        )

    def _advice(self) -> str:
        named = self._all(_ELSEWHERE, self._name)
        places = ", ".join(str(schema) for (schema,) in named)
        also = f"; there is one in schema {places}" if places else ""
        return f"There is no table {self._schema}.{self._name}{also}. See --schema and --table."


def _column(name: str) -> sql.Composable:
    return sql.Identifier("job", name)


def _read_json(name: str, text: str) -> Any:
    # Of errors each text is cut by itself.
    return oban_values.read_json(text, len(text) * 4 if name == "errors" else MOST_BYTES)


def _short(name: str, kind: str) -> sql.Composable:
    """Give what stands for a value that is too long to be brought here."""
    column = _column(name)
    cut = _CUT.format(column)
    if kind == "jsonb":
        return _SHORT_MEMBERS.format(column, cut)
    if (name, kind) == ("errors", "jsonb[]"):
        return _NEWEST.format(column)
    return sql.SQL("{}::text").format(cut)


_OPEN = ("suspended", "scheduled", "available", "executing", "retryable")
# Of values that are too long to be brought here: the size, and of arguments the short members,
# which name the call.
_CUT = sql.SQL("jsonb_build_object('cut', jsonb_build_object('stored_bytes', pg_column_size({0})))")
_SHORT_MEMBERS = sql.SQL(
    "(CASE jsonb_typeof({0}) WHEN 'object' THEN"
    " (SELECT coalesce(jsonb_object_agg(key, value), '{{}}') FROM (SELECT key, value"
    " FROM jsonb_each({0}) WHERE pg_column_size(value) <= 512 AND octet_length(key) <= 512"
    " LIMIT 64) AS short) ELSE '{{}}' END || {1})::text"
)
_NEWEST = sql.SQL("to_jsonb({0}[array_upper({0}, 1) - 2:array_upper({0}, 1)])::text")
_TABLE = """
    SELECT t.oid, current_database(), obj_description(t.oid, 'pg_class')
    FROM pg_catalog.pg_class t JOIN pg_catalog.pg_namespace s ON s.oid = t.relnamespace
    WHERE s.nspname = %s AND t.relname = %s AND t.relkind IN ('r', 'p', 'v', 'm', 'f')"""
_COLUMNS = """
    SELECT attname, format_type(atttypid, NULL),
           has_column_privilege(attrelid, attnum, 'SELECT'), attnum
    FROM pg_catalog.pg_attribute
    WHERE attrelid = %s AND attnum > 0 AND NOT attisdropped ORDER BY attnum"""
_LABELS = """
    SELECT e.enumlabel FROM pg_catalog.pg_enum e
    JOIN pg_catalog.pg_attribute a ON a.atttypid = e.enumtypid
    WHERE a.attrelid = %s AND a.attname = 'state' ORDER BY e.enumsortorder"""
_RIGHTS = "SELECT current_user, has_schema_privilege(%s, 'USAGE')"
_ELSEWHERE = """
    SELECT s.nspname FROM pg_catalog.pg_class t
    JOIN pg_catalog.pg_namespace s ON s.oid = t.relnamespace
    WHERE t.relname = %s AND t.relkind IN ('r', 'p', 'v') ORDER BY 1 LIMIT 5"""
