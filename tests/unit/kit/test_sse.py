"""Server-sent events: frames, the hub and what a reader hears."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest, StreamingHttpResponse
from django.test import override_settings
from django.urls import URLPattern, path

from kit import sse

Test = Callable[["Rig"], Awaitable[None]]


class FakeClock:
    """Time that moves only when a test moves it."""

    def __init__(self) -> None:
        self.time = 0.0
        self.alarms: list[tuple[float, asyncio.Event]] = []

    def now(self) -> float:
        return self.time

    async def wait(self, event: asyncio.Event, seconds: float) -> bool:
        alarm = asyncio.Event()
        self.alarms.append((self.time + seconds, alarm))
        waits = [asyncio.ensure_future(one.wait()) for one in (event, alarm)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in waits:
                one.cancel()
        return event.is_set()

    async def move(self, seconds: float) -> None:
        self.time += seconds
        for due, alarm in self.alarms:
            if due <= self.time:
                alarm.set()
        await settle()


async def settle() -> None:
    """Let every task that can run do so."""
    for _ in range(20):
        await asyncio.sleep(0)


class Rig:
    """A hub over heads that the test sets."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.heads: dict[str, int] = {"acme": 41}
        self.asked = 0
        self.fails = False
        self.hub = sse.Hub(self.source, 1.0, per_user=2, clock=self.clock)

    async def source(self) -> dict[str, int]:
        self.asked += 1
        if self.fails:
            raise ConnectionError("the database is away")
        return dict(self.heads)

    def open(self, last: str | None = None, **more: Any) -> Reader:
        return Reader(sse.stream(self.hub, "acme", last, **more))


class Reader:
    """A client: reads in a task, as a browser does, and keeps what it heard."""

    def __init__(self, frames: AsyncIterator[bytes]) -> None:
        self.heard: list[str] = []
        self.task = asyncio.create_task(self._read(frames))

    async def _read(self, frames: AsyncIterator[bytes]) -> None:
        async for one in frames:
            self.heard.append(one.decode())

    async def go(self) -> None:
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)
        await settle()


def run(test: Test) -> Callable[[], None]:
    """Give a test an event loop and a rig; close the hub behind it."""

    def runs() -> None:
        async def main() -> None:
            rig = Rig()
            await test(rig)
            rig.hub.close()
            await settle()

        asyncio.run(main())

    runs.__name__ = getattr(test, "__name__", "test")
    return runs


OPEN = ": open\n\n"
HEAD_41 = "id: 41\n\n"
STALE = "event: stale\ndata: \n\n"
POKE_42 = 'id: 42\nevent: ledger\ndata: {"leaf_index": "42"}\n\n'

FRAMES = {
    "data": (sse.frame("a"), b"data: a\n\n"),
    "everything": (sse.frame("a", event="e", id="7"), b"id: 7\nevent: e\ndata: a\n\n"),
    "lines of every kind": (
        sse.frame("a\nb\r\nc\rd"),
        b"data: a\ndata: b\ndata: c\ndata: d\n\n",
    ),
    "a line that looks like a field": (
        sse.frame("x\nevent: evil"),
        b"data: x\ndata: event: evil\n\n",
    ),
    "no data": (sse.frame(id="7"), b"id: 7\n\n"),
    "empty data": (sse.frame("", event="e"), b"event: e\ndata: \n\n"),
    "a comment": (sse.comment("a\nb"), b": a\n: b\n\n"),
    "a lone surrogate": (sse.frame("\ud800"), b"data: ?\n\n"),
}


@pytest.mark.parametrize(("made", "expected"), FRAMES.values(), ids=FRAMES.keys())
def test_a_frame_is_written_as_the_standard_says(made: bytes, expected: bytes) -> None:
    assert made == expected


@pytest.mark.parametrize("unfit", ["a\nb", "a\rb", "a\x00b"])
def test_an_id_or_a_name_cannot_start_a_line_of_its_own(unfit: str) -> None:
    with pytest.raises(ValueError, match="must be one line"):
        sse.frame("a", id=unfit)
    with pytest.raises(ValueError, match="must be one line"):
        sse.frame("a", event=unfit)


