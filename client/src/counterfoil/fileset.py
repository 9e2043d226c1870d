"""The files of one level of one process: the open one, and those it closed before.

One thread at a time appends; every line is one write to a file opened with O_APPEND. What must be
durable is then synced by one thread for all that wait (group commit).
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import secrets
import threading
import time
from collections import deque
from pathlib import Path
from typing import Callable

from counterfoil import alive, names
from counterfoil.errors import SpoolError

_LEADER_S = 2.0


class SyncFailed(SpoolError):
    """The disk did not confirm what was written."""


class FileSet:
    """One level's files in one spool directory, written by this process alone.

    `head` is a line at the beginning of each file that is not counted.
    """

    def __init__(
        self,
        directory: Path,
        base: str,
        level: str,
        segment_bytes: int,
        segment_s: float = 60.0,
        head: bytes = b"",
        sync: Callable[[int], None] | None = None,
    ) -> None:
        self._directory = directory
        self._name = f"{base}-{level}-{secrets.token_hex(5)}"
        self._pid, self._start = os.getpid(), alive.own_start()
        self._segment_bytes, self._segment_s = segment_bytes, segment_s
        self._sync_fd = sync or full_sync
        self._level, self._head = level, head
        # Re-entrant, both: a signal handler of the task may write a receipt while its own thread
        # is in here.
        self._lock = threading.RLock()
        self._fd, self._first, self._size, self._opened = -1, 0, 0, 0.0
        self._next = 1
        self._stale = self._torn = False
        self._flushed = threading.Condition()
        self._synced = 0
        self._failed: deque[range] = deque(maxlen=64)
        self._leader = 0

    def append(self, line: bytes) -> int:
        """Hand one line to the operating system and give its number in the spool.

        Raises OSError when the disk refuses it; nothing of the line is then left behind.
        """
        with self._lock:
            self._ensure_segment(len(line))
            self._write(line)
            number = self._next
            self._next += 1
            return number

    def lose(self, count: int = 1) -> None:
        """Count lines that will never be written: they leave a hole in the numbers."""
        with self._lock:
            self._next += count
            self._stale = True

    def sync(self, number: int) -> None:
        """Return when the line of that number is on disk; raises SyncFailed when it may not be."""
        me = threading.get_ident()
        while True:
            with self._flushed:
                while self._leader not in (0, me) and self._synced < number:
                    # Not for ever: an exception from a signal handler can end a leader anywhere,
                    # and two that sync at once do no harm.
                    if not self._flushed.wait(_LEADER_S):
                        break
                if any(number in failed for failed in self._failed):
                    raise SyncFailed()
                if self._synced >= number:
                    return
                self._leader = me
            self._lead()

    def rotate(self) -> None:
        """Close the open file, if it holds anything, and begin the next one."""
        with self._lock:
            if self._fd >= 0 and self._size:
                self._begin_segment()

    def close(self) -> None:
        """Close the spool in order: its last file is renamed to `.ready`."""
        with self._lock:
            # Losses at the very end show only by a later file, so an empty one is left for them.
            if self._stale and self._next > 1:
                self._begin_segment()
            if self._fd >= 0:
                self._end_segment()
            self._fd = -1

    def forget(self) -> None:
        """Let go of files that belong to the parent process, without a trace in them."""
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = -1

    @property
    def stem(self) -> str:
        """The spool's name on disk."""
        return f"{self._name}.{self._pid}.{self._start}"

    def _path(self, first: int, ending: str) -> Path:
        file = names.SpoolFile(self._name, self._pid, self._start, ending, self._level, first)
        return self._directory / file.filename

    def _ensure_segment(self, size: int) -> None:
        is_old = time.monotonic() - self._opened > self._segment_s
        is_full = self._size + size > self._segment_bytes
        if self._fd < 0 or self._stale or (self._size and (is_old or is_full)):
            self._begin_segment()

    def _begin_segment(self) -> None:
        if self._fd >= 0 and self._first == self._next:
            self._stale = False
            return
        fd = self._create()
        # The new file is there before the old one is closed: a spool whose process lives always
        # has an `.open` file, so nobody takes it for finished.
        if self._fd >= 0:
            self._end_segment()
        self._fd, self._first, self._size = fd, self._next, 0
        self._opened, self._stale, self._torn = time.monotonic(), False, False

    def _create(self) -> int:
        made, path = self._path(self._next, "new"), self._path(self._next, "open")
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        fd = os.open(made, flags, 0o600)
        try:
            # Locked before it bears its name, so that it is never seen without its writer.
            fcntl.flock(fd, fcntl.LOCK_EX)
            if os.write(fd, self._head) < len(self._head):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            made.rename(path)
            self._sync_directory()
        except OSError:
            os.close(fd)
            raise
        return fd

    def _sync_directory(self) -> None:
        if self._level != names.DURABLE:
            return
        fd = os.open(self._directory, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)

    def _end_segment(self) -> None:
        if self._level == names.DURABLE:
            self._flush(self._fd, self._next - 1)
        with contextlib.suppress(FileNotFoundError):
            self._path(self._first, "open").rename(self._path(self._first, "ready"))
        os.close(self._fd)

    def _write(self, line: bytes) -> None:
        data = b"\n" + line if self._torn else line
        done = os.write(self._fd, data)
        if done < len(data):
            self._undo(done)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._next += self._torn
        self._torn = False
        self._size += done

    def _undo(self, done: int) -> None:
        # By the file's own size: the one that we keep is behind when an exception from a signal
        # handler came between a write and its counting.
        try:
            os.ftruncate(self._fd, os.fstat(self._fd).st_size - done)
        except OSError:
            # The torn piece stays: the next write ends its line first, and it takes a number.
            self._size += done
            self._torn = True

    def _lead(self) -> None:
        with self._lock:
            target = self._next - 1
            # A duplicate, because another thread may close the file while this one syncs it.
            fd = os.dup(self._fd) if self._fd >= 0 else -1
        try:
            self._flush(fd, target)
        finally:
            if fd >= 0:
                os.close(fd)
            with self._flushed:
                self._leader = 0
                self._flushed.notify_all()

    def _flush(self, fd: int, target: int) -> None:
        try:
            if fd >= 0:
                self._sync_fd(fd)
        except OSError:
            # After a failed sync the kernel may call the same pages clean, and the next sync of
            # this file would succeed without them: whoever waits writes again, in a new file.
            with self._flushed:
                self._failed.append(range(self._synced + 1, target + 1))
            self._stale = True
            return
        with self._flushed:
            self._synced = max(self._synced, target)


def full_sync(fd: int) -> None:
    """Put a file's data on the disk itself, not only into the drive's cache."""
    full = getattr(fcntl, "F_FULLFSYNC", None)
    if full is not None:
        fcntl.fcntl(fd, full)
    else:
        os.fdatasync(fd)
