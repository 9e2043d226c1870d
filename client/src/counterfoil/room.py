"""The bound of a spool directory: what lies on disk, and what may be given up for room.

Only closed files are given up, oldest first: ordinary outcomes before written receipts, and never a
durable receipt or a tally. What is lost needs no record of its
own: the next file of that spool bears the number of its first line, and the hole before it is the
count. Where there is no next file, an empty one is left.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG

from counterfoil import alive, names, regular


@dataclass(frozen=True)
class Entry:
    """A file of the spool directory with its size in bytes and its last change in ns."""

    file: names.SpoolFile
    path: Path
    size: int
    changed_ns: int


def used_bytes(directory: Path) -> int:
    """Give the bytes of all files in the directory."""
    return sum(stat.st_size for stat in map(_stat, os.scandir(directory)) if stat is not None)


def iter_entries(directory: Path) -> Iterator[Entry]:
    """Give the regular spool files of the directory that are open or ready."""
    for entry in os.scandir(directory):
        file = names.parse(entry.name)
        if file is None or file.ending not in ("open", "ready"):
            continue
        stat = _stat(entry)
        if stat is not None and S_ISREG(stat.st_mode):
            yield Entry(file, Path(entry.path), stat.st_size, stat.st_mtime_ns)


def give_up_oldest(directory: Path, wanted: int) -> int:
    """Delete written receipts, oldest file first, and give the number of bytes freed."""
    entries = list(iter_entries(directory))
    freed = 0
    for entry in sorted(entries, key=_order):
        if freed >= wanted:
            break
        if _is_droppable(entry) and _drop(entry, entries):
            freed += entry.size
    return freed


def _order(entry: Entry) -> tuple[bool, int, int]:
    return entry.file.level != names.OUTCOMES, entry.changed_ns, entry.file.first or 0


def _stat(entry: os.DirEntry[str]) -> os.stat_result | None:
    try:
        return entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None


def _is_droppable(entry: Entry) -> bool:
    if entry.file.level not in (names.WRITTEN, names.OUTCOMES) or not entry.size:
        return False
    if entry.file.ending == "ready":
        return True
    file = entry.file
    return not alive.is_locked(entry.path) and not alive.is_process(file.pid, file.start)


def _drop(entry: Entry, entries: list[Entry]) -> bool:
    first = entry.file.first or 1
    later = any(e.file.stem == entry.file.stem and (e.file.first or 0) > first for e in entries)
    try:
        if not later and not _leave_mark(entry, first):
            return False
        entry.path.unlink()
    except (OSError, regular.Unreadable):
        # Another process gave it up, or the forwarder has just sent it.
        return False
    return True


def _is_head(entry: Entry, line: bytes) -> bool:
    return entry.file.level == names.OUTCOMES and line.startswith(b"{")


def _leave_mark(entry: Entry, first: int) -> bool:
    """Leave an empty file that bears the number after the last; False when this file is that."""
    with regular.reading(entry.path) as lines:
        count = sum(1 for line in lines if not _is_head(entry, line))
    file = entry.file
    mark = names.SpoolFile(file.name, file.pid, file.start, "ready", file.level, first + count)
    if mark.filename == entry.path.name:
        return False
    os.close(os.open(entry.path.with_name(mark.filename), os.O_CREAT | os.O_WRONLY, 0o600))
    return True
