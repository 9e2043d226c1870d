"""A migrated, empty database for each test that starts threads or processes of its own.

Such a test cannot run inside a transaction that is rolled back, and the append-only triggers
refuse what Django would do instead (empty the tables). So each gets a copy of a template.
"""

from __future__ import annotations

import fcntl
import itertools
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.db import connections

from config import databases
from tests.servers import Postgres

FILE = "counterfoil.sqlite3"

_numbers = itertools.count(1)


@dataclass(frozen=True)
class Database:
    """The default database of this process for as long as the test runs."""

    data_dir: Path
    url: str = ""

    @property
    def vendor(self) -> str:
        return "postgresql" if self.url else "sqlite"

    @property
    def settings(self) -> dict[str, Any]:
        """Return how this process reaches it: on SQLite without waiting for the disk."""
        described = databases.database(self.url, self.data_dir)
        if not self.url:
            described["OPTIONS"]["init_command"] += "PRAGMA synchronous=OFF;"
        return described

    @property
    def environment(self) -> dict[str, str]:
        """Return the variables with which another process reaches the same database."""
        return {"DATA_DIR": str(self.data_dir), "DATABASE_URL": self.url}


def find_or_make_sqlite_template(folder: Path) -> Path:
    """Return the migrated database file of a folder; one process makes it, the others wait."""
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "made").exists():
            with use(Database(folder)):
                call_command("migrate", verbosity=0)
            (folder / "made").touch()
    return folder / FILE


def make_postgresql_template(server: Postgres, folder: Path) -> str:
    """Migrate a database once and return its name."""
    server.execute("CREATE DATABASE template_counterfoil")
    with use(Database(folder, server.url_of("template_counterfoil"))):
        call_command("migrate", verbosity=0)
    return "template_counterfoil"


@contextmanager
def copy_of_sqlite(template: Path, folder: Path) -> Iterator[Database]:
    shutil.copy(template, folder / FILE)
    database = Database(folder)
    with use(database):
        yield database


@contextmanager
def copy_of_postgresql(server: Postgres, template: str, folder: Path) -> Iterator[Database]:
    name = f"copy_{next(_numbers)}"
    server.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
    database = Database(folder, server.url_of(name))
    with use(database):
        yield database
    server.execute(f"DROP DATABASE {name} WITH (FORCE)")


@contextmanager
def use(database: Database) -> Iterator[None]:
    """Make a database the default one of every thread until the block ends.

    Threads that were started inside the block must be gone by then: their connections are their
    own, and only they can close them.
    """
    before = connections.settings["default"]
    described = connections.configure_settings({"default": database.settings})["default"]
    forget_connection()
    connections.settings["default"] = described
    try:
        yield
    finally:
        forget_connection()
        connections.settings["default"] = before


def forget_connection() -> None:
    """Close this thread's connection, and the pool that the process keeps under its alias."""
    connection = connections["default"]
    connection.close()
    if connection.vendor == "postgresql":
        connection.close_pool()
    del connections["default"]
