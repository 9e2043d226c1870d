"""The servers, databases and browser that tests may ask for."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests import servers

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page
    from pytest_django.plugin import DjangoDbBlocker

    from tests.databases import Database
    from tests.running import Counterfoil


@pytest.fixture(scope="session")
def postgresql() -> Iterator[servers.Postgres]:
    """Give this worker's PostgreSQL, started at its first use."""
    with closing(servers.Postgres()) as server:
        yield server.start()


@pytest.fixture(scope="session")
def redis_server() -> Iterator[servers.Redis]:
    """Give this worker's Redis, started at its first use."""
    with closing(servers.Redis()) as server:
        yield server.start()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Give the system's Chromium with an empty profile of its own.

    For one module, since Playwright's event loop counts as running for as long as the browser is
    open, and Django refuses to ask the database beside a running loop.
    """
    # Not above: Playwright takes long to import, and most runs do without it.
    from tests.chromium import launch

    with launch() as browser:
        yield browser


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    """Give an empty page without cookies."""
    context = chromium.new_context()
    yield context.new_page()
    context.close()


@pytest.fixture(scope="session")
def sqlite_template(
    tmp_path_factory: pytest.TempPathFactory, django_db_blocker: DjangoDbBlocker
) -> Path:
    """Give a migrated database file to copy, made by the first worker that asks for one."""
    from tests.databases import find_or_make_sqlite_template

    base = tmp_path_factory.getbasetemp()
    folder = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with django_db_blocker.unblock():
        return find_or_make_sqlite_template(folder / "sqlite-template")


@pytest.fixture(scope="session")
def django_db_keepdb(request: pytest.FixtureRequest, django_db_modify_db_settings: None) -> bool:
    """Let Django's own test database begin as a copy too, where it is SQLite."""
    from django.db import connection

    if connection.vendor != "sqlite":
        return False
    template = request.getfixturevalue("sqlite_template")
    shutil.copy(template, connection.creation._get_test_db_name())
    return True


@pytest.fixture(scope="session")
def postgresql_template(
    postgresql: servers.Postgres,
    tmp_path_factory: pytest.TempPathFactory,
    django_db_blocker: DjangoDbBlocker,
) -> str:
    """Give the name of a migrated PostgreSQL database to copy."""
    from tests.databases import make_postgresql_template

    with django_db_blocker.unblock():
        return make_postgresql_template(postgresql, tmp_path_factory.mktemp("pg-template"))


@pytest.fixture
def sqlite_database(
    sqlite_template: Path, tmp_path: Path, django_db_blocker: DjangoDbBlocker
) -> Iterator[Database]:
    """Make a fresh SQLite file the default database of every thread."""
    from tests.databases import copy_of_sqlite

    with django_db_blocker.unblock(), copy_of_sqlite(sqlite_template, tmp_path) as database:
        yield database


@pytest.fixture
def postgresql_database(
    postgresql: servers.Postgres,
    postgresql_template: str,
    tmp_path: Path,
    django_db_blocker: DjangoDbBlocker,
) -> Iterator[Database]:
    """Make a fresh PostgreSQL database the default one of every thread."""
    from tests.databases import copy_of_postgresql

    copied = copy_of_postgresql(postgresql, postgresql_template, tmp_path)
    with django_db_blocker.unblock(), copied as database:
        yield database


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def database(request: pytest.FixtureRequest) -> Database:
    """Run a test twice, with a fresh database of each kind; the second time counts as slow."""
    chosen: Database = request.getfixturevalue(f"{request.param}_database")
    return chosen


@pytest.fixture(scope="module")
def counterfoil(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Counterfoil]:
    """Give a running server with an empty SQLite ledger, shared by the tests of a module."""
    from tests.running import Counterfoil

    with closing(Counterfoil(tmp_path_factory.mktemp("server") / "data")) as server:
        yield server.start()
