"""Reading the lines of a spool file, and the answers to them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from counterfoil import regular

MAX_LINES = 1000
MAX_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True)
class Line:
    """One line without its newline, and where the next one begins in the file."""

    text: bytes
    end: int


def read_lines(
    path: Path, offset: int, *, is_final: bool, lines: int = MAX_LINES, size: int = MAX_BYTES
) -> list[Line]:
    """Read the next lines that fit one request of `lines` lines and `size` bytes.

    Blank lines are left out. The last line is given without its newline only when `is_final`:
    while the writer lives, the rest of it may still come. A line longer than `size` is given
    alone and cut one byte above it, which is what the server needs to see that it is too long.
    Raises FileNotFoundError and Unreadable.
    """
    taken: list[Line] = []
    with regular.reading(path) as source:
        source.seek(offset)
        room = size
        while len(taken) < lines:
            line = _next_line(source, offset, is_final, size)
            if line is None:
                break
            offset = line.end
            if not line.text.strip():
                continue
            room -= len(line.text) + 1
            if room < 0 and taken:
                break
            taken.append(line)
    return taken


def count_lines(path: Path, offset: int) -> int:
    """Count the newlines from the offset on; raises FileNotFoundError and Unreadable."""
    count = 0
    with regular.reading(path) as source:
        source.seek(offset)
        while chunk := source.read(1024 * 1024):
            count += chunk.count(b"\n")
    return count


def answered(statuses: Sequence[object]) -> int:
    """Count the leading lines that have an answer other than 401, 403, 429 and 5xx."""
    count = 0
    for status in statuses:
        if not is_answer(status):
            break
        count += 1
    return count


def is_answer(status: object) -> bool:
    """Say whether a line with this status needs no sending again."""
    if not isinstance(status, int) or isinstance(status, bool):
        return False
    return 200 <= status < 500 and status not in (401, 403, 429)


def statuses_of(body: bytes) -> list[object]:
    """Read the status of each line from an NDJSON answer; what cannot be read is None."""
    return [_status(line) for line in body.split(b"\n") if line.strip()]


def _status(line: bytes) -> object:
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found.get("status") if isinstance(found, dict) else None


def _next_line(source: BinaryIO, at: int, is_final: bool, size: int) -> Line | None:
    raw = source.readline(size + 1)
    end, tail = at + len(raw), raw
    while len(tail) == size + 1 and not tail.endswith(b"\n"):
        tail = source.readline(size + 1)
        end += len(tail)
    if tail.endswith(b"\n"):
        return Line(raw[:-1] if tail is raw else raw, end)
    return Line(raw, end) if raw and is_final else None
