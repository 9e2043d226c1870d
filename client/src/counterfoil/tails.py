"""Reading a journal from where the composer stands, outcome by outcome.

A number that no line bears is an outcome that was lost for want of room, as in every spool; so is
the torn last line of a process that died, since nobody knows what it was going to say.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from counterfoil import directory as folder
from counterfoil import journal, names, reader, regular

_BLOCK_LINES = 500


class Position(NamedTuple):
    """How far a journal has been read.

    `next_number` is the number of the next line, `lost` counts numbers without a line, `ended` is
    the first number of the last file that is done with, and `offset` stands in the file whose first
    number is `current` (0: none is begun).
    """

    next_number: int = 1
    lost: int = 0
    ended: int = 0
    current: int = 0
    offset: int = 0


class Step(NamedTuple):
    """One line of a journal, or the end or beginning of a file, and where that leads.

    `entry` is None when there is no outcome in it; a `raw` line is then one that cannot be read.
    """

    at_ms: int
    entry: journal.Entry | None
    raw: bytes
    position: Position


class Ahead(NamedTuple):
    """What is in a journal beyond where it has been read: outcomes, losses, end of the first."""

    waiting: int
    lost: int
    first_ms: int | None


class Tail:
    """One journal; `files` in the order of their lines.

    `problem` is why a file of it could not be read; it is read no further than that file.
    """

    def __init__(
        self, directory: Path, stem: str, files: Sequence[names.SpoolFile], position: Position
    ) -> None:
        self.stem, self.files, self.start = stem, files, position
        self.empty: set[str] = set()
        self.problem: regular.Unreadable | None = None
        self._directory = directory

    def read_head(self) -> bytes:
        """Give the head of the journal's files; empty when there is none."""
        for file in self.files:
            try:
                with regular.reading(self._directory / file.filename) as source:
                    line = source.readline(journal.MAX_LINE)
            except (FileNotFoundError, regular.Unreadable):
                continue
            if line.startswith(b"{") and line.endswith(b"\n"):
                return line
        return b""

    def finished(self, position: Position) -> list[names.SpoolFile]:
        """Give the files that are done with when the journal has been read up to a position."""
        return [
            file
            for file in self.files
            if (file.first or 0) <= position.ended
            or (file.filename in self.empty and (file.first or 0) <= position.next_number)
        ]

    def look_ahead(self) -> Ahead:
        """Count what has not been read yet, without reading each line."""
        waiting, lost, first_ms = 0, 0, None
        number = self.start.next_number
        for file in self.files:
            first, offset = file.first or 1, 0
            if first <= self.start.ended:
                continue
            if first == self.start.current:
                offset = self.start.offset
            else:
                lost, number = lost + max(0, first - number), first
            try:
                lines, oldest = _count(self._directory / file.filename, offset)
            except FileNotFoundError:
                continue
            except regular.Unreadable as problem:
                self._note(problem)
                break
            waiting, number = waiting + lines, number + lines
            first_ms = oldest if first_ms is None else first_ms
        return Ahead(waiting, lost, first_ms)

    def __iter__(self) -> Iterator[Step]:
        at = self.start
        for file in self.files:
            first = file.first or 1
            if first <= at.ended:
                continue
            if at.current != first:
                lost = max(0, first - at.next_number)
                if lost and not self._is_sure():
                    return
                at = Position(first, at.lost + lost, at.ended, first, 0)
                yield Step(-1, None, b"", at)
            try:
                for step in self._steps_of(file, at):
                    at = step.position
                    yield step
            except (FileNotFoundError, regular.Unreadable) as problem:
                # Renamed or given up since the directory was read: the next look sees how.
                self._note(problem)
                return
            if at.current:
                return

    def _note(self, problem: Exception) -> None:
        if isinstance(problem, regular.Unreadable):
            self.problem = problem

    def _is_sure(self) -> bool:
        # A listing can miss a file that is renamed while it is made, and what it holds would be
        # taken for lost.
        return folder.journals(self._directory).get(self.stem) == self.files

    def _steps_of(self, file: names.SpoolFile, at: Position) -> Iterator[Step]:
        path = self._directory / file.filename
        begun = at.next_number
        while True:
            # Asked before reading: what is read after the writer has gone is all there is.
            is_final = not folder.is_written(self._directory, file)
            steps = list(_read_block(path, at, is_final=is_final))
            if not steps:
                break
            yield from steps
            at = steps[-1].position
        if not is_final:
            return
        ended = at.current
        if at.next_number == begun == ended:
            # Another file may bear the same first number, so this one ends nothing.
            self.empty.add(file.filename)
            ended = at.ended
        yield Step(-1, None, b"", Position(at.next_number, at.lost, ended, 0, 0))


def merged(tails: Iterable[Tail]) -> Iterator[tuple[Tail, Step]]:
    """Give the steps of several journals, the outcomes in the order in which they ended."""
    heap: list[tuple[int, int, Step, Tail, Iterator[Step]]] = []
    for index, tail in enumerate(tails):
        steps = iter(tail)
        step = next(steps, None)
        if step is not None:
            heap.append((step.at_ms, index, step, tail, steps))
    heapq.heapify(heap)
    while heap:
        _, index, step, tail, steps = heap[0]
        yield tail, step
        following = next(steps, None)
        if following is None:
            heapq.heappop(heap)
        else:
            heapq.heapreplace(heap, (following.at_ms, index, following, tail, steps))


def _count(path: Path, offset: int) -> tuple[int, int | None]:
    """Give the lines from the offset on, and when the outcome of the first of them ended in ms."""
    lines = reader.count_lines(path, offset)
    with regular.reading(path) as source:
        source.seek(offset)
        line = source.readline(journal.MAX_LINE)
        if not offset and line.startswith(b"{"):
            lines, line = lines - 1, source.readline(journal.MAX_LINE)
    entry = journal.parse(line)
    return lines, entry.at_ms if entry is not None else None


def _read_block(path: Path, at: Position, *, is_final: bool) -> Iterator[Step]:
    with regular.reading(path) as source:
        offset = at.offset
        source.seek(offset)
        for _ in range(_BLOCK_LINES):
            raw = source.readline(journal.MAX_LINE)
            end = offset + len(raw)
            piece = raw
            while piece and not piece.endswith(b"\n"):
                piece = source.readline(journal.MAX_LINE)
                end += len(piece)
            if end == offset or (not piece and not is_final):
                return
            at = Position(at.next_number, at.lost, at.ended, at.current, end)
            step = _step(raw, at, is_first=offset == 0, is_whole=bool(piece))
            offset, at = end, step.position
            yield step


def _step(raw: bytes, at: Position, *, is_first: bool, is_whole: bool) -> Step:
    if not raw.strip() or (is_first and is_whole and raw.startswith(b"{")):
        return Step(-1, None, b"", at)
    counted = at._replace(next_number=at.next_number + 1)
    if not (is_whole and raw.endswith(b"\n")):
        return Step(-1, None, b"", counted._replace(lost=at.lost + 1))
    entry = journal.parse(raw)
    return Step(-1 if entry is None else entry.at_ms, entry, raw, counted)
