"""A Redis stream, read by ranges: no group is made and nothing is acknowledged.

A stream keeps its entries, so a tail that was away goes on where it was; only what was trimmed
meanwhile is a hole.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

from events.domain.times import micros
from events.integrations import grants
from events.integrations.listener import FIRST_PAUSE_S, LONGEST_PAUSE_S, Say
from events.integrations.redis_address import Address
from events.integrations.redis_link import Link, NotPermitted, Refused, Unreachable
from events.integrations.sources import Batch
from kit import clock

AT_ONCE = 1_000
TRIMMED, RESTARTED = "trimmed", "restarted"
FIRST = "0-0"
_MISSING = "no such key"
_YEAR_US = 366 * 86_400 * 1_000_000


class StreamSource:
    """One stream of a Redis, from `entry` on, or from its present end where that is empty."""

    def __init__(self, address: Address, key: str, entry: str, say: Say) -> None:
        self._address, self._key, self._entry, self._say = address, key, entry, say
        self._stopped = threading.Event()
        self._link: Link | None = None
        self._pause, self._try_at = FIRST_PAUSE_S, 0.0
        self._hole: Batch | None = None

    @property
    def waiting(self) -> int:
        """Give 0: what is not taken waits in the Redis."""
        return 0

    most_waiting = waiting

    def connect(self) -> None:
        """Look where the stream stands; raises Unreachable, Refused or NotPermitted."""
        self._link = Link(self._address)
        first, last = self._span()
        if not self._entry:
            self._entry = last
        elif _order(last) < _order(self._entry):
            self._note(RESTARTED, FIRST, first)
        elif first != FIRST and _order(first) > _order(self._entry):
            self._note(TRIMMED, self._entry, first)

    def start(self) -> None:
        """Do nothing: the stream is read as it is taken."""

    def take(self, timeout_s: float) -> Iterator[Batch]:
        """Yield what is new, waiting for so long when nothing is."""
        entries: Sequence[Any] = ()
        try:
            self._come_back()
            entries = self._read()
        except (Unreachable, Refused) as error:
            self._lose(error)
        if self._hole is not None:
            hole, self._hole = self._hole, None
            yield hole
        yield from map(self._batch, entries)
        if not entries:
            self._stopped.wait(timeout_s)

    def stop(self) -> None:
        """Read no more."""
        self._stopped.set()

    def close(self) -> None:
        """Let go of the connection."""
        self.stop()
        if self._link is not None:
            self._link.close()

    def _read(self) -> Sequence[Any]:
        if self._link is None or self._stopped.is_set():
            return ()
        words = ("XRANGE", self._key, f"({self._entry}", "+", "COUNT", str(AT_ONCE))
        return list(self._ask(words) or ())

    def _span(self) -> tuple[str, str]:
        """Give the first entry's id and the last id given out; zeros for a missing stream."""
        try:
            answer = self._ask(("XINFO", "STREAM", self._key))
        except Refused as error:
            if _MISSING in str(error):
                return FIRST, FIRST
            raise
        told = dict(zip(answer[::2], answer[1::2], strict=False))
        first = told.get(b"first-entry")
        return first[0].decode() if first else FIRST, told[b"last-generated-id"].decode()

    def _ask(self, words: Sequence[str]) -> Any:
        if self._link is None:
            raise Unreachable(f"{self._address.shown}: not connected")
        try:
            return self._link.ask(*words)
        except NotPermitted as error:
            raise grants.advised(error, self._address, words) from error

    def _batch(self, entry: Sequence[Any]) -> Batch:
        name, fields = entry[0].decode(), entry[1] or []
        self._entry = name
        pairs = list(zip(fields[::2], fields[1::2], strict=False))
        return Batch(_time_of(name), entry=name, stream=self._key, pairs=pairs)

    def _note(self, why: str, entry: str, first: str) -> None:
        now = micros(clock.now())
        began = _time_of(self._entry)
        self._hole = Batch(min(began, now), (), min(_time_of(first), now), why)
        self._entry = entry

    def _lose(self, error: Exception) -> None:
        """Give the connection up, and say when it is tried again."""
        if self._link is not None:
            self._link.close()
            self._link = None
        self._say(f"The stream cannot be read: {error}. Next try in {self._pause:.3g} s.")
        self._try_at = time.monotonic() + self._pause
        self._pause = min(self._pause * 2, LONGEST_PAUSE_S)

    def _come_back(self) -> None:
        """Connect again when it is time; whoever takes must not be held up meanwhile."""
        if self._link is None and self._try_at and time.monotonic() >= self._try_at:
            self.connect()
            self._pause, self._try_at = FIRST_PAUSE_S, 0.0
            self._say("The stream is read again.")


def _order(entry: str) -> tuple[int, int]:
    high, _, low = entry.partition("-")
    return int(high), int(low or 0)


def _time_of(entry: str) -> int:
    """Give when an entry was added: its id says so, unless somebody made it up."""
    now = micros(clock.now())
    told = _order(entry)[0] * 1_000
    return told if now - _YEAR_US < told <= now else now
