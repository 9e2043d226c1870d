"""Server-sent events: a poke that the log of a project has grown, and nothing else.

One hub a process asks one source for the heads of all logs, and only while somebody listens; the
streams themselves never touch the database. An event's id is the leaf index it speaks of, so a
reader that comes back says what it has seen and is poked at once if more has come.
Source: reference/style-and-libraries.md section 3.3; the HTML standard, section 9.2.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Protocol

import structlog
from django.http import StreamingHttpResponse

Source = Callable[[], Awaitable[Mapping[str, int]]]
"""Gives the newest leaf index of each project's log; an empty log is absent."""

PER_USER = 8
"""Streams of one user in one process; a browser's tabs share six connections over HTTP/1.1."""
EMPTY = -1
"""The head of a log without leaves."""
LONGEST_BACK_OFF_S = 30.0
_LINE = re.compile(r"\r\n|\r|\n")
_UNFIT = re.compile(r"[\r\n\x00]")

log = structlog.get_logger("counterfoil.sse")


class StreamError(Exception):
    """The stream cannot be opened."""


class TooManyStreams(StreamError):
    """This user already has as many live streams open as are allowed; close a tab."""


class HubClosed(StreamError):
    """The server is shutting down; connect again in a moment."""


def frame(data: str | None = None, *, event: str | None = None, id: str | None = None) -> bytes:
    """Write one event; without `data` a reader only notes the id and hears nothing.

    Raises ValueError for an event name or id with a line end or NUL, which would start a line of
    its own.
    """
    lines = []
    for name, value in (("id", id), ("event", event)):
        if value is not None:
            if _UNFIT.search(value):
                raise ValueError(f"{name} must be one line: {value!r}")
            lines.append(f"{name}: {value}")
    if data is not None:
        lines += [f"data: {line}" for line in _LINE.split(data)]
    return "".join(f"{line}\n" for line in [*lines, ""]).encode("utf-8", "replace")


def comment(text: str) -> bytes:
    """Write a line that readers skip; it keeps proxies from closing an idle stream."""
    return (
        "".join(f": {line}\n" for line in [*_LINE.split(text)]).encode("utf-8", "replace") + b"\n"
    )


class Clock(Protocol):
    """Time as the hub and its streams see it, in seconds that never run backwards."""

    def now(self) -> float:
        """Give the present moment."""

    async def wait(self, event: asyncio.Event, seconds: float) -> bool:
        """Wait for an event, at most so long; say whether it came."""


class LoopClock:
    """The machine's monotonic clock."""

    def now(self) -> float:
        return time.monotonic()

    async def wait(self, event: asyncio.Event, seconds: float) -> bool:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await event.wait()
        return event.is_set()


class Subscription:
    """One reader's place in the hub: the newest head, never a queue of them."""

    def __init__(self, project: str, user: str) -> None:
        self.project = project
        self.user = user
        self.leaf: int | None = None
        self.is_stale = False
        self.changed = asyncio.Event()

    def tell(self, leaf: int | None, *, is_stale: bool) -> None:
        """Put what is known now in place of what was; wake the reader if it differs."""
        if (leaf, is_stale) != (self.leaf, self.is_stale):
            self.leaf, self.is_stale = leaf, is_stale
            self.changed.set()


