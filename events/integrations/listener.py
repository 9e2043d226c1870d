"""The thread that reads a bus: it does nothing but read, so that it is never the slow one.

A Redis cuts off a subscriber that does not keep up. What comes goes into the backlog as it came,
and everything else happens behind it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from events.domain.times import micros
from events.integrations import grants
from events.integrations.backlog import Backlog, Chunk
from events.integrations.redis_address import Address
from events.integrations.redis_link import Link, NotPermitted, Refused, Unreachable
from kit import clock

BREATH_S = 0.5
PING_S, DEAD_S = 15.0, 45.0
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.25, 30.0
RECONNECT, BUFFER_FULL = "reconnect", "buffer_full"
SECOND = 1_000_000
_GLOB = frozenset("*?[\\")

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Subscription:
    """What is subscribed to: names of channels as they are, or patterns."""

    names: Sequence[str]
    is_by_pattern: bool

    @property
    def command(self) -> tuple[str, ...]:
        """Give the command that subscribes to all of them."""
        return ("PSUBSCRIBE" if self.is_by_pattern else "SUBSCRIBE", *self.names)


def subscription_of(names: Sequence[str]) -> Subscription:
    """Subscribe by pattern where one of the names is one."""
    return Subscription(tuple(names), any(not _GLOB.isdisjoint(name) for name in names))


class Listener:
    """Reads one subscription into a backlog until it is told to stop.

    `connect` makes the first connection; what ends it afterwards is waited out, and the time that
    was not watched goes into the backlog as a hole.
    """

    def __init__(
        self, address: Address, subscription: Subscription, backlog: Backlog, say: Say
    ) -> None:
        self._address, self._subscription = address, subscription
        self._backlog, self._say = backlog, say
        self._stop, self._renew = threading.Event(), threading.Event()
        self._link: Link | None = None
        self._seen = self._pinged = 0
        self._pause = FIRST_PAUSE_S
        self._thread = threading.Thread(target=self._run, name="listener", daemon=True)

    def connect(self) -> None:
        """Subscribe; raises Unreachable, or NotPermitted with the line that would permit it."""
        self._link = subscribe(self._address, self._subscription)
        self._seen = micros(clock.now())

    def start(self) -> None:
        """Begin to read; `connect` comes first."""
        self._thread.start()

    def renew(self) -> None:
        """Give the connection up and make another."""
        self._renew.set()

    def stop(self) -> None:
        """Read no more, and wait until the thread has ended."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
        if self._link is not None:
            self._link.close()

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                if self._link is None:
                    return
                self._read(self._link)
            except Unreachable as error:
                self._lose(f"The Redis was lost: {error}. What it sends now is not seen.")
            except Exception as error:
                # A thread that ended would look like a bus on which nothing happens.
                self._lose(f"The reader failed, and begins anew: {type(error).__name__}.")

    def _lose(self, why: str) -> None:
        self._say(why)
        if self._link is not None:
            self._link.close()
        self._come_back(RECONNECT)

    def _read(self, link: Link) -> None:
        if self._renew.is_set():
            self._renew.clear()
            raise Unreachable(f"{self._address.shown}: it sent what is no message")
        chunk = link.receive(BREATH_S)
        now = micros(clock.now())
        if chunk is None:
            self._ask_whether_alive(link, now)
        elif self._backlog.put(Chunk(now, chunk)):
            self._seen = now
        else:
            self._say("The store is too slow, and no room is left for what comes meanwhile.")
            link.close()
            self._come_back(BUFFER_FULL)

    def _ask_whether_alive(self, link: Link, now: int) -> None:
        """A connection that was cut without a word gives no answer to a ping either."""
        if now - self._seen >= DEAD_S * SECOND:
            link.close()
            raise Unreachable(f"{self._address.shown}: no answer for {DEAD_S:.0f} s")
        if now - max(self._seen, self._pinged) >= PING_S * SECOND:
            self._pinged = now
            link.send("PING")

    def _come_back(self, why: str) -> None:
        """Subscribe again as soon as that can be done, and say what was not watched meanwhile."""
        while not self._stop.is_set():
            if self._wait_for_room(why) and self._try_again():
                now = micros(clock.now())
                self._backlog.put(Chunk(min(self._seen, now), b"", now, why))
                self._seen, self._pause = now, FIRST_PAUSE_S
                self._say("The bus is watched again; what was missed is marked as a hole.")
                return

    def _wait_for_room(self, why: str) -> bool:
        while why == BUFFER_FULL and not self._backlog.is_low:
            if self._stop.wait(FIRST_PAUSE_S):
                return False
        return True

    def _try_again(self) -> bool:
        try:
            self._link = subscribe(self._address, self._subscription)
        except (Unreachable, Refused) as error:
            self._say(f"The Redis cannot be reached: {error}. Next try in {self._pause:.3g} s.")
            self._stop.wait(self._pause)
            self._pause = min(self._pause * 2, LONGEST_PAUSE_S)
            return False
        return True


def subscribe(address: Address, subscription: Subscription) -> Link:
    """Connect and subscribe; raises Unreachable, Refused, or NotPermitted with what would help."""
    try:
        link = Link(address)
    except NotPermitted as error:
        raise grants.advised(error, address, ("CLIENT", "SETNAME")) from error
    try:
        link.ask(*subscription.command)
    except NotPermitted as error:
        link.close()
        raise grants.advised(error, address, subscription.command) from error
    except Refused:
        link.close()
        raise
    return link