@run
async def test_a_new_reader_is_given_the_head_and_hears_nothing(rig: Rig) -> None:
    reader = rig.open()
    await settle()

    assert reader.heard == [OPEN, HEAD_41]


@run
async def test_a_reader_is_poked_when_the_head_moves(rig: Rig) -> None:
    reader = rig.open()
    await settle()

    rig.heads["acme"] = 42
    await rig.clock.move(1)

    assert reader.heard == [OPEN, HEAD_41, POKE_42]


@run
async def test_a_reader_that_comes_back_is_poked_at_once_if_the_head_moved(rig: Rig) -> None:
    rig.heads["acme"] = 42
    reader = rig.open("41")
    await settle()

    assert reader.heard == [OPEN, POKE_42]


@run
async def test_a_reader_that_missed_nothing_is_left_in_peace(rig: Rig) -> None:
    reader = rig.open("41")
    await settle()

    assert reader.heard == [OPEN]


@pytest.mark.parametrize("last", ["", "junk", "99", "41; drop"])
def test_a_reader_that_saw_something_else_is_poked(last: str) -> None:
    @run
    async def comes_back(rig: Rig) -> None:
        rig.heads["acme"] = 42
        reader = rig.open(last)
        await settle()
        assert reader.heard == [OPEN, POKE_42]

    comes_back()


@run
async def test_the_first_leaf_of_an_empty_log_is_a_poke(rig: Rig) -> None:
    rig.heads.clear()
    reader = rig.open()
    await settle()

    rig.heads["acme"] = 42
    await rig.clock.move(1)

    assert reader.heard == [OPEN, POKE_42]


@run
async def test_only_the_newest_head_reaches_a_slow_reader(rig: Rig) -> None:
    frames = sse.stream(rig.hub, "acme", "41")
    first = await anext(frames)
    for leaf in (50, 51, 42):
        rig.heads["acme"] = leaf
        await rig.clock.move(1)

    second = await anext(frames)

    assert [first.decode(), second.decode()] == [OPEN, POKE_42]
    assert isinstance(frames, AsyncIterator)
    await frames.aclose()  # type: ignore[attr-defined]


@run
async def test_another_project_is_not_heard_of(rig: Rig) -> None:
    reader = rig.open()
    await settle()

    rig.heads["other"] = 7
    await rig.clock.move(1)

    assert reader.heard == [OPEN, HEAD_41]


@run
async def test_the_source_is_asked_once_for_all_and_only_while_somebody_listens(rig: Rig) -> None:
    readers = [rig.open(user=str(number)) for number in range(5)]
    await settle()
    assert rig.asked == 1
    await rig.clock.move(1)
    assert rig.asked == 2

    for reader in readers:
        await reader.go()
    await rig.clock.move(10)

    assert rig.asked == 2
    assert rig.hub.readers == 0


@run
async def test_who_comes_after_a_pause_is_told_the_head_of_now(rig: Rig) -> None:
    first = rig.open()
    await settle()
    await first.go()
    rig.heads["acme"] = 42

    second = rig.open("41")
    await settle()

    assert second.heard == [OPEN, POKE_42]


@run
async def test_what_was_known_before_a_pause_is_never_told_after_it(rig: Rig) -> None:
    first = rig.open()
    await settle()
    await first.go()
    rig.fails = True

    second = rig.open("40")
    await settle()

    assert second.heard == [OPEN, STALE]


@run
async def test_who_joins_while_the_source_fails_is_told_at_once(rig: Rig) -> None:
    rig.fails = True
    rig.open(user="first")
    await settle()

    second = rig.open("40", user="second")
    await settle()

    assert second.heard == [OPEN, STALE]


@run
async def test_an_idle_stream_is_kept_open_by_pings(rig: Rig) -> None:
    reader = rig.open("41", ping_s=15)
    await settle()

    await rig.clock.move(15)
    await rig.clock.move(15)

    assert reader.heard == [OPEN, ": ping\n\n", ": ping\n\n"]