class Hub:
    """Asks the source every `interval_s` while there are readers and tells each what changed.

    A source that fails is asked again after a growing pause; until it answers, readers are told
    that what they see is stale, since silence would look like "nothing new". Call `close` when the
    server is told to stop and before it waits for its connections (a handler of the signal, not
    the end of the lifespan): it ends every stream. All calls belong to one event loop.
    """

    def __init__(
        self,
        source: Source,
        interval_s: float,
        *,
        per_user: int = PER_USER,
        clock: Clock | None = None,
    ) -> None:
        self.source = source
        self.interval_s = interval_s
        self.per_user = per_user
        self.clock = clock or LoopClock()
        self.is_closed = False
        self._subscriptions: set[Subscription] = set()
        self._heads: Mapping[str, int] | None = None
        self._is_stale = False
        self._stop: asyncio.Event | None = None
        self._task: asyncio.Task[None] | None = None

    def admit(self, user: str) -> None:
        """Raise HubClosed or TooManyStreams where a user may not open another stream."""
        if self.is_closed:
            raise HubClosed(HubClosed.__doc__)
        if sum(one.user == user for one in self._subscriptions) >= self.per_user:
            raise TooManyStreams(TooManyStreams.__doc__)

    def subscribe(self, project: str, user: str) -> Subscription:
        """Add a reader and start asking if it is the first; end it with `leave`."""
        self.admit(user)
        subscription = Subscription(project, user)
        self._subscriptions.add(subscription)
        if self._task is None:
            # Made here, as an event belongs to the loop that first waits for it.
            self._stop = asyncio.Event()
            self._task = asyncio.create_task(self._poll(self._stop))
        elif self._heads is not None or self._is_stale:
            self._tell(subscription)
        return subscription

    def leave(self, subscription: Subscription) -> None:
        """Remove a reader; after the last one the source is left alone."""
        self._subscriptions.discard(subscription)
        if not self._subscriptions and self._task is not None:
            self._task.cancel()
            # What is known ages from here on; the next reader must not be told of it.
            self._task, self._heads, self._is_stale = None, None, False

    def close(self) -> None:
        """End every stream and refuse new ones."""
        self.is_closed = True
        if self._stop is not None:
            self._stop.set()
        for subscription in self._subscriptions:
            subscription.changed.set()

    @property
    def readers(self) -> int:
        """How many streams are open."""
        return len(self._subscriptions)

    async def _poll(self, stop: asyncio.Event) -> None:
        pause = self.interval_s
        while not self.is_closed:
            try:
                self._heads = await self.source()
            except Exception as error:
                pause = min(max(pause * 2, self.interval_s), LONGEST_BACK_OFF_S)
                log.warning("The heads could not be read", action="sse.source", error=str(error))
                self._is_stale = True
            else:
                pause, self._is_stale = self.interval_s, False
            for subscription in self._subscriptions:
                self._tell(subscription)
            await self.clock.wait(stop, pause)

    def _tell(self, subscription: Subscription) -> None:
        leaf = subscription.leaf
        if self._heads is not None:
            leaf = self._heads.get(subscription.project, EMPTY)
        subscription.tell(leaf, is_stale=self._is_stale)


def stream(
    hub: Hub,
    project: str,
    last_event_id: str | None,
    *,
    user: str = "",
    ping_s: float = 15,
    max_s: float = 900,
) -> AsyncIterator[bytes]:
    """Give the frames for one reader of a project; raises StreamError at once, not when iterated.

    `last_event_id` is the leaf index the reader has seen: the header Last-Event-ID, or what the
    page was drawn with. Where it is not the head, a `ledger` event comes first; without one the
    reader is given the head's id and hears of what comes after. A `stale` event says that the
    source does not answer, `fresh` that it does again. After `max_s` the stream ends, so that the
    reader connects again and its rights are checked again.
    """
    hub.admit(user)
    return _frames(hub, project, last_event_id, user, ping_s, max_s)


async def _frames(
    hub: Hub, project: str, last_event_id: str | None, user: str, ping_s: float, max_s: float
) -> AsyncIterator[bytes]:
    # Joined here and not in `stream`: a generator that never starts would never leave.
    subscription = hub.subscribe(project, user)
    reader = _Reader(last_event_id)
    end = hub.clock.now() + max_s
    try:
        yield comment("open")
        while not hub.is_closed and (left := end - hub.clock.now()) > 0:
            if not await hub.clock.wait(subscription.changed, min(ping_s, left)):
                yield comment("ping")
                continue
            subscription.changed.clear()
            for one in reader.frames(subscription):
                yield one
    finally:
        hub.leave(subscription)


class _Reader:
    """What one reader has been told."""

    def __init__(self, last_event_id: str | None) -> None:
        self.has_id = last_event_id is not None
        self.seen = last_event_id
        self.is_stale = False

    def frames(self, subscription: Subscription) -> list[bytes]:
        found = []
        if subscription.is_stale != self.is_stale:
            self.is_stale = subscription.is_stale
            found.append(frame("", event="stale" if self.is_stale else "fresh"))
        leaf = subscription.leaf
        if leaf is not None and leaf != EMPTY and str(leaf) != self.seen:
            found.append(_poke(leaf) if self.has_id else frame(id=str(leaf)))
            self.seen = str(leaf)
        self.has_id = True
        return found


def _poke(leaf: int) -> bytes:
    return frame(json.dumps({"leaf_index": str(leaf)}), event="ledger", id=str(leaf))


def event_stream(frames: AsyncIterator[bytes]) -> StreamingHttpResponse:
    """Answer with a stream that no cache keeps and no proxy holds back."""
    response = StreamingHttpResponse(frames, content_type="text/event-stream")
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Accel-Buffering"] = "no"
    return response
