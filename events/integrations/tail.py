"""The tail of one bus: what is heard becomes segments, and these are stored.

A thread of its own reads (`listener`), so that this one may be slow: it decodes, masks and stores,
and what waits for it meanwhile lies in the backlog.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

from django import db

from events.domain import rows
from events.domain.records import HOLE, JUNK
from events.domain.rows import Row
from events.domain.segments import LONGEST, Builder, Segment
from events.domain.times import micros
from events.integrations.listener import Say
from events.integrations.sampling import Sampling
from events.integrations.sources import Batch, Source
from events.integrations.tail_writer import TailWriter, as_bytes
from events.integrations.watched import Rows, Watched
from kit import clock, redact

BREATH_S = 0.2
FEED_EVERY_S = 60.0
AT_ONCE = 1024 * 1024
"""Bytes of segments that are stored in one transaction: on SQLite it must stay under 50 ms."""

START = "start"
NOT_WATCHED = 24 * 3600 * 1_000_000
"""After a longer pause, in microseconds, a tail just starts: nobody takes it for watching."""

PATIENCE_S = 60.0
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 10.0
UNUSABLE = (db.OperationalError, db.InterfaceError)


class NotStored(RuntimeError):
    """The ledger's database could not be used until the end; what was heard last is lost."""


@dataclass(slots=True)
class Totals:
    """What a tail heard and stored."""

    messages: int = 0
    segments: int = 0
    junk: int = 0
    holes: int = 0

    def sentence(self) -> str:
        """Say it in one line."""
        said = f"{self.messages:,} messages in {self.segments:,} segments; {self.holes:,} holes."
        return f"{said} {self.junk:,} could not be read." if self.junk else said


class Tail:
    """One tail from its start to its end."""

    def __init__(
        self, watched: Watched, source: Source, writer: TailWriter, sampling: Sampling, say: Say
    ) -> None:
        self._watched, self._source = watched, source
        self._writer, self._sampling, self._say = writer, sampling, say
        self.rows = Rows(watched)
        self._builder = Builder(watched.lane())
        self._waiting: list[bytes] = []
        self._size = 0
        self._ends: int | None = None
        self._entry = self._entry_kept = ""
        self._fed_at = self._stored_at = time.monotonic()
        self.totals = Totals()
        self._stop = threading.Event()

    def run(self, stop: threading.Event, seconds: float | None) -> Totals:
        """Listen until told to stop, or for so long; what was heard until then is stored.

        The source is connected. Raises NotStored.
        """
        self._stop = stop
        self._begin()
        ends_at = None if seconds is None else time.monotonic() + seconds
        while not stop.is_set() and (ends_at is None or time.monotonic() < ends_at):
            self._turn()
        self._source.stop()
        self._sampling.stop()
        self._drain()
        return self.totals

    def _begin(self) -> None:
        self._mark_pause()
        self._source.start()
        self._sampling.start()

    def _mark_pause(self) -> None:
        """Say what was not watched since this lane's last tail, unless that is long ago."""
        now, before = micros(clock.now()), self._writer.place.watched_to
        if before is not None and 0 < now - before <= NOT_WATCHED and not self._writer.place.entry:
            self._add(rows.hole(before, now, START))

    def _turn(self) -> None:
        """Take what has come and store what is full or old enough."""
        for batch in self._source.take(BREATH_S):
            self._take(batch)
            if self._size >= AT_ONCE:
                self._store()
        if self._is_old():
            self._keep(self._builder.close())
        self._collect_samples()
        if self._waiting and time.monotonic() - self._stored_at >= BREATH_S:
            self._store()
        if time.monotonic() - self._fed_at >= FEED_EVERY_S:
            self._feed(is_closed=False)

    def _is_old(self) -> bool:
        """Tell whether the open segment is to wait no longer; with more to come it fills itself."""
        begun_at = self._builder.begun_at
        if begun_at is None or self._source.waiting:
            return False
        return micros(clock.now()) - begun_at >= LONGEST

    def _take(self, batch: Batch) -> None:
        if batch.why:
            self._add(rows.hole(batch.at, batch.until, batch.why))
            return
        for row, masked in self.rows.of_batch(batch):
            self._add(row, masked)
        self._entry = batch.entry or self._entry

    def _add(self, row: Row, masked: tuple[str, ...] = ()) -> None:
        self.totals.messages += row.form != HOLE
        self.totals.holes += row.form == HOLE
        self.totals.junk += row.form == JUNK
        self._keep(self._builder.add(row, masked))

    def _keep(self, segment: Segment | None) -> None:
        if segment is not None:
            self._waiting.append(segment.raw)
            self._size += len(segment.raw)
            self._ends, self._entry_kept = segment.ends, self._entry
            self.totals.segments += 1

    def _collect_samples(self) -> None:
        for receipt in self._sampling.take():
            self._waiting.append(as_bytes(receipt))
            self._size += len(self._waiting[-1])

    def _drain(self) -> None:
        """Store all that was heard before the end, and say that this was all."""
        while batches := list(self._source.take(0)):
            for batch in batches:
                self._take(batch)
            if self._size >= AT_ONCE:
                self._store()
        self._keep(self._builder.close())
        self._collect_samples()
        self._store()
        self._feed(is_closed=True)

    def _store(self) -> None:
        """Store what waits; a database that cannot be used is waited for."""
        pause, since = FIRST_PAUSE_S, time.monotonic()
        while self._waiting:
            try:
                self._writer.store(self._waiting, self._ends, self._entry_kept)
                self._waiting, self._size = [], 0
            except UNUSABLE as error:
                self._wait(error, pause, since)
                pause = min(pause * 2, LONGEST_PAUSE_S)
        self._stored_at = time.monotonic()

    def _feed(self, *, is_closed: bool) -> None:
        """Store the line that the spool sends of itself, and until when there was watching."""
        self._fed_at = time.monotonic()
        watched = self._watched
        data = {
            "bus": watched.bus,
            "replica": watched.replica,
            "heard": self.totals.messages,
            "segments": self.totals.segments,
            "holes": self.totals.holes,
            "waiting_bytes": self._source.waiting,
            "most_waiting_bytes": self._source.most_waiting,
        }
        is_level = not self._source.waiting and self._builder.begun_at is None
        ends = micros(clock.now()) if is_level else self._ends
        try:
            self._writer.feed(watched.installation, data, is_closed=is_closed, watched_to=ends)
        except UNUSABLE as error:
            self._wait(error, 0.0, time.monotonic())

    def _wait(self, error: Exception, pause_s: float, since: float) -> None:
        db.connection.close()
        lines = str(error).strip().splitlines() or [type(error).__name__]
        said = redact.text(lines[0][:300])
        if self._stop.is_set() and time.monotonic() - since > PATIENCE_S:
            raise NotStored(f"{NotStored.__doc__} ({said})") from error
        self._say(f"The ledger's database cannot be used: {said}. What comes meanwhile is kept.")
        time.sleep(pause_s)
