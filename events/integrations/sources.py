"""Where a tail's messages come from, as batches in order: channels that are heard, or a stream."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from events.integrations.backlog import Backlog
from events.integrations.listener import Listener, Say, Subscription
from events.integrations.redis_address import Address
from events.integrations.redis_pushes import Message, Pushes


class Batch(NamedTuple):
    """Messages that came at a time, in microseconds since 1970.

    With a `why` it is a hole: nothing was watched from `at` to `until` for that reason. With an
    `entry` it is one entry of the stream of that name, with its fields in `pairs`.
    """

    at: int
    messages: Sequence[Message] = ()
    until: int = 0
    why: str = ""
    entry: str = ""
    stream: str = ""
    pairs: Sequence[tuple[bytes, bytes]] = ()


class Source(Protocol):
    """A source of batches."""

    @property
    def waiting(self) -> int:
        """Give how many bytes have come and are not taken."""

    @property
    def most_waiting(self) -> int:
        """Give the most bytes that ever waited."""

    def connect(self) -> None:
        """Connect; raises Unreachable, Refused, or NotPermitted with what would permit it."""

    def start(self) -> None:
        """Begin to read."""

    def take(self, timeout_s: float) -> Iterator[Batch]:
        """Yield what has come, waiting for so long when nothing has."""

    def stop(self) -> None:
        """Read no more; what has come can still be taken."""

    def close(self) -> None:
        """Let go of everything."""


class ChannelSource:
    """Channels of a Redis, heard by a thread of its own."""

    def __init__(
        self, address: Address, subscription: Subscription, folder: Path | None, say: Say
    ) -> None:
        self._backlog = Backlog(folder)
        self._listener = Listener(address, subscription, self._backlog, say)
        self._subscription, self._say = subscription, say
        self._pushes: Pushes | None = self._new_pushes()
        self.connect, self.start = self._listener.connect, self._listener.start

    @property
    def waiting(self) -> int:
        """Give how many bytes have come and are not taken."""
        return self._backlog.size

    @property
    def most_waiting(self) -> int:
        """Give the most bytes that ever waited."""
        return self._backlog.greatest

    def take(self, timeout_s: float) -> Iterator[Batch]:
        """Yield what has come, waiting for so long when nothing has."""
        for chunk in self._backlog.take(timeout_s):
            if not chunk.raw:
                # A message that was cut off with its connection never comes to its end.
                self._pushes = self._new_pushes()
                yield Batch(chunk.at, (), chunk.until, chunk.why)
            elif messages := self._cut(chunk.raw):
                yield Batch(chunk.at, messages)
            self._tell_faults()

    def _cut(self, raw: bytes) -> Sequence[Message]:
        """Cut messages; what is no message spoils all until the next connection."""
        if self._pushes is None:
            return ()
        try:
            return self._pushes.cut(raw)
        except ValueError:
            self._pushes = None
            self._listener.renew()
            return ()

    def stop(self) -> None:
        """Read no more; what has come can still be taken."""
        self._listener.stop()
        self._backlog.wake()

    def close(self) -> None:
        """Let go of everything."""
        self.stop()
        self._backlog.close()

    def _new_pushes(self) -> Pushes:
        names = self._subscription.names
        return Pushes((), names) if self._subscription.is_by_pattern else Pushes(names)

    def _tell_faults(self) -> None:
        while self._pushes is not None and self._pushes.faults:
            self._say(f"The Redis says: {self._pushes.faults.pop(0)}.")
