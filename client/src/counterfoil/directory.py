"""What lies in a spool directory, and the lock of its one forwarder."""

from __future__ import annotations

import contextlib
import fcntl
import os
import weakref
from pathlib import Path

from counterfoil import alive, names

LOCK_NAME = ".forward.lock"
_ORDER = {"sent": 0, "ready": 1, "open": 2}


class ForwardLock:
    """Held by the process that forwards a directory; a crash lets go of it."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / LOCK_NAME
        self._fd = -1
        _all.add(self)

    def take(self) -> bool:
        """Take the lock if nobody else has it; True when it is ours."""
        if self._fd >= 0:
            return True
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        fd = os.open(self._path, flags, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(fd)
            return False
        self._fd = fd
        return True

    def release(self) -> None:
        """Let another have it."""
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = -1


def spools(directory: Path) -> dict[str, list[names.SpoolFile]]:
    """Give the files of each spool in the order of their lines; durable spools come first."""
    return _by_stem(directory, is_journal=False)


def journals(directory: Path) -> dict[str, list[names.SpoolFile]]:
    """Give the files of each journal of ordinary outcomes in the order of their lines."""
    return _by_stem(directory, is_journal=True)


def has_journal(directory: Path, stem: str, first: int) -> bool:
    """Say whether a journal's file with that first number is there.

    A listing can miss a file that is renamed while it is made; a look at its names cannot.
    """
    name, pid, start = stem.rsplit(".", 2)
    endings = ("open", "ready", "open")
    files = (names.SpoolFile(name, int(pid), start, e, names.OUTCOMES, first) for e in endings)
    return any((directory / file.filename).exists() for file in files)


def _by_stem(directory: Path, *, is_journal: bool) -> dict[str, list[names.SpoolFile]]:
    found: dict[str, list[names.SpoolFile]] = {}
    for entry in os.scandir(directory):
        file = names.parse(entry.name)
        if file is None or (file.level == names.OUTCOMES) is not is_journal:
            continue
        if file.ending in _ORDER:
            found.setdefault(file.stem, []).append(file)
    for files in found.values():
        files.sort(key=lambda f: (f.first or 0, _ORDER[f.ending]))
    order = sorted(found, key=lambda stem: (found[stem][0].level != names.DURABLE, stem))
    return {stem: found[stem] for stem in order}


def strangers(directory: Path) -> list[str]:
    """Give the names that end as a spool file's do and are none: nobody will ever send those."""
    endings = (".open", ".ready")
    found = (entry.name for entry in os.scandir(directory) if entry.name.endswith(endings))
    return sorted(name for name in found if names.parse(name) is None)


def remove_unborn(directory: Path) -> None:
    """Delete the empty files of writers that died before these had their names."""
    for path in directory.glob("*.new"):
        file = names.parse(path.name)
        if file is None or alive.is_locked(path) or alive.is_process(file.pid, file.start):
            continue
        with contextlib.suppress(OSError):
            path.unlink()


def stems_with_state(directory: Path) -> list[str]:
    """Give the spools that the forwarder remembers, whether or not a file of theirs is left."""
    stems = (path.stem for path in directory.glob("*.state"))
    return sorted(stem for stem in stems if names.parse(f"{stem}.open") is not None)


def is_written(directory: Path, file: names.SpoolFile) -> bool:
    """Say whether more may still come at the end of the file."""
    if file.ending != "open":
        return False
    return alive.is_locked(directory / file.filename) or alive.is_process(file.pid, file.start)


def may_return(stem: str) -> bool:
    """Say whether a spool without files may yet get another one.

    A living writer of this client always has an open file; of other programs we cannot know.
    """
    name, pid, start = stem.rsplit(".", 2)
    ours = names.parse(f"{name}+1.{pid}.{start}.open")
    if ours is not None and ours.level is not None:
        return False
    return alive.is_process(int(pid), start)


_all: weakref.WeakSet[ForwardLock] = weakref.WeakSet()


def _after_fork() -> None:
    # The child shares the parent's lock for as long as it keeps the descriptor.
    for lock in list(_all):
        lock.release()


os.register_at_fork(after_in_child=_after_fork)
