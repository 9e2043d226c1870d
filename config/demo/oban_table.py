"""An Oban table for the demo, in a schema of its own that goes away afterwards."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, LiteralString

import psycopg
from psycopg import sql
from psycopg.types.json import Jsonb

TABLE = "oban_jobs"
# As migration 14 leaves it; source: reference/statifier-oban.md section 1.
_MAKE: LiteralString = """
CREATE SCHEMA {schema};
CREATE TYPE {schema}.oban_job_state AS ENUM ('available', 'suspended', 'scheduled', 'executing',
  'retryable', 'completed', 'discarded', 'cancelled');
CREATE TABLE {schema}.oban_jobs (
  id bigserial PRIMARY KEY,
  state {schema}.oban_job_state NOT NULL DEFAULT 'available',
  queue text NOT NULL DEFAULT 'default',
  worker text NOT NULL,
  args jsonb NOT NULL DEFAULT '{{}}',
  errors jsonb[] NOT NULL DEFAULT ARRAY[]::jsonb[],
  attempt int NOT NULL DEFAULT 0,
  max_attempts int NOT NULL DEFAULT 20,
  inserted_at timestamp NOT NULL DEFAULT timezone('UTC', now()),
  scheduled_at timestamp NOT NULL DEFAULT timezone('UTC', now()),
  attempted_at timestamp,
  completed_at timestamp,
  attempted_by text[],
  discarded_at timestamp,
  priority int NOT NULL DEFAULT 0,
  tags text[] DEFAULT ARRAY[]::text[],
  meta jsonb DEFAULT '{{}}',
  cancelled_at timestamp,
  CONSTRAINT queue_length CHECK (char_length(queue) BETWEEN 1 AND 127),
  CONSTRAINT worker_length CHECK (char_length(worker) BETWEEN 1 AND 127),
  CONSTRAINT attempt_range CHECK (attempt BETWEEN 0 AND max_attempts),
  CONSTRAINT positive_max_attempts CHECK (max_attempts > 0),
  CONSTRAINT non_negative_priority CHECK (priority >= 0)
);
CREATE INDEX ON {schema}.oban_jobs (state, queue, priority, scheduled_at, id);
COMMENT ON TABLE {schema}.oban_jobs IS '14'
"""
_TIMES = (
    "inserted_at", "scheduled_at", "attempted_at", "completed_at", "cancelled_at", "discarded_at",
)  # fmt: skip


@contextmanager
def filled(dsn: str, rows: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Make a table with some rows, give its schema and name, and drop both at the end."""
    schema = f"counterfoil_demo_{secrets.token_hex(4)}"
    name = sql.Identifier(schema)
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("SET TIME ZONE 'UTC'")
        connection.execute(sql.SQL(_MAKE).format(schema=name))
        try:
            for row in rows:
                _insert(connection, name, row)
            yield schema, TABLE
        finally:
            connection.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(name))


def _insert(
    connection: psycopg.Connection[Any], schema: sql.Identifier, row: Mapping[str, Any]
) -> None:
    values = {name: _value(name, value) for name, value in row.items()}
    connection.execute(
        sql.SQL("INSERT INTO {}.oban_jobs ({}) VALUES ({})").format(
            schema,
            sql.SQL(", ").join(map(sql.Identifier, values)),
            sql.SQL(", ").join([sql.Placeholder()] * len(values)),
        ),
        list(values.values()),
    )


def _value(name: str, value: Any) -> Any:
    if name in ("args", "meta"):
        return Jsonb(value)
    if name == "errors":
        return [Jsonb(one) for one in value]
    if name in _TIMES and value is not None:
        return value.removesuffix("Z")
    return value
