"""`counterfoil forward`: one sender for all spool directories of a host, and how it is doing.

Once a minute it says of each directory in one line what it did and what waits, and leaves the same
beside the spool in `.forward.health`, for `counterfoil forward --status`.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import select
import signal
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from counterfoil import alive, regular, status
from counterfoil import directory as folder
from counterfoil.backoff import Backoff
from counterfoil.forwarder import Forwarder, Outcome
from counterfoil.sender import Speaker, wait_after

log = logging.getLogger("counterfoil")

HEALTH_NAME = ".forward.health"
SAY_EVERY_S = 60.0
NOTE_EVERY_S = 5.0
LATE_AFTER_S = 120.0
MAX_NAMED = 5


class Stop:
    """A wish to end that a signal handler can make at any moment, and that wakes who waits."""

    def __init__(self, forwarders: Iterable[Forwarder] = ()) -> None:
        self._forwarders = list(forwarders)
        self._woken, self._waker = os.pipe()
        os.set_blocking(self._waker, False)
        self.is_wished = False

    def on_signals(self) -> None:
        """Be wished by SIGTERM and Ctrl-C."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self.wish())

    def wish(self) -> None:
        """End soon: after the request at hand."""
        self.is_wished = True
        for forwarder in self._forwarders:
            forwarder.is_stopping = True
        # A pipe and no lock: a handler may run while its own thread holds one.
        with contextlib.suppress(BlockingIOError):
            os.write(self._waker, b"x")

    def wait(self, seconds: float) -> bool:
        """Wait, at most that long, until it is wished; True when it is."""
        if not self.is_wished:
            select.select([self._woken], [], [], max(0.0, seconds))
        return self.is_wished


@dataclass(frozen=True)
class Health:
    """How the forwarder of a directory is doing; times in s since 1970.

    `problem` is why nothing can be sent, `failing_since` since when; `passed_at` is its last pass.
    """

    pid: int
    start: str
    begun_at: float
    passed_at: float
    sent: int
    tallies: int
    problem: str
    failing_since: float | None

    @property
    def is_running(self) -> bool:
        """Say whether the process that noted this is still there."""
        return alive.is_process(self.pid, self.start)


class Turn:
    """One directory's forwarder, when its next pass is, and what it did so far."""

    def __init__(self, directory: Path, forwarder: Forwarder, max_bytes: int) -> None:
        self.forwarder, self.next_at = forwarder, 0.0
        self._directory, self._max_bytes = directory, max_bytes
        self._backoff, self._speaker = Backoff(), Speaker()
        self._begun_at = time.time()
        self._sent = self._tallies = 0
        self._failing_since: float | None = None
        self._said_at, self._said = time.monotonic(), (0, 0)
        self._noted_at = 0.0

    def take(self) -> None:
        """Make one pass."""
        outcome = self.forwarder.pass_once()
        self._count(outcome)
        self._speaker.hear(outcome)
        now = time.monotonic()
        self.next_at = now + wait_after(outcome, self._backoff)
        is_news = bool(outcome.problem) != (self._failing_since is not None)
        if outcome.is_busy:
            return
        if is_news or now - self._noted_at >= NOTE_EVERY_S:
            self._note(outcome, now)
        if now - self._said_at >= SAY_EVERY_S:
            self._say(now)

    def end(self) -> None:
        """Let another forwarder have the directory."""
        (self._directory / HEALTH_NAME).unlink(missing_ok=True)
        self.forwarder.close()

    def _count(self, outcome: Outcome) -> None:
        self._sent += outcome.sent
        self._tallies += outcome.tallies

    def _note(self, outcome: Outcome, now: float) -> None:
        self._noted_at = now
        if not outcome.problem:
            self._failing_since = None
        elif self._failing_since is None:
            self._failing_since = time.time()
        health = Health(
            os.getpid(),
            alive.own_start(),
            self._begun_at,
            time.time(),
            self._sent,
            self._tallies,
            outcome.problem,
            self._failing_since,
        )
        _write(self._directory, health)

    def _say(self, now: float) -> None:
        sent, tallies = self._sent - self._said[0], self._tallies - self._said[1]
        seconds = round(now - self._said_at)
        self._said_at, self._said = now, (self._sent, self._tallies)
        found = status.of(self._directory)
        state = "delivering" if self._failing_since is None else "NOT delivering"
        log.info(
            "%s: %s; in %d s sent %d lines, made %d tallies; %s",
            self._directory,
            state,
            seconds,
            sent,
            tallies,
            sentence_of(found, self._max_bytes),
        )


def run(turns: list[Turn], stop: Stop) -> None:
    """Forward all directories in turn until the stop is wished."""
    while not stop.is_wished:
        turn = min(turns, key=lambda one: one.next_at, default=None)
        # With COUNTERFOIL_OFF there is nothing to do but to wait for the end.
        wait_s = SAY_EVERY_S if turn is None else turn.next_at - time.monotonic()
        if not stop.wait(wait_s) and turn is not None:
            turn.take()
    for turn in turns:
        turn.end()


def sentence_of(found: status.Status, max_bytes: int | None = None) -> str:
    """Say in a few words what lies in a directory."""
    age = found.oldest_unsent_s
    oldest = "" if age is None else f" (the oldest for {age:.0f} s)"
    bound = "" if max_bytes is None else f" of {max_bytes}"
    return (
        f"{found.waiting} waiting and {found.outcomes_waiting} outcomes to be tallied{oldest}, "
        f"{found.dropped} dropped, {found.size}{bound} bytes, {len(found.spools)} spools"
        f"{_told('that cannot be read', found.unreadable)}"
        f"{_told('whose names are no spool file names, so never sent', found.strangers)}"
    )


def _told(what: str, listed: list[str]) -> str:
    if not listed:
        return ""
    # As Python would write them: a name may hold a newline, and this is one line.
    shown = ", ".join(ascii(name) for name in listed[:MAX_NAMED])
    more = f" and {len(listed) - MAX_NAMED} more" if len(listed) > MAX_NAMED else ""
    return f"; {len(listed)} files {what}: {shown}{more}"


def read_health(directory: Path) -> Health | None:
    """Read how the forwarder of a directory is doing; None when none has said."""
    try:
        found = json.loads(regular.read_bytes(directory / HEALTH_NAME))
        return Health(**{field.name: found[field.name] for field in fields(Health)})
    except (OSError, regular.Unreadable, ValueError, KeyError, TypeError):
        return None


def verdict_of(directory: Path, now: float) -> tuple[bool, str]:
    """Say whether a directory is being forwarded, and in one line by whom and how well."""
    if not alive.is_locked(directory / folder.LOCK_NAME):
        return False, "no forwarder has this directory"
    health = read_health(directory)
    if health is None or not health.is_running:
        return True, "forwarded by a thread of one of its writers"
    quiet_s = max(0.0, now - health.passed_at)
    whose = f"forwarded by process {health.pid}, last pass {quiet_s:.0f} s ago"
    if quiet_s > LATE_AFTER_S:
        return False, f"{whose}: it hangs"
    if health.problem:
        since = max(0.0, now - (health.failing_since or now))
        return True, f"{whose}; not delivering for {since:.0f} s: {health.problem}"
    return True, f"{whose}; delivering, {health.sent} lines sent"


def _write(directory: Path, health: Health) -> None:
    made = directory / f"{HEALTH_NAME}.new"
    try:
        regular.write_bytes(made, json.dumps(asdict(health)).encode())
        made.replace(directory / HEALTH_NAME)
    except OSError:
        # A full disk or no directory yet: sending goes on, and the log line says the same.
        return
