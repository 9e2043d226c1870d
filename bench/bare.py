"""The same rows written by hand: what the database alone can do, without a ledger in front of it.

Rows are read back from a ledger that was filled over HTTP, and written again into the tables of a
second, migrated and otherwise empty database, with all its indexes and triggers.
"""

from __future__ import annotations

import multiprocessing
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from bench.workload import BATCH
from config import databases

Row = tuple[Any, ...]
Rows = dict[str, Row]
"""The rows of one receipt, by table."""

CLIENTS = 12
_TABLES = {"receipt_key": "receipt", "receipt": "id", "receipt_body": "id", "delivery": "receipt"}


@dataclass(frozen=True, slots=True)
class Written:
    """How many receipts were written in how many seconds."""

    receipts: int
    seconds: float

    @property
    def rate(self) -> float:
        return self.receipts / self.seconds


class Ledger:
    """The tables of one database, by its address (PostgreSQL) or its file (SQLite)."""

    def __init__(self, where: str | Path) -> None:
        self.where = where
        self.is_postgresql = isinstance(where, str)

    def read_after(self, receipt: object) -> list[Rows]:
        """Read the rows of the receipts that came after one, in the order of their arrival."""
        mark = "%s" if self.is_postgresql else "?"
        found: dict[object, Rows] = {}
        with closing(self.connect()) as connection:
            for table, column in reversed(_TABLES.items()):
                cursor = connection.execute(
                    f"SELECT * FROM {table} WHERE {column} > {mark} ORDER BY {column}",  # noqa: S608
                    (str(receipt),),
                )
                at = [one[0] for one in cursor.description].index(column)
                for row in cursor:
                    found.setdefault(row[at], {})[table] = row
            for (project,) in connection.execute("SELECT project_id FROM receipt LIMIT 1"):
                for name, rows in found.items():
                    rows["pending"] = (name, project)
        return [rows for rows in found.values() if len(rows) == len(_TABLES) + 1]

    def count(self, table: str) -> int:
        """Count the rows of a table."""
        with closing(self.connect()) as connection:
            row = connection.execute(f"SELECT count(*) FROM {table}").fetchone()  # noqa: S608
            return int(row[0])

    def leaves_by_id(self) -> dict[str, int]:
        """Return the leaf of each receipt in the lists, by the producer's id."""
        with closing(self.connect()) as connection:
            rows = connection.execute("SELECT id_text, leaf_index FROM entry")
            return {name: int(leaf) for name, leaf in rows}

    def write_batches(self, receipts: Sequence[Rows]) -> Written:
        """Write a thousand receipts a transaction, by COPY or executemany."""
        parts = [receipts[at : at + BATCH] for at in range(0, len(receipts), BATCH)]
        batches = [{name: [one[name] for one in part] for name in part[0]} for part in parts]
        insert = _copy if self.is_postgresql else _execute_many
        with closing(self.connect()) as connection:
            start = time.monotonic()
            for batch in batches:
                self._begin(connection)
                for table, rows in batch.items():
                    insert(connection, table, rows)
                connection.execute("COMMIT")
            return Written(len(receipts), time.monotonic() - start)

    def write_singly(self, receipts: Sequence[Rows], seconds: float) -> Written:
        """Write one receipt a commit from 12 writers at once, for some seconds at most.

        PostgreSQL gets 12 processes, SQLite 12 threads.
        """
        shares = [receipts[at::CLIENTS] for at in range(CLIENTS)]
        run = _in_processes if self.is_postgresql else _in_threads
        # One writer at a time: without the lock they starve each other at BEGIN IMMEDIATE.
        lock = threading.Lock()
        done = run(lambda share: self._write_share(share, seconds, lock), shares)
        return Written(sum(one.receipts for one in done), max(one.seconds for one in done))

    def connect(self) -> Any:
        """Open a connection with the settings of the server's own."""
        if isinstance(self.where, str):
            return psycopg.connect(self.where, autocommit=True)
        connection = sqlite3.connect(self.where, isolation_level=None)
        connection.executescript(databases.sqlite(self.where)["OPTIONS"]["init_command"])
        return connection

    def _write_share(self, share: Sequence[Rows], seconds: float, lock: threading.Lock) -> Written:
        with closing(self.connect()) as connection:
            start = time.monotonic()
            written = 0
            for rows in share:
                if time.monotonic() - start >= seconds:
                    break
                with lock:
                    self._begin(connection)
                    for table, row in rows.items():
                        connection.execute(_insert(table, row, connection), row)
                    connection.execute("COMMIT")
                written += 1
            return Written(written, time.monotonic() - start)

    def _begin(self, connection: Any) -> None:
        connection.execute("BEGIN" if self.is_postgresql else "BEGIN IMMEDIATE")


def _copy(connection: Any, table: str, rows: Sequence[Row]) -> None:
    with connection.cursor() as cursor, cursor.copy(f"COPY {table} FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)


def _execute_many(connection: Any, table: str, rows: Sequence[Row]) -> None:
    connection.executemany(_insert(table, rows[0], connection), rows)


def _insert(table: str, row: Row, connection: Any) -> str:
    mark = "%s" if isinstance(connection, psycopg.Connection) else "?"
    return f"INSERT INTO {table} VALUES ({', '.join([mark] * len(row))})"  # noqa: S608


Share = Sequence[Rows]
Work = Callable[[Share], Written]


def _in_threads(work: Work, shares: Sequence[Share]) -> list[Written]:
    done: list[Written] = []
    threads = [
        threading.Thread(target=lambda one=share: done.append(work(one))) for share in shares
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return done


def _in_processes(work: Work, shares: Sequence[Share]) -> list[Written]:
    """Fork a writer for each share, which tells what it wrote through a queue."""
    context = multiprocessing.get_context("fork")
    answers = context.SimpleQueue()
    children = [
        context.Process(target=lambda one=share: answers.put(work(one))) for share in shares
    ]
    for child in children:
        child.start()
    done = [answers.get() for _ in children]
    for child in children:
        child.join()
    return done
