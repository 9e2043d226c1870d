"""A guard in a directory: a file that only one process can create."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

from counterfoil.guards.answers import MINE, Answer, held


class FileGuard:
    """Holds a key by a file made with O_EXCL, for processes of one machine.

    A file that has not finished within `run_for_s` is taken over; None never takes over. The
    directory must lie on a local disk. Done files stay until somebody deletes them.
    """

    def __init__(
        self,
        directory: Path | str,
        *,
        run_for_s: float | None = 3600.0,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._directory = Path(directory)
        self._run_for_s, self._now = run_for_s, now
        self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)

    def claim(self, key: str, token: str) -> Answer:
        """Create the file, or take over one whose time has run out, else say who has it."""
        path = self._path(key)
        with self._turn():
            if self._create(path, token):
                return MINE
            found = _read(path)
            holder = found.get("token")
            finished = bool(found.get("finished"))
            if holder == token and not finished:
                return MINE
            if finished or not self._is_over(found):
                return held(holder, finished=finished)
            path.unlink()
            self._create(path, token)
            return Answer(mine=True, took_over=holder)

    def finish(self, key: str, token: str) -> bool:
        """Mark the file as done if the token still holds it."""
        path = self._path(key)
        with self._turn():
            if _read(path).get("token") != token:
                return False
            self._write(path, token, finished=True)
            return True

    def release(self, key: str, token: str) -> bool:
        """Delete the file if the token still holds it."""
        path = self._path(key)
        with self._turn():
            found = _read(path)
            if found.get("token") != token or found.get("finished"):
                return False
            path.unlink()
            return True

    def _is_over(self, found: dict[str, Any]) -> bool:
        at = found.get("claimed_at")
        if self._run_for_s is None or not isinstance(at, (int, float)):
            return False
        return self._now() - at >= self._run_for_s

    def _path(self, key: str) -> Path:
        return self._directory / hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()

    def _create(self, path: Path, token: str) -> bool:
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
        except FileExistsError:
            return False
        self._write(path, token, finished=False)
        return True

    def _write(self, path: Path, token: str, *, finished: bool) -> None:
        text = json.dumps({"token": token, "finished": finished, "claimed_at": self._now()})
        made = path.with_suffix(f".{os.getpid()}")
        made.write_text(text, encoding="utf-8")
        made.replace(path)

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        # O_EXCL alone decides who creates; reading, taking over and finishing need more than one
        # step, and a file lock is let go of by the system when its holder dies.
        fd = os.open(self._directory / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            yield
        finally:
            os.close(fd)


def _read(path: Path) -> dict[str, Any]:
    # An empty file is what a crash between creating and writing leaves: held, by nobody we know.
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
