"""Real Oban tables in a schema of their own, as its migrations leave them, written by hand.

The columns, checks, indexes and the enum follow reference facts about Oban's migrations; nothing
of its code is here.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
from psycopg import sql

from jobs.domain.oban_table import quoted
from tests.servers import Postgres

NOON = datetime(2026, 10, 5, 12, tzinfo=UTC)
_numbers = itertools.count(1)
_STATES = [
    "available",
    "scheduled",
    "executing",
    "retryable",
    "completed",
    "discarded",
    "cancelled",
]
_JSON_COLUMNS = {"args": "jsonb", "meta": "jsonb"}


def ddl(schema: str, table: str, migration: int) -> str:
    """Return what makes a table as it is after a migration, from 9 on."""
    states = [*_STATES[:1], *(["suspended"] if migration >= 14 else []), *_STATES[1:]]
    labels = ", ".join(f"'{state}'" for state in states)
    schema, table = quoted(schema), quoted(table)
    where, kind = f"{schema}.{table}", f"{schema}.oban_job_state"
    not_null = "NOT NULL" if migration >= 10 else ""
    priority = (
        "ALTER TABLE {0} ADD CONSTRAINT non_negative_priority CHECK (priority >= 0) NOT VALID;"
        if migration >= 12
        else ""
    )
    more = "CREATE INDEX ON {0} (state, cancelled_at); CREATE INDEX ON {0} (state, discarded_at);"
    now = "timezone('UTC', now())"
    return f"""
        CREATE SCHEMA IF NOT EXISTS {schema};
        CREATE TYPE {kind} AS ENUM ({labels});
        CREATE TABLE {where} (
            id bigserial PRIMARY KEY,
            state {kind} NOT NULL DEFAULT 'available',
            queue text NOT NULL DEFAULT 'default',
            worker text NOT NULL,
            args jsonb NOT NULL {"DEFAULT '{}'" if migration >= 10 else ""},
            errors jsonb[] NOT NULL DEFAULT ARRAY[]::jsonb[],
            attempt int NOT NULL DEFAULT 0,
            max_attempts int NOT NULL DEFAULT 20,
            inserted_at timestamp NOT NULL DEFAULT {now},
            scheduled_at timestamp NOT NULL DEFAULT {now},
            attempted_at timestamp,
            completed_at timestamp,
            attempted_by text[],
            discarded_at timestamp,
            priority int {not_null} DEFAULT 0,
            tags text[] DEFAULT ARRAY[]::text[],
            meta jsonb DEFAULT '{{}}',
            cancelled_at timestamp,
            CONSTRAINT queue_length CHECK (char_length(queue) > 0 AND char_length(queue) < 128),
            CONSTRAINT worker_length CHECK (char_length(worker) > 0 AND char_length(worker) < 128),
            CONSTRAINT positive_max_attempts CHECK (max_attempts > 0),
            CONSTRAINT attempt_range CHECK (attempt BETWEEN 0 AND max_attempts)
        );
        CREATE INDEX ON {where} (state, queue, priority, scheduled_at, id);
        CREATE INDEX ON {where} USING gin (args);
        CREATE INDEX ON {where} USING gin (meta);
        {priority.format(where)}
        {more.format(where) if migration >= 13 else ""}
        COMMENT ON TABLE {where} IS '{migration}';
    """


@dataclass
class ObanDatabase:
    """One Oban table, and a connection that writes to it as an application would."""

    dsn: str
    connection: psycopg.Connection[Any]
    schema: str
    table: str = "oban_jobs"
    now: datetime = NOON
    extra: list[psycopg.Connection[Any]] = field(default_factory=list)

    @property
    def name(self) -> sql.Identifier:
        return sql.Identifier(self.schema, self.table)

    def run(self, statement: str, *parameters: object, by: Any = None) -> list[Any]:
        """Run a statement in which {} is the table; gives its rows."""
        query = sql.SQL(statement).format(self.name)  # type: ignore[arg-type]
        cursor = (by or self.connection).execute(query, parameters)
        return cursor.fetchall() if cursor.description else []

    def insert(self, *, by: Any = None, **columns: Any) -> int:
        """Insert a job; gives its id, which is drawn even if the transaction is still open."""
        at = self.now.replace(tzinfo=None) - timedelta(minutes=1)
        given = {"worker": "MyApp.Mailer", "args": {"account": 9}, "inserted_at": at,
                 "scheduled_at": at, **columns}  # fmt: skip
        names = ", ".join(f'"{name}"' for name in given)
        marks = ", ".join(_mark(name) for name in given)
        values = [_value(name, value) for name, value in given.items()]
        statement = f"INSERT INTO {{}} ({names}) VALUES ({marks}) RETURNING id"  # noqa: S608
        return int(self.run(statement, *values, by=by)[0][0])

    def change(self, number: int, **columns: Any) -> None:
        """Change columns of a job, as Oban does in place."""
        sets = ", ".join(f'"{name}" = {_mark(name)}' for name in columns)
        values = [_value(name, value) for name, value in columns.items()]
        self.run(f"UPDATE {{}} SET {sets} WHERE id = %s", *values, number)  # noqa: S608

    def delete(self, *numbers: int) -> None:
        """Delete jobs, as the pruner does."""
        self.run("DELETE FROM {} WHERE id = ANY(%s)", list(numbers))

    def complete(self, number: int, at: datetime | None = None) -> None:
        """Run a job to its end."""
        done = (at or self.now).replace(tzinfo=None)
        self.change(
            number, state="completed", attempt=1, attempted_at=done, completed_at=done,
            attempted_by=["web@1", "uuid"],
        )  # fmt: skip

    def other(self) -> psycopg.Connection[Any]:
        """Open another connection, for a transaction that stays open."""
        connection = psycopg.connect(self.dsn)
        self.extra.append(connection)
        return connection


def _mark(name: str) -> str:
    return "%s::jsonb[]" if name == "errors" else f"%s{_casts(name)}"


def _casts(name: str) -> str:
    return f"::{_JSON_COLUMNS[name]}" if name in _JSON_COLUMNS else ""


def _value(name: str, value: Any) -> Any:
    if name in _JSON_COLUMNS:
        return None if value is None else json.dumps(value)
    if name == "errors":
        return [json.dumps(one) for one in value]
    return value


@contextmanager
def made(
    server: Postgres, migration: int = 14, schema: str = "", table: str = "oban_jobs"
) -> Iterator[ObanDatabase]:
    """Make a table in a schema of its own, and drop it at the end."""
    schema = schema or f"oban_{next(_numbers)}"
    with closing(psycopg.connect(server.url, autocommit=True)) as connection:
        connection.execute(ddl(schema, table, migration).encode())
        database = ObanDatabase(server.url, connection, schema, table)
        try:
            yield database
        finally:
            for one in database.extra:
                one.close()
            dropped = sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(sql.Identifier(schema))
            connection.execute(dropped)


def error(text: str, attempt: int = 1) -> Mapping[str, Any]:
    """Give an entry of a job's errors."""
    return {"attempt": attempt, "at": "2026-10-05T11:59:00Z", "error": text}


def states(receipts: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Give id and state of the rows that some receipts show."""
    return [(one["job"]["id"], one["job"]["state"]) for one in receipts]
