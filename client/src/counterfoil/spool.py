"""The spool of this process: receipts on disk until the server has answered for them.

Two levels. *Durable*: on disk before `append` returns; threads that wait at once share one sync.
*Written*: handed to the operating system before `append` returns, which survives kill -9 and a
recycled pool child but not loss of power. Each level is a spool of its own with its own numbers,
so that the durable one has no hole even when written receipts had to go for want of room.
"""

from __future__ import annotations

import errno
import logging
import os
import threading
import time
import weakref
from pathlib import Path
from typing import Callable

from counterfoil import names, room
from counterfoil.errors import SpoolError, SpoolFull, SpoolUnusable
from counterfoil.fileset import FileSet, SyncFailed

log = logging.getLogger("counterfoil")

DEFAULT_MAX_BYTES = 256 * 1024 * 1024
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_REFUSED_S = 0.1
_LOOK_EVERY_S = 2.0
_TRIES = 3


class Spool:
    """Appends receipts to one spool directory for this process, its threads and its forks.

    `max_bytes` bounds the directory as a whole, whoever writes in it. An eighth of it is for
    durable receipts alone, so that they find room where files of others stand open. `when_full`
    says what a durable receipt does that finds no room: "raise" raises SpoolFull, "drop" counts it
    and goes on. A written receipt never raises.
    """

    def __init__(
        self,
        directory: Path,
        base: str = "client",
        *,
        max_bytes: int = DEFAULT_MAX_BYTES,
        when_full: str = "raise",
        sync: Callable[[int], None] | None = None,
    ) -> None:
        self.directory = directory
        self._base = names.clean_base(base)
        self._max_bytes, self._when_full, self._sync = max_bytes, when_full, sync
        self._segment_bytes = max(4096, min(4 * 1024 * 1024, max_bytes // 64))
        self._stride = max(1024, min(256 * 1024, max_bytes // 64))
        self._begin()
        _all.add(self)

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._sets = {level: self._new_set(level) for level in (names.DURABLE, names.WRITTEN)}
        self._journals: dict[bytes, FileSet] = {}
        self._room_lock = threading.RLock()
        self._unchecked = self._stride
        self._refused_until = self._look_at = 0.0
        self._is_warned = False

    def _new_set(self, level: str, head: bytes = b"") -> FileSet:
        return FileSet(
            self.directory, self._base, level, self._segment_bytes, head=head, sync=self._sync
        )

    def append(self, line: bytes, *, durable: bool, admitted: bool = False) -> bool:
        """Put one line in the spool and say whether it is there.

        `admitted` lets the line over the bound: the done of a claim whose start was taken must
        not be the one that finds no room.
        """
        if os.getpid() != self._pid:
            self._leave_parent()
        files = self._sets[names.DURABLE if durable else names.WRITTEN]
        try:
            if not self._has_room(len(line), durable) and not admitted:
                raise SpoolFull(f"({self._max_bytes} bytes in {self.directory})")
            self._put(files, line, durable)
        except (SpoolError, OSError) as error:
            return self._refuse(files, error, durable)
        self._is_warned = False
        return True

    def append_outcome(self, line: bytes, head: bytes) -> bool:
        """Put the line of an ordinary outcome in the journal that begins with that head.

        It is handed to the operating system, as a written receipt is, and never raises.
        """
        if os.getpid() != self._pid:
            self._leave_parent()
        files = self._journals.get(head)
        if files is None:
            files = self._journals.setdefault(head, self._new_set(names.OUTCOMES, head))
        try:
            if not self._has_room(len(line), durable=False):
                raise SpoolFull(f"({self._max_bytes} bytes in {self.directory})")
            self._put(files, line, durable=False)
        except (SpoolError, OSError) as error:
            return self._refuse(files, error, durable=False)
        self._is_warned = False
        return True

    def close(self) -> None:
        """Close the spool in order, so that the ledger does not take it for silent."""
        if os.getpid() == self._pid:
            for files in self._all_sets():
                self._close(files)
        self._begin()

    def _all_sets(self) -> list[FileSet]:
        return [*self._sets.values(), *self._journals.values()]

    def _close(self, files: FileSet) -> None:
        try:
            files.close()
        except OSError as error:
            log.warning("the spool %s was not closed in order: %s", self.directory, error)
            files.forget()

    def stems(self) -> list[str]:
        """Give the names on disk of this process's two spools, durable first."""
        return [self._sets[level].stem for level in (names.DURABLE, names.WRITTEN)]

    def _put(self, files: FileSet, line: bytes, durable: bool, tries: int = _TRIES) -> None:
        try:
            number = files.append(line)
            if durable:
                files.sync(number)
        except (SyncFailed, OSError) as error:
            if not tries or not self._remedy(error):
                raise
            self._put(files, line, durable, tries - 1)

    def _remedy(self, error: Exception) -> bool:
        """Do what may help; True when another try is worth it."""
        if isinstance(error, FileNotFoundError):
            self.directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            return True
        if isinstance(error, OSError) and error.errno in _NO_ROOM:
            return self._give_up(self._stride) > 0
        return isinstance(error, SyncFailed)

    def _refuse(self, files: FileSet, error: Exception, durable: bool) -> bool:
        if not self._is_warned:
            self._is_warned = True
            log.warning("a receipt could not be put in the spool %s: %s", self.directory, error)
        if not durable or self._when_full == "drop":
            files.lose()
            return False
        if isinstance(error, SpoolError):
            raise error
        full = isinstance(error, OSError) and error.errno in _NO_ROOM
        raise (SpoolFull if full else SpoolUnusable)(str(error)) from error

    def _has_room(self, size: int, durable: bool) -> bool:
        self._unchecked += size
        is_checked = self._unchecked < self._stride and time.monotonic() < self._look_at
        if is_checked and not self._refused_until:
            return True
        with self._room_lock:
            return self._look(size, durable)

    def _look(self, size: int, durable: bool) -> bool:
        begun = time.monotonic()
        # When nothing can be given up, looking anew for every receipt would slow the task down.
        if begun < self._refused_until and not durable:
            return False
        self._unchecked, self._refused_until = 0, 0.0
        if not self.directory.is_dir():
            return True
        has_room = self._make_room(size, durable)
        ended = time.monotonic()
        # By the clock as well, since others write here too; rarely, where a look takes long.
        self._look_at = ended + max(_LOOK_EVERY_S, 100 * (ended - begun))
        if not has_room:
            self._refused_until = ended + _REFUSED_S
        return has_room

    def _make_room(self, size: int, durable: bool) -> bool:
        bound = self._max_bytes - (0 if durable else self._max_bytes // 8)
        over = room.used_bytes(self.directory) + size + self._stride - bound
        if over <= 0 or self._give_up(over) >= over:
            return True
        if durable and over <= self._stride:
            self._unchecked = self._stride
            return True
        return False

    def _give_up(self, wanted: int) -> int:
        freed = room.give_up_oldest(self.directory, wanted)
        if freed < wanted:
            for files in (*self._journals.values(), self._sets[names.WRITTEN]):
                files.rotate()
            freed += room.give_up_oldest(self.directory, wanted - freed)
        return freed

    def _leave_parent(self) -> None:
        for files in self._all_sets():
            files.forget()
        self._begin()


_all: weakref.WeakSet[Spool] = weakref.WeakSet()


def _after_fork() -> None:
    for spool in list(_all):
        spool._leave_parent()


# A lock that another thread held at the moment of the fork stays locked for ever in the child.
os.register_at_fork(after_in_child=_after_fork)
