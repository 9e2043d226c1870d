"""What is made in the data directory is for its user alone."""

from __future__ import annotations

import stat
from pathlib import Path

from config import databases, instance_lock, secrets


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_data_directory_and_all_in_it_are_for_one_user(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "data"

    secrets.secret_key("", folder)
    databases.database("", folder)
    instance_lock.InstanceLock(folder).release()

    assert mode(folder) == 0o700
    assert {path.name: mode(path) for path in folder.iterdir()} == {
        "secret_key": 0o600, "counterfoil.sqlite3": 0o600, "server.lock": 0o600,
    }  # fmt: skip


def test_a_directory_and_a_database_that_stand_keep_their_mode(tmp_path: Path) -> None:
    (tmp_path / "counterfoil.sqlite3").write_text("kept")
    (tmp_path / "counterfoil.sqlite3").chmod(0o640)
    tmp_path.chmod(0o750)

    secrets.secret_key("", tmp_path)
    databases.database("", tmp_path)

    assert (mode(tmp_path), mode(tmp_path / "counterfoil.sqlite3")) == (0o750, 0o640)
    assert (tmp_path / "counterfoil.sqlite3").read_text() == "kept"
