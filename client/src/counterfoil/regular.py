"""Opening what lies in a spool directory: regular files alone, and never what a link points at.

Others may write in the directory too. A link could lead the forwarder to a file that is none of the
project's, and a FIFO would make it wait for ever.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from counterfoil.errors import CounterfoilError

READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW


class Unreadable(CounterfoilError):
    """A file of the spool directory cannot be read; its spool waits."""

    def __init__(self, path: Path, problem: str) -> None:
        # As Python would write it: a name may hold a newline, and this stands in one line.
        super().__init__(f"({path.name!a}: {problem})")
        self.name, self.problem = path.name, problem


class NotRegular(Unreadable):
    """A file of the spool directory is none that can be sent; its spool waits."""


def descriptor(path: Path) -> int:
    """Open a regular file for reading; raises NotRegular for anything else, and OSError."""
    with suppress(FileNotFoundError):
        _check(path, os.lstat(path).st_mode)
    fd = os.open(path, READ)
    try:
        _check(path, os.fstat(fd).st_mode)
    except NotRegular:
        os.close(fd)
        raise
    return fd


@contextmanager
def reading(path: Path) -> Iterator[BinaryIO]:
    """Open a regular file for reading; raises FileNotFoundError when it is gone, and Unreadable."""
    try:
        with os.fdopen(descriptor(path), "rb") as source:
            yield source
    except FileNotFoundError:
        raise
    except OSError as error:
        raise Unreadable(path, error.strerror or type(error).__name__) from error


def read_bytes(path: Path) -> bytes:
    """Give the bytes of a regular file; raises as `reading` does."""
    with reading(path) as source:
        return source.read()


def create(path: Path) -> int:
    """Open a file for writing that is new, in place of what was there; raises OSError."""
    try:
        return os.open(path, _WRITE, 0o600)
    except FileExistsError:
        path.unlink(missing_ok=True)
        return os.open(path, _WRITE, 0o600)


def write_bytes(path: Path, data: bytes) -> None:
    """Write a new file in place of what was there; raises OSError."""
    with os.fdopen(create(path), "wb") as target:
        target.write(data)


def _check(path: Path, mode: int) -> None:
    if stat.S_ISREG(mode):
        return
    kinds = {stat.S_IFDIR: "a directory", stat.S_IFLNK: "a link", stat.S_IFIFO: "a FIFO"}
    raise NotRegular(path, f"{kinds.get(stat.S_IFMT(mode), 'a device')}, not a regular file")
