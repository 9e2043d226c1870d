"""What was read and not yet taken: first in memory, then in a file without a name.

A slow store must not make the reader slow, since a Redis cuts off whoever does not read. The file
has no name, so nothing of it is left when the process ends, and it is read by nobody else.
"""

from __future__ import annotations

import contextlib
import os
import struct
import tempfile
import threading
from collections import deque
from pathlib import Path
from typing import BinaryIO, NamedTuple

MEMORY = 16 * 1024 * 1024
DISK = 1024 * 1024 * 1024
AT_ONCE = 1024 * 1024
"""As many bytes as are taken at once; at least one chunk."""

_HEAD = struct.Struct("<qI")


class Chunk(NamedTuple):
    """Bytes of a connection as they came at a time, in microseconds since 1970.

    Without bytes it is a hole: nothing was watched from `at` to `until`, for the reason `why`, and
    what follows comes from a new connection.
    """

    at: int
    raw: bytes
    until: int = 0
    why: str = ""


class Backlog:
    """Chunks in order, between the thread that reads and the one that takes."""

    def __init__(self, folder: Path | None, memory: int = MEMORY, disk: int = DISK) -> None:
        """Take a folder for the file, None for the system's; the file is made when needed."""
        self._folder, self._memory, self._disk = folder, memory, disk
        self._held: deque[Chunk] = deque()
        self._behind: deque[Chunk | None] = deque()
        self._in_memory = self._on_disk = self._read_at = 0
        self._file: BinaryIO | None = None
        self._changed = threading.Condition()
        self.greatest = 0

    @property
    def size(self) -> int:
        """Give how many bytes wait."""
        with self._changed:
            return self._in_memory + self._on_disk - self._read_at

    @property
    def is_low(self) -> bool:
        """Tell whether so little waits that reading may go on after the backlog was full."""
        return self.size <= self._memory // 2

    def put(self, chunk: Chunk) -> bool:
        """Add a chunk; False when there is no room for it. A hole always has room."""
        with self._changed:
            if not self._add(chunk):
                return False
            waiting = self._in_memory + self._on_disk - self._read_at
            self.greatest = max(self.greatest, waiting)
            self._changed.notify()
        return True

    def take(self, timeout_s: float) -> list[Chunk]:
        """Take the oldest chunks, waiting for one for so long."""
        with self._changed:
            if not self._held and not self._behind:
                self._changed.wait(timeout_s)
            taken: list[Chunk] = []
            size = 0
            while (self._held or self._behind) and size < AT_ONCE:
                taken.append(self._next())
                size += len(taken[-1].raw)
            return taken

    def wake(self) -> None:
        """Let whoever waits to take something go on without."""
        with self._changed:
            self._changed.notify_all()

    def close(self) -> None:
        """Drop the file."""
        with self._changed:
            self._drop()

    def _add(self, chunk: Chunk) -> bool:
        size = len(chunk.raw)
        if not self._behind and (not size or self._in_memory + size <= self._memory):
            self._held.append(chunk)
            self._in_memory += size
            return True
        if not size:
            self._behind.append(chunk)
            return True
        return self._write(chunk)

    def _write(self, chunk: Chunk) -> bool:
        size = _HEAD.size + len(chunk.raw)
        if self._on_disk + size > self._disk:
            return False
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115
            self._file.seek(self._on_disk)
            self._file.write(_HEAD.pack(chunk.at, len(chunk.raw)) + chunk.raw)
            self._file.flush()
        except OSError:
            # A full disk is a full backlog: the reader waits, and says that it did not watch.
            return False
        self._on_disk += size
        self._behind.append(None)
        return True

    def _next(self) -> Chunk:
        if self._held:
            chunk = self._held.popleft()
            self._in_memory -= len(chunk.raw)
            return chunk
        behind = self._behind.popleft()
        chunk = self._read() if behind is None else behind
        if not self._behind:
            self._drop()
        return chunk

    def _read(self) -> Chunk:
        # What is on disk is there only through this file.
        descriptor = self._file.fileno() if self._file else -1
        head = os.pread(descriptor, _HEAD.size, self._read_at)
        at, size = _HEAD.unpack(head)
        raw = os.pread(descriptor, size, self._read_at + _HEAD.size)
        self._read_at += _HEAD.size + size
        return Chunk(at, raw)

    def _drop(self) -> None:
        """Give the disk its room back, now that all that was on it is taken."""
        self._on_disk = self._read_at = 0
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.close()
            self._file = None
