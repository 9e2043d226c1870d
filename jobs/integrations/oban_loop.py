"""One round, or rounds without end, with what goes wrong said in one line each."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import psycopg
from django import db

from jobs.domain import oban
from jobs.domain.oban_table import NotOban
from jobs.integrations import oban_writer
from jobs.integrations.oban import Reader
from jobs.integrations.oban_place import OtherTable
from jobs.integrations.oban_source import NoTable, NotPermitted, ObanTable
from jobs.integrations.oban_writer import Tally
from kit import redact

FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 60.0
FEED_EVERY_S = 60.0
# A round may take at most this part of the time, so that a large table is not always being read.
RESTS = 4
UNFIT = (NoTable, NotPermitted, NotOban, OtherTable)
"""What is wrong with the table, in words for a person."""

Say = Callable[[str], None]


class Unreachable(ConnectionError):
    """The source cannot be reached; the message says why, without secrets."""


class Unreadable(RuntimeError):
    """The table cannot be read; the message says why, without secrets."""


@dataclass(frozen=True, slots=True)
class Target:
    """Which table is read into which project; a DSN may hold a password, so it is not shown."""

    project_id: int
    instance: str
    dsn: str = field(repr=False)
    schema: str = "public"
    table: str = "oban_jobs"


@dataclass(slots=True)
class Session:
    """A reader with its connection, and when its spool last sent a line of itself."""

    target: Target
    say: Say
    reader: Reader
    warned: tuple[str, ...] = ()
    fed_at: float = 0.0

    def go_round(self) -> Tally:
        """Go round once; Unreachable or Unreadable when that cannot be done."""
        try:
            tally = self.reader.go_round()
        except UNFIT as error:
            raise Unreadable(str(error)) from error
        except (psycopg.Error, UnicodeDecodeError) as error:
            is_broken = self.reader.table.is_broken
            raise (Unreachable if is_broken else Unreadable)(_sentence(error)) from error
        self.warn()
        return tally

    def warn(self) -> None:
        """Say what is unusual about the table, once."""
        warnings = self.reader.table.table.warnings
        if warnings != self.warned:
            self.warned = warnings
            for sentence in warnings:
                self.say(sentence)

    def feed(self, tally: Tally, *, is_closed: bool) -> None:
        """Send the line that the spool sends of itself."""
        self.fed_at = time.monotonic()
        data = {
            "table": self.reader.table.table.origin,
            "warnings": list(self.warned),
            "round": tally.sentence(),
            "cannot_know": list(oban.CANNOT_KNOW),
        }
        oban_writer.write_feed(self.reader.place, is_closed=is_closed, data=data)

    def close(self) -> None:
        """Close the connection to the source."""
        self.reader.table.close()


def connect(target: Target, say: Say) -> Session:
    """Connect and look at the table; Unreachable or Unreadable when that cannot be done."""
    try:
        table = ObanTable(target.dsn, target.schema, target.table)
    except UNFIT as error:
        raise Unreadable(str(error)) from error
    except psycopg.Error as error:
        raise Unreachable(_sentence(error)) from error
    try:
        session = Session(target, say, Reader(target.project_id, target.instance, table))
    except BaseException as error:
        table.close()
        if isinstance(error, UNFIT):
            raise Unreadable(str(error)) from error
        raise
    session.warn()
    return session


def run_once(target: Target, say: Say) -> Tally:
    """Go round once and close the spool."""
    session = connect(target, say)
    try:
        tally = session.go_round()
        session.feed(tally, is_closed=True)
        return tally
    finally:
        session.close()


def follow(target: Target, say: Say, stop: threading.Event, every_s: float) -> None:
    """Go round until told to stop; what goes wrong after the first connection is waited out."""
    session: Session | None = connect(target, say)
    pause = FIRST_PAUSE_S
    tally = Tally()
    while not stop.is_set():
        started = time.monotonic()
        try:
            session = session or connect(target, say)
            tally = session.go_round()
            if time.monotonic() - session.fed_at >= FEED_EVERY_S:
                session.feed(tally, is_closed=False)
            pause = FIRST_PAUSE_S
        except (Unreachable, Unreadable, db.OperationalError, db.InterfaceError) as error:
            say(f"{_trouble(error)} The next try is in {pause:.0f} s.")
            _forget(session)
            session = None
            stop.wait(pause)
            pause = min(pause * 2, LONGEST_PAUSE_S)
            continue
        if tally.receipts:
            say(tally.sentence())
        stop.wait(max(every_s, RESTS * (time.monotonic() - started)))
    if session is not None:
        session.feed(tally, is_closed=True)
        session.close()


def _forget(session: Session | None) -> None:
    """Drop both connections: what was not stored is read again from the place that was."""
    if session is not None:
        session.close()
    db.connection.close()


def _trouble(error: Exception) -> str:
    if isinstance(error, Unreachable):
        return f"The source cannot be reached: {error}"
    if isinstance(error, Unreadable):
        return str(error)
    return f"The ledger's database cannot be used: {_sentence(error)}"


def _sentence(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return redact.text(lines[0].rstrip(". ")[:300]) + "."
