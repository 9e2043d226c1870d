"""Transactions on both databases; the only module that opens one.

On SQLite there is one writer at a time. Threads that meet at BEGIN IMMEDIATE starve past any
busy time-out (design, section 7, measured), so they queue for a lock of this process first.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction

_writer = threading.RLock()


def is_postgresql() -> bool:
    """Say whether the database is PostgreSQL; otherwise it is SQLite."""
    return connection.vendor == "postgresql"


def indexed_by(index: str) -> str:
    """Say behind a table's name by which index SQLite is to read it; a wrong name is an error.

    SQLite keeps no statistics here, and takes the index that a list's order asks for, though it
    reads the whole log for it. PostgreSQL has statistics and chooses for itself.
    """
    return "" if is_postgresql() else f" INDEXED BY {index}"


@contextmanager
def write_transaction() -> Iterator[None]:
    """Run a block in one durable write transaction; keep it under 50 ms on SQLite."""
    if is_postgresql():
        with transaction.atomic():
            yield
        return
    with _writer, transaction.atomic():
        yield


@contextmanager
def derived_transaction() -> Iterator[None]:
    """Run a block that writes nothing but what can be derived again from the ledger.

    It does not wait for the disk: a loss of power may take the newest such transactions back, each
    whole, and what they wrote is derived once more.
    """
    if connection.in_atomic_block:
        yield
    elif is_postgresql():
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL synchronous_commit = off")
            yield
    else:
        with _writer, _synchronous("NORMAL"), transaction.atomic():
            yield


@contextmanager
def _synchronous(level: str) -> Iterator[None]:
    """Set how SQLite waits for the disk, outside a transaction, and set it back."""
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA synchronous={level}")
        try:
            yield
        finally:
            cursor.execute("PRAGMA synchronous=FULL")


@contextmanager
def read_snapshot() -> Iterator[None]:
    """Run a block of reads that all see the same state, without holding up a writer.

    Temporary tables may be written in it, which takes no lock that a writer waits for.
    """
    if connection.in_atomic_block:
        yield
        return
    if is_postgresql():
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            yield
        return
    with _deferred():
        yield


@contextmanager
def _deferred() -> Iterator[None]:
    """Open SQLite's own snapshot; `atomic` would take the write lock at BEGIN IMMEDIATE."""
    connection.ensure_connection()
    before = connection.transaction_mode  # type: ignore[attr-defined]
    connection.transaction_mode = "DEFERRED"  # type: ignore[attr-defined]
    try:
        with transaction.atomic():
            yield
    finally:
        connection.transaction_mode = before  # type: ignore[attr-defined]


def try_lock(name: str) -> bool:
    """Take a named lock until the end of this transaction, or say at once that another has it.

    PostgreSQL only; on SQLite the write lock of the transaction is the lock.
    """
    if not is_postgresql():
        return True
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 0))", [name])
        row = cursor.fetchone()
    return bool(row and row[0])


def take_lock(name: str) -> None:
    """Take a named lock until the end of this transaction, after whoever has it now.

    PostgreSQL only; on SQLite the write lock of the transaction is the lock.
    """
    if is_postgresql():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [name])
