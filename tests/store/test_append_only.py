# ruff: noqa: S608
"""What the ledger keeps cannot be changed by a statement, whoever the application lets write one.

Whoever owns the tables can still drop a trigger; that is what the Merkle tree is for.
"""

from __future__ import annotations

import asyncio
import json
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import DatabaseError, connection, transaction

from ledger import ingest
from ledger.domain.draft import Envelope
from ledger.sql import APPEND_ONLY
from tests.databases import Database
from tests.desk import Desk, only_on

TABLES = sorted(APPEND_ONLY)
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def filled(shared_database: Database, desk_loop: asyncio.AbstractEventLoop) -> Desk:
    """Have rows in every protected table, for the tests of a module: none can change them."""
    desk = Desk(shared_database, desk_loop)
    body = {"id": str(uuid.uuid4()), "kind": "done"}
    desk.post(body)
    desk.post({**body, "sent": {"attempt": 2}})
    desk.post({**body, "n": 1})
    desk.post(b"{")
    desk.catch_up()
    return desk


def execute(statement: str, parameters: list[Any] | None = None) -> list[tuple[Any, ...]]:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return list(cursor.fetchall()) if cursor.description else []


def rows_of(table: str) -> list[tuple[Any, ...]]:
    rows = execute(f"SELECT * FROM {table}")
    plain = [tuple(bytes(v) if isinstance(v, memoryview) else v for v in row) for row in rows]
    return sorted(plain, key=repr)


def columns_of(table: str) -> list[str]:
    with connection.cursor() as cursor:
        description = connection.introspection.get_table_description(cursor, table)
    return [column.name for column in description]


def keys_of(table: str) -> list[tuple[str, ...]]:
    return list(APPEND_ONLY[table])


@pytest.mark.parametrize("table", TABLES)
def test_rows_cannot_be_changed(filled: Desk, table: str) -> None:
    before, column = rows_of(table), columns_of(table)[-1]

    with pytest.raises(DatabaseError, match=f"append-only: UPDATE on {table}"):
        execute(f"UPDATE {table} SET {column} = {column}")

    assert rows_of(table) == before != []


@pytest.mark.parametrize("table", TABLES)
def test_rows_cannot_be_deleted(filled: Desk, table: str) -> None:
    before = rows_of(table)

    with pytest.raises(DatabaseError, match=f"append-only: DELETE on {table}"):
        execute(f"DELETE FROM {table}")

    assert rows_of(table) == before != []


@pytest.mark.parametrize("table", TABLES)
def test_an_insert_over_a_key_with_an_update_changes_nothing(filled: Desk, table: str) -> None:
    before, columns = rows_of(table), columns_of(table)
    key, changed = keys_of(table)[0], columns[-1]
    statement = (
        f"INSERT INTO {table} SELECT * FROM {table} WHERE true "
        f"ON CONFLICT ({', '.join(key)}) DO UPDATE SET {changed} = excluded.{changed}"
    )

    if filled.database.vendor == "postgresql":
        with pytest.raises(DatabaseError, match="append-only: UPDATE"):
            execute(statement)
    else:
        execute(statement)

    assert rows_of(table) == before


@only_on("sqlite")
@pytest.mark.parametrize("table", TABLES)
def test_rows_cannot_be_replaced_on_sqlite(filled: Desk, table: str) -> None:
    before, columns = rows_of(table), columns_of(table)
    other = [name for name in columns if all(name not in key for key in keys_of(table))]
    values = ["'0'" if name in other else name for name in columns]

    execute(f"INSERT OR REPLACE INTO {table} SELECT {', '.join(values)} FROM {table}")
    execute(f"REPLACE INTO {table} SELECT {', '.join(values)} FROM {table}")

    assert rows_of(table) == before


@only_on("sqlite")
@pytest.mark.parametrize("table", TABLES)
def test_rows_cannot_be_replaced_by_their_hidden_number_on_sqlite(filled: Desk, table: str) -> None:
    before, columns = rows_of(table), columns_of(table)
    names = ", ".join(columns)
    values = ", ".join(f"'{at}'" for at, _ in enumerate(columns))

    execute(
        f"INSERT OR REPLACE INTO {table} (rowid, {names}) "
        f"SELECT rowid, {values} FROM {table} LIMIT 1"
    )

    assert rows_of(table) == before


@only_on("sqlite")
@pytest.mark.parametrize("table", TABLES)
def test_rows_cannot_be_changed_over_another_on_sqlite(filled: Desk, table: str) -> None:
    before, column = rows_of(table), columns_of(table)[0]

    with pytest.raises(DatabaseError, match="append-only"):
        execute(f"UPDATE OR REPLACE {table} SET {column} = {column}")

    assert rows_of(table) == before


def tables_of_postgresql() -> list[str]:
    parts = execute(
        "SELECT inhrelid::regclass::text FROM pg_inherits "
        "WHERE inhparent = 'receipt_body'::regclass ORDER BY 1"
    )
    return [*TABLES, *(name for (name,) in parts)]


@only_on("postgresql")
def test_no_table_and_no_partition_can_be_emptied_at_once_on_postgresql(filled: Desk) -> None:
    names = tables_of_postgresql()

    for name in names:
        with pytest.raises(DatabaseError, match=f"append-only: TRUNCATE on {name}"):
            execute(f"TRUNCATE {name}")

    # The default partition, this month's and those of the year to come.
    assert len(names) >= len(TABLES) + 14


