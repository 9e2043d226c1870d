"""Sends what lies in a spool directory and deletes what has been answered.

One forwarder works on a directory at a time, whoever it is: a thread of one of the writers or
`counterfoil forward`. Lines go out as the bytes that they are, in the order of their file, and are
sent again until each has an answer. A crash anywhere only means that some are sent again.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

from counterfoil import directory as folder
from counterfoil import feed, names, reader, state
from counterfoil.batches import Batches, Post, Stopped, Stuck, stopped
from counterfoil.errors import CounterfoilError
from counterfoil.transport import NDJSON


@dataclass(frozen=True)
class Outcome:
    """What one pass did: lines answered, and what stopped it, if anything did.

    `is_busy` says that another forwarder has the directory.
    """

    sent: int = 0
    problem: str = ""
    retry_after_s: float | None = None
    is_busy: bool = False


class Forwarder:
    """Sends one spool directory; call `pass_once` again and again."""

    def __init__(
        self,
        directory: Path,
        transport: Post,
        *,
        host: str = "",
        now: Callable[[], float] = time.time,
        max_lines: int = reader.MAX_LINES,
        max_bytes: int = reader.MAX_BYTES,
    ) -> None:
        self._directory, self._transport, self._now = directory, transport, now
        self._host = host or socket.gethostname()
        self._max_bytes = max_bytes
        self._batches = Batches(transport, max_lines, max_bytes)
        self._lock = folder.ForwardLock(directory)
        self._turn, self._pid = threading.Lock(), os.getpid()
        self._fed: dict[str, float] = {}
        self._sent = 0

    def pass_once(self) -> Outcome:
        """Send all that can be sent now; never raises for what network, disk or token do."""
        if os.getpid() != self._pid:
            self._turn, self._pid = threading.Lock(), os.getpid()
        with self._turn:
            self._sent = 0
            try:
                if not self._directory.is_dir():
                    return Outcome()
                if not self._lock.take():
                    return Outcome(is_busy=True)
                self._send_all()
            except Stopped as problem:
                return Outcome(self._sent, str(problem), problem.retry_after_s)
            except (CounterfoilError, OSError) as problem:
                return Outcome(self._sent, str(problem))
            return Outcome(self._sent)

    def close(self) -> None:
        """Let another forwarder have the directory, and let go of the connection."""
        with self._turn:
            self._lock.release()
            self._transport.close()

    def _send_all(self) -> None:
        folder.remove_unborn(self._directory)
        spools = folder.spools(self._directory)
        found = [self._send_unless_stuck(stem, files) for stem, files in spools.items()]
        self._send_feeds()
        for problem in found:
            if problem is not None:
                raise problem

    def _send_unless_stuck(self, stem: str, files: Sequence[names.SpoolFile]) -> Stuck | None:
        try:
            self._send_spool(stem, files)
        except Stuck as problem:
            return problem
        return None

    def _send_spool(self, stem: str, files: Sequence[names.SpoolFile]) -> None:
        known = self._load(stem)
        for file in files:
            # One that ends in .sent is what a crash left between renaming and forgetting it.
            if file.ending != "sent" and not self._send_file(file, known):
                return
            self._forget_file(file, known)

    def _send_file(self, file: names.SpoolFile, known: state.SpoolState) -> bool:
        """Send the lines of a file; True when it is done with and nothing more can come."""
        path = self._directory / file.filename
        try:
            if path.stat().st_size < known.offset:
                known.end_file()
            known.begin_file(file.first)
            while True:
                # Asked before reading: what is read after the writer has gone is all there is.
                is_final = not folder.is_written(self._directory, file)
                lines = reader.read_lines(
                    path,
                    known.offset,
                    is_final=is_final,
                    lines=self._batches.limit,
                    size=self._max_bytes,
                )
                if not lines:
                    return is_final
                self._send_lines(lines, file, known)
        except FileNotFoundError:
            # Renamed or given up since the directory was read; the next pass sees how.
            return False

    def _send_lines(
        self, lines: Sequence[reader.Line], file: names.SpoolFile, known: state.SpoolState
    ) -> None:
        count = self._batches.send(lines, known.spool, known.next_number)
        known.advance(count, lines[count - 1].end)
        self._sent += count
        self._save(file.stem, known)

    def _forget_file(self, file: names.SpoolFile, known: state.SpoolState) -> None:
        # Renamed first: were the state older than the deletion, its offset would be applied to
        # the next file of that name; were it newer, the same lines would get other numbers.
        path = self._directory / file.filename
        done = path.with_suffix(".sent")
        with contextlib.suppress(FileNotFoundError):
            path.rename(done)
        known.end_file()
        known.end = "writer_gone" if file.ending == "open" else "in_order"
        self._save(file.stem, known)
        done.unlink(missing_ok=True)

    def _send_feeds(self) -> None:
        # Read anew: a writer makes its next file before it closes the last, so a spool that is
        # gone from this listing is closed.
        files = folder.spools(self._directory)
        now = self._now()
        lines: dict[str, bytes] = {}
        for stem in folder.stems_with_state(self._directory):
            line = self._feed_line(stem, files.get(stem, []), now)
            if line is not None:
                lines[stem] = line
        for begin in range(0, len(lines), reader.MAX_LINES):
            self._post_feeds(dict(list(lines.items())[begin : begin + reader.MAX_LINES]), files)

    def _feed_line(self, stem: str, files: Sequence[names.SpoolFile], now: float) -> bytes | None:
        if not files:
            if folder.may_return(stem):
                return None
            known = self._load(stem)
            standing = feed.standing_of(self._directory, [], known, now)
            return feed.line_of(known, standing, is_closed=True)
        if now - self._fed.setdefault(stem, now) < feed.EVERY_S:
            return None
        self._fed[stem] = now
        known = self._load(stem)
        return feed.line_of(known, feed.standing_of(self._directory, files, known, now))

    def _post_feeds(self, lines: dict[str, bytes], files: dict[str, list[names.SpoolFile]]) -> None:
        reply = self._transport.post(b"".join(lines.values()), NDJSON)
        if reply.status != 200:
            raise stopped(reply)
        for stem, status in zip(lines, reader.statuses_of(reply.body)):
            if stem not in files and reader.is_answer(status):
                state.remove(self._state_path(stem))
                self._fed.pop(stem, None)

    def _load(self, stem: str) -> state.SpoolState:
        return state.load(self._state_path(stem), names.spool_id(self._host, stem))

    def _save(self, stem: str, known: state.SpoolState) -> None:
        state.save(self._state_path(stem), known)

    def _state_path(self, stem: str) -> Path:
        return self._directory / f"{stem}.state"
