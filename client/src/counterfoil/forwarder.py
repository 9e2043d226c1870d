"""Sends what lies in a spool directory and deletes what has been answered.

One forwarder works on a directory at a time, whoever it is: a thread of one of the writers or
`counterfoil forward`. Lines go out as the bytes that they are, in the order of their file, and are
sent again until each has an answer. A crash anywhere only means that some are sent again. Ordinary
outcomes are made into tallies first (see composer).
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
from counterfoil import names, reader, regular, state
from counterfoil.batches import Batches, Post, Stopped, Stuck, stopped
from counterfoil.composer import Composer
from counterfoil.errors import CounterfoilError
from counterfoil.reports import Report, Reports
from counterfoil.transport import NDJSON


@dataclass(frozen=True)
class Outcome:
    """What one pass did: lines answered, and what stopped it, if anything did.

    `is_busy` says that another forwarder has the directory. `tallies` were made in this pass.
    `unreadable` names files whose spools wait because they cannot be read; the others went on.
    """

    sent: int = 0
    problem: str = ""
    retry_after_s: float | None = None
    is_busy: bool = False
    tallies: int = 0
    unreadable: str = ""


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
        self._directory, self._transport = directory, transport
        self._host = host or socket.gethostname()
        self._max_bytes = max_bytes
        self._batches = Batches(transport, max_lines, max_bytes)
        self._composer = Composer(directory, now)
        self._lock = folder.ForwardLock(directory)
        self._turn, self._pid = threading.Lock(), os.getpid()
        self._reports = Reports(directory, self._composer, self._load, now)
        self._sent = self._tallies = 0
        self._unreadable: dict[str, str] = {}
        self.is_stopping = False

    def pass_once(self, *, everything: bool = False) -> Outcome:
        """Send all that can be sent now; never raises for what network, disk or token do.

        `everything` makes tallies of outcomes that would otherwise wait for more. When
        `is_stopping` is set, the pass ends after the request at hand.
        """
        with self._own_turn():
            self._sent = self._tallies = 0
            self._unreadable = {}
            try:
                if not self._directory.is_dir():
                    return Outcome()
                if not self._lock.take():
                    return Outcome(is_busy=True)
                self._send_all(everything)
            except Stopped as problem:
                return self._outcome(str(problem), problem.retry_after_s)
            except (CounterfoilError, OSError) as problem:
                return self._outcome(str(problem))
            return self._outcome("")

    def _outcome(self, problem: str, retry_after_s: float | None = None) -> Outcome:
        unreadable = " ".join(self._unreadable.values())
        return Outcome(
            self._sent, problem, retry_after_s, tallies=self._tallies, unreadable=unreadable
        )

    def close(self) -> None:
        """Let another forwarder have the directory, and let go of the connection."""
        with self._own_turn():
            self._lock.release()
            self._transport.close()

    def _own_turn(self) -> threading.Lock:
        # A pass of the parent's thread may have been on at the fork: its turn never ends here.
        if os.getpid() != self._pid:
            self._turn, self._pid = threading.Lock(), os.getpid()
        return self._turn

    def _send_all(self, everything: bool) -> None:
        folder.remove_unborn(self._directory)
        problems: list[Exception] = []
        while True:
            made = self._compose(everything, problems)
            was_held, sent = self._composer.is_held, self._sent
            self._send_spools(problems)
            may_go_on = made or (was_held and self._sent > sent)
            if not may_go_on or problems or self.is_stopping:
                break
        if not self.is_stopping:
            self._send_reports(everything)
        if problems:
            raise problems[0]

    def _compose(self, everything: bool, problems: list[Exception]) -> int:
        try:
            made = self._composer.compose(everything=everything)
        except OSError as problem:
            # What is in the spools can be sent all the same, and that makes room.
            problems.append(problem)
            return 0
        except regular.Unreadable as problem:
            self._note(problem)
            return 0
        for unreadable in self._composer.problems:
            self._note(unreadable)
        self._tallies += made
        return made

    def _send_spools(self, problems: list[Exception]) -> None:
        for stem, files in folder.spools(self._directory).items():
            problem = self._send_unless_stuck(stem, files)
            if problem is not None:
                problems.append(problem)

    def _send_unless_stuck(self, stem: str, files: Sequence[names.SpoolFile]) -> Stuck | None:
        try:
            self._send_spool(stem, files)
        except Stuck as problem:
            return problem
        except regular.Unreadable as problem:
            self._note(problem)
        except IsADirectoryError as problem:
            # One that bears a name which this spool needs.
            named = Path(str(problem.filename2 or problem.filename))
            self._note(regular.NotRegular(named, "a directory, not a regular file"))
        return None

    def _note(self, problem: regular.Unreadable) -> None:
        self._unreadable[problem.name] = str(problem)

    def _send_spool(self, stem: str, files: Sequence[names.SpoolFile]) -> None:
        known = self._load(stem)
        for file in files:
            # One that ends in .sent is what a crash left between renaming and forgetting it.
            if file.ending != "sent" and not self._send_file(file, known):
                return
            self._forget_file(file, known)

    def _send_file(self, file: names.SpoolFile, known: state.SpoolState) -> bool:
        """Send the lines of a file; True when it is done with and nothing more can come.

        Of a file that is still written, those that were there when it was begun: one that grows
        while each request is answered would be sent without an end, in ever smaller requests.
        """
        path = self._directory / file.filename
        try:
            size = path.lstat().st_size
            if size < known.offset:
                known.end_file()
            known.begin_file(file.first)
            while not self.is_stopping:
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
                if known.offset >= size and not is_final:
                    return False
        except FileNotFoundError:
            # Renamed or given up since the directory was read; the next pass sees how.
            pass
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

    def _send_reports(self, is_ending: bool) -> None:
        due = self._reports.due(is_ending=is_ending)
        for begin in range(0, len(due), reader.MAX_LINES):
            self._post_reports(due[begin : begin + reader.MAX_LINES])

    def _post_reports(self, due: Sequence[Report]) -> None:
        reply = self._transport.post(b"".join(report.line for report in due), NDJSON)
        if reply.status != 200:
            raise stopped(reply)
        for report, status in zip(due, reader.statuses_of(reply.body)):
            if report.is_last and reader.is_answer(status):
                # Before the state: what is left of a crash between them is closed once more.
                self._composer.forget(report.stem)
                state.remove(self._state_path(report.stem))
                self._reports.forget(report.stem)

    def _load(self, stem: str) -> state.SpoolState:
        return state.load(self._state_path(stem), names.spool_id(self._host, stem))

    def _save(self, stem: str, known: state.SpoolState) -> None:
        state.save(self._state_path(stem), known)

    def _state_path(self, stem: str) -> Path:
        return self._directory / f"{stem}.state"
