"""One embedded server a data directory: a lock file that the kernel releases when it ends."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from config import private


class AlreadyRunning(Exception):
    """Another server uses this data directory."""


class InstanceLock:
    """Holds `server.lock` in the data directory while the process lives."""

    def __init__(self, data_dir: Path) -> None:
        private.make_folder(data_dir)
        self._path = data_dir / "server.lock"
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.read(self._file, 200).decode("utf-8", "replace").strip()
            os.close(self._file)
            raise AlreadyRunning(owner) from None

    def note(self, text: str) -> None:
        """Write into the lock file who holds it, for the one who meets it."""
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, text.encode(), 0)

    def release(self) -> None:
        """Let another server start."""
        os.close(self._file)
