"""What is made in the data directory can be read by the user alone who runs the server."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def make_folder(path: Path) -> None:
    """Make a folder; one that stands keeps the mode that somebody gave it."""
    if not path.is_dir():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(mode=0o700, exist_ok=True)


def make_file(path: Path) -> None:
    """Make an empty file where none is; one that cannot be made is for its user to tell of.

    SQLite would make it readable for all, and gives its `-wal` and `-shm` the mode of the file.
    """
    with contextlib.suppress(OSError):
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
