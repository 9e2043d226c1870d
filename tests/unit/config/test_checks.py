from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import time_machine

from config import checks
from tests.databases import Database, use

MOUNTS = [("/", "ext4"), ("/srv", "nfs4"), ("/srv/local", "xfs")]


@pytest.mark.parametrize(
    ("path", "kind"),
    [("/home/x", "ext4"), ("/srv/data", "nfs4"), ("/srv/local/data", "xfs"), ("/srvx", "ext4")],
)
def test_the_disk_of_a_path_is_its_longest_mount(path: str, kind: str) -> None:
    assert checks.disk_kind(Path(path), MOUNTS) == kind


def test_a_data_directory_that_cannot_be_made_is_an_error(settings: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    settings.DATA_DIR = tmp_path / "file" / "data"

    (found,) = checks.check_data_directory(None)

    assert found.id == "config.E001"


def test_sqlite_on_a_network_disk_is_an_error(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "_mounts", lambda: [("/", "nfs4")])

    (found,) = checks.check_network_disk(None)

    assert found.id == "config.E002"


def test_a_short_secret_is_an_error(settings: Any) -> None:
    settings.SECRET_KEY = "short"

    (found,) = checks.check_secret(None)

    assert found.id == "config.E003"


def test_a_clock_before_the_release_is_a_warning() -> None:
    with time_machine.travel(datetime(2020, 1, 1, tzinfo=UTC)):
        (found,) = checks.check_clock(None)

    assert found.id == "config.W004"


def test_a_clock_behind_the_log_is_a_warning(sqlite_database: Any, make_head: Any) -> None:
    make_head(datetime(2027, 1, 1, tzinfo=UTC))

    with time_machine.travel(datetime(2026, 12, 1, tzinfo=UTC)):
        (found,) = checks.check_clock(None, databases=["default"])

    assert found.id == "config.W004"


def test_tables_that_are_not_made_yet_are_a_warning(tmp_path: Path, django_db_blocker: Any) -> None:
    with django_db_blocker.unblock(), use(Database(tmp_path)):
        (found,) = checks.check_migrations(None, databases=["default"])

    assert found.id == "config.W005"