@only_on("postgresql")
def test_no_table_is_emptied_by_way_of_another_on_postgresql(filled: Desk) -> None:

    with pytest.raises(DatabaseError, match="append-only: TRUNCATE"):
        execute("TRUNCATE pending, receipt_body CASCADE")


@only_on("postgresql")
@pytest.mark.parametrize("attack", ["UPDATE {0} SET {1} = {1}", "DELETE FROM {0}", "TRUNCATE {0}"])
def test_a_session_that_plays_a_replica_is_refused_on_postgresql(filled: Desk, attack: str) -> None:
    tried = []

    for name in tables_of_postgresql():
        if "TRUNCATE" not in attack and not execute(f"SELECT 1 FROM {name} LIMIT 1"):
            continue
        with (
            pytest.raises(DatabaseError, match="append-only"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute("SET LOCAL session_replication_role = replica")
            cursor.execute(attack.format(name, columns_of(name)[-1]))
        tried.append(name)

    assert set(TABLES) <= set(tried)


@only_on("postgresql")
def test_every_trigger_of_every_table_and_partition_is_always_on_postgresql(
    filled: Desk,
) -> None:
    rows = execute(
        "SELECT tgrelid::regclass::text, tgname FROM pg_trigger WHERE tgenabled = 'A' "
        "AND tgname IN ('ledger_row', 'ledger_truncate')"
    )

    names = tables_of_postgresql()
    assert set(rows) == {(name, one) for name in names for one in ("ledger_row", "ledger_truncate")}


@only_on("postgresql")
def test_a_row_cannot_be_merged_over_on_postgresql(filled: Desk) -> None:

    with pytest.raises(DatabaseError, match="append-only: UPDATE on leaf"):
        execute(
            "MERGE INTO leaf USING leaf AS other ON leaf.receipt = other.receipt "
            "WHEN MATCHED THEN UPDATE SET hash = other.hash"
        )


def test_after_all_attempts_receipts_still_come_in(filled: Desk) -> None:
    for table in TABLES:
        with pytest.raises(DatabaseError):
            execute(f"DELETE FROM {table}")

    reply = filled.post({"kind": "done"})
    filled.catch_up()

    assert reply.status == 201
    assert len(filled.leaves()) == len({ref for _, ref in filled.leaves()})


def make_partition(day: str) -> bool:
    ((made,),) = execute("SELECT ledger_make_body_partition(%s::date)", [day])
    return bool(made)


def post_at(desk: Desk, at: datetime) -> uuid.UUID:
    raw = json.dumps({"kind": "done"}).encode()
    (outcome,) = ingest.ingest([raw], Envelope(desk.project.id, at))
    return outcome.receipt


def partition_of(receipt: uuid.UUID) -> str:
    ((name,),) = execute(
        "SELECT tableoid::regclass::text FROM receipt_body WHERE id = %s", [receipt]
    )
    return str(name)


@only_on("postgresql")
def test_a_partition_of_a_month_to_come_is_protected_as_well_on_postgresql(desk: Desk) -> None:

    made = make_partition("2031-02-11")
    receipt = post_at(desk, datetime(2031, 2, 28, 23, 59, 59, 999999, tzinfo=UTC))

    assert made
    assert partition_of(receipt) == "receipt_body_2031_02"
    for attack in ("UPDATE {} SET headers = ''", "DELETE FROM {}", "TRUNCATE {}"):
        with (
            pytest.raises(DatabaseError, match="append-only"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute("SET LOCAL session_replication_role = replica")
            cursor.execute(attack.format("receipt_body_2031_02"))


@only_on("postgresql")
def test_a_partition_is_made_once_on_postgresql(desk: Desk) -> None:

    assert [make_partition("2032-05-01"), make_partition("2032-05-31")] == [True, False]


@only_on("postgresql")
def test_rows_of_a_month_in_the_default_partition_stay_there_on_postgresql(desk: Desk) -> None:
    receipt = post_at(desk, datetime(2035, 7, 4, tzinfo=UTC))

    made = make_partition("2035-07-20")

    assert not made
    assert partition_of(receipt) == "receipt_body_default"
    assert make_partition("2035-08-01")


@only_on("postgresql")
def test_the_first_and_last_moment_of_a_month_are_in_its_partition_on_postgresql(
    desk: Desk,
) -> None:
    make_partition("2036-02-15")

    first = post_at(desk, datetime(2036, 2, 1, tzinfo=UTC))
    before = post_at(desk, datetime(2036, 2, 1, tzinfo=UTC) - timedelta(milliseconds=1))
    after = post_at(desk, datetime(2036, 3, 1, tzinfo=UTC))

    assert partition_of(first) == "receipt_body_2036_02"
    assert partition_of(before) == partition_of(after) == "receipt_body_default"


@pytest.mark.parametrize("year", [1970, 1999, 2099, 9999])
def test_no_clock_keeps_a_receipt_out(desk: Desk, year: int) -> None:
    at = datetime(year, 12, 31, 23, 59, 59, tzinfo=UTC)
    with time_machine.travel(at, tick=False):
        receipt = post_at(desk, at)

    ((raw,),) = execute(
        "SELECT raw FROM receipt_body WHERE id = %s",
        [receipt if desk.database.vendor == "postgresql" else receipt.hex],
    )
    assert bytes(raw) == b'{"kind": "done"}'