@run
async def test_a_stream_ends_after_its_time(rig: Rig) -> None:
    reader = rig.open("41", ping_s=600, max_s=900)
    await settle()

    await rig.clock.move(600)
    assert not reader.task.done()
    await rig.clock.move(300)

    assert reader.task.done()
    assert rig.hub.readers == 0


@run
async def test_closing_the_hub_ends_every_stream_and_refuses_new_ones(rig: Rig) -> None:
    readers = [rig.open(user=str(number)) for number in range(3)]
    await settle()

    rig.hub.close()
    await settle()

    assert all(reader.task.done() for reader in readers)
    assert rig.hub.readers == 0
    with pytest.raises(sse.HubClosed):
        sse.stream(rig.hub, "acme", None)


@run
async def test_a_user_has_so_many_streams_and_others_theirs(rig: Rig) -> None:
    mine = [rig.open(user="me") for _ in range(2)]
    await settle()

    with pytest.raises(sse.TooManyStreams):
        sse.stream(rig.hub, "acme", None, user="me")
    rig.open(user="you")
    await mine[0].go()
    rig.open(user="me")
    await settle()

    assert rig.hub.readers == 3


@run
async def test_a_stream_that_is_never_read_takes_no_place(rig: Rig) -> None:
    for _ in range(5):
        sse.stream(rig.hub, "acme", None, user="me")

    assert rig.hub.readers == 0


@run
async def test_readers_are_told_when_the_source_fails_and_when_it_is_back(rig: Rig) -> None:
    reader = rig.open()
    await settle()
    rig.fails = True
    await rig.clock.move(1)
    await rig.clock.move(2)
    assert reader.heard == [OPEN, HEAD_41, STALE]

    rig.fails, rig.heads["acme"] = False, 42
    await rig.clock.move(4)

    assert reader.heard[3:] == ["event: fresh\ndata: \n\n", POKE_42]


@run
async def test_a_failing_source_is_asked_less_and_less_often(rig: Rig) -> None:
    rig.fails = True
    rig.open()
    await settle()

    asked = []
    for _ in range(8):
        await rig.clock.move(1)
        asked.append(rig.asked)

    assert asked == [1, 2, 2, 2, 2, 3, 3, 3]


def test_the_machines_clock_says_whether_the_event_came() -> None:
    async def main() -> tuple[bool, bool]:
        event = asyncio.Event()
        missed = await sse.LoopClock().wait(event, 0)
        event.set()
        return missed, await sse.LoopClock().wait(event, 5)

    assert asyncio.run(main()) == (False, True)


def test_the_answer_is_neither_cached_nor_held_back() -> None:
    async def main() -> Any:
        rig = Rig()
        return sse.event_stream(sse.stream(rig.hub, "acme", None))

    response = asyncio.run(main())

    assert response.headers["Content-Type"] == "text/event-stream"
    assert response.headers["Cache-Control"] == "no-store"
    assert response.headers["X-Accel-Buffering"] == "no"


class Urls:
    """One address with one stream, as a module of addresses has it."""

    urlpatterns: list[URLPattern] = []


def test_a_client_that_goes_away_leaves_the_hub() -> None:
    async def main() -> int:
        rig, gone, body = Rig(), asyncio.Event(), bytearray()

        async def view(request: HttpRequest) -> StreamingHttpResponse:
            return sse.event_stream(sse.stream(rig.hub, "acme", None))

        async def receive() -> dict[str, Any]:
            if not asked:
                asked.append(True)
                return {"type": "http.request", "body": b""}
            await gone.wait()
            return {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            body.extend(message.get("body", b""))
            if HEAD_41.encode() in body:
                gone.set()

        asked: list[bool] = []
        Urls.urlpatterns = [path("live", view)]
        scope = {
            "type": "http",
            "method": "GET",
            "path": "/live",
            "headers": [],
            "query_string": b"",
        }
        with override_settings(ROOT_URLCONF=Urls, MIDDLEWARE=[]):
            await asyncio.wait_for(ASGIHandler()(scope, receive, send), 10)
        await settle()
        return rig.hub.readers

    assert asyncio.run(main()) == 0
