from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest
from django.db import connection

from tests.architecture import ROOT
from tests.databases import Database


def count_users() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM access_user")
        return int(cursor.fetchone()[0])


@pytest.mark.parametrize("time", ["first", "second"])
def test_each_test_has_an_empty_database_of_the_kind_it_asked_for(
    database: Database, time: str
) -> None:
    assert connection.vendor == database.vendor
    assert count_users() == 0

    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE left_behind (a int)")


def test_every_thread_reaches_the_same_database(database: Database) -> None:
    seen: list[object] = []

    def ask() -> None:
        seen.append((connection.vendor, connection.settings_dict["NAME"], count_users()))
        connection.close()

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()

    assert seen == [(database.vendor, connection.settings_dict["NAME"], 0)]


@pytest.mark.slow
def test_another_process_reaches_the_same_database(database: Database) -> None:
    ask = "from django.db import connection; print(connection.settings_dict['NAME'])"

    done = subprocess.run(
        [sys.executable, "-c", ask],
        cwd=ROOT,
        env={**os.environ, **database.environment},
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.strip() == str(connection.settings_dict["NAME"])
