"""The tail of a bus on a real Redis, from its messages to the receipts of the ledger."""

from __future__ import annotations

import http.server
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import redis
from django.db import OperationalError, connections
from django.db.models import F

from access.rows import ProjectRow
from events.domain import bus_settings, key_values
from events.integrations import grants, redis_pushes, sampling, tail, tailing
from events.integrations.lane_lock import LaneTaken
from events.integrations.redis_address import read_address
from events.integrations.tail import Totals
from events.integrations.tail_writer import TailWriter
from events.integrations.tailing import Beside
from events.integrations.watched import Watched
from events.models import BusTail
from ledger.models import Delivery, Receipt, ReceiptBody
from tests import factories
from tests.databases import Database
from tests.servers import Redis

pytestmark = pytest.mark.slow
PATIENCE_S = 30.0
PERSONAL = "Ada Lovelace"


@pytest.fixture
def server() -> Iterator[Redis]:
    with closing(Redis()) as server:
        yield server.start()


@pytest.fixture
def client(server: Redis) -> Iterator[redis.Redis]:
    with closing(redis.Redis.from_url(server.url)) as client:
        yield client


@pytest.fixture
def project(sqlite_database: Database) -> Iterator[ProjectRow]:
    yield factories.make_project()
    connections["default"].close()


@pytest.fixture
def on_postgresql(postgresql_database: Database) -> Iterator[ProjectRow]:
    yield factories.make_project()
    connections["default"].close()


class Running:
    """A tail in a thread of its own."""

    def __init__(self, watched: Watched, folder: Path, beside: Beside | None = None) -> None:
        self.said: list[str] = []
        self.totals: Totals | None = None
        self.error: Exception | None = None
        self._given = (watched, beside or Beside(), folder, self.said.append)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._wanted = watched

    def __enter__(self) -> Running:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> Totals:
        self._stop.set()
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive()
        if self.error is not None:
            raise self.error
        assert self.totals is not None
        return self.totals

    def _run(self) -> None:
        try:
            self.totals = tailing.follow(*self._given, self._stop, None)
        except Exception as error:
            self.error = error
        finally:
            connections["default"].close()


def watched(project: ProjectRow, server: Redis, **given: Any) -> Watched:
    bus = given.pop("bus", "activity")
    told = {"profile": "generation", **given}
    settings = bus_settings.settings_of(bus, told)
    return Watched(project.id, "i1", bus, "tail", settings, read_address(server.url))


def event(number: int = 0, workspace: str = "ws-1", **more: Any) -> str:
    return json.dumps(
        {"id": number, "type": "item_updated", "workspace_id": workspace, "title": PERSONAL,
         "timestamp": 1, **more},
        separators=(",", ":"),
    )  # fmt: skip


def prefixed(number: int, workspace: str = "ws-1", epoch: str = "7") -> str:
    return f"{epoch}|{number}|{event(workspace=workspace)}"


def wait_until(is_so: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < deadline, "it did not come to that in time"
        time.sleep(0.01)


def wait_for_subscriber(client: redis.Redis) -> None:
    wait_until(lambda: client.pubsub_numpat() == 1)


def bodies(what: str) -> list[dict[str, Any]]:
    """Return the receipts of one kind of observation in the order in which they were stored."""
    raws = ReceiptBody.objects.order_by("id").values_list("raw", flat=True)
    found = (json.loads(bytes(raw)) for raw in raws)
    return [body for body in found if body.get("what") == what]


def rows() -> list[list[Any]]:
    return [row for body in bodies("segment") for row in body["data"]["messages"]]


def test_what_is_published_is_stored_in_order_without_what_is_personal(
    project: ProjectRow, server: Redis, client: redis.Redis, tmp_path: Path
) -> None:
    with Running(watched(project, server), tmp_path) as running:
        wait_for_subscriber(client)
        for number in range(1, 2_501):
            client.publish(f"pad:events:ws-{number % 2}", prefixed(number, f"ws-{number % 2}"))
        wait_until(lambda: len(rows()) >= 2_000)

    assert running.stop().messages == 2_500
    assert [row[3] for row in rows()] == [str(number) for number in range(1, 2_501)]
    assert {row[4] for row in rows()} == {"ws-0", "ws-1"}
    assert all(PERSONAL.encode() not in bytes(raw)
               for raw in ReceiptBody.objects.values_list("raw", flat=True))  # fmt: skip
    segments = bodies("segment")
    assert [one["n"] for one in segments] == list(range(len(segments)))
    assert len({one["incarnation"] for one in segments}) == 1
    assert set(Receipt.objects.values_list("state", flat=True)) == {"accepted"}


def test_a_tail_stores_into_postgresql_as_well_and_numbers_what_it_writes_without_a_hole(
    on_postgresql: ProjectRow, server: Redis, client: redis.Redis, tmp_path: Path
) -> None:
    with Running(watched(on_postgresql, server), tmp_path):
        wait_for_subscriber(client)
        for number in range(1, 1_201):
            client.publish("pad:events:ws-1", prefixed(number))
        wait_until(lambda: len(rows()) >= 1_000)

    assert [row[3] for row in rows()] == [str(number) for number in range(1, 1_201)]
    numbers = Delivery.objects.order_by("feed_number").values_list("feed_number", flat=True)
    assert list(numbers) == list(range(1, Receipt.objects.count() + 1))
    assert bodies("feed")[-1]["written"] == Receipt.objects.count() - 1


def test_a_quiet_bus_makes_no_segments(
    project: ProjectRow, server: Redis, client: redis.Redis, tmp_path: Path
) -> None:
    with Running(watched(project, server), tmp_path):
        wait_for_subscriber(client)

    assert bodies("segment") == []
    assert [one["closed"] for one in bodies("feed")] == [True]


def test_bad_messages_are_rows_and_no_faults_of_the_tail(
    project: ProjectRow, server: Redis, client: redis.Redis, tmp_path: Path
) -> None:
    given: list[str | bytes] = [
        b"\xff\xfe", b"", "{", "7|1e+14|" + event(), "7|9223372036854775808|" + event(),
        "9" * 26 + "|1|" + event(), f" {event(4)}", "7|5|" + event(workspace="other"),
        "7|6|null", "hb|1", prefixed(8), event(9), "[" * 100_000,
        "7|10|" + event(title="x" * 200_000), "7|11|" + event(title="y" * 6_000_000),
        event(12, title="z" * 6_000_000), b"7|13|" + b"{" * 6_000_000,
    ]  # fmt: skip
    with Running(watched(project, server), tmp_path):
        wait_for_subscriber(client)
        for message in given:
            client.publish("pad:events:ws-1", message)
        wait_until(lambda: len(rows()) == len(given))

    found = [(row[1], row[3], row[9] if len(row) > 9 else "") for row in rows()]
    assert [form for form, _, _ in found].count("junk") == 10
    assert found[6][:2] == ("bare", "4")
    assert found[10][:2] == ("prefixed", "8") and found[11][:2] == ("bare", "9")
    assert found[13] == ("prefixed", "10", "cut")
    assert found[14] == ("prefixed", "11", "cut") and found[15] == ("bare", "12", "cut")
    assert [row[6] for row in rows()][14] > 6_000_000
    assert max(len(bytes(raw)) for raw in ReceiptBody.objects.values_list("raw", flat=True)) < (
        768 * 1024
    )
    assert redis_pushes.LONGEST < 6_000_000


def test_a_redis_that_was_gone_for_a_while_is_a_hole_in_our_watching(
    project: ProjectRow, server: Redis, tmp_path: Path
) -> None:
    with Running(watched(project, server), tmp_path) as running:
        with closing(redis.Redis.from_url(server.url)) as client:
            wait_for_subscriber(client)
            client.publish("pad:events:ws-1", prefixed(1))
            wait_until(rows)
        server.kill()
        wait_until(lambda: running.said)
        server.start()
        with closing(redis.Redis.from_url(server.url)) as client:
            wait_for_subscriber(client)
            client.publish("pad:events:ws-1", prefixed(2))
            wait_until(lambda: len(rows()) == 3)

    first, hole, last = rows()
    assert (first[3], hole[1], hole[9], last[3]) == ("1", "hole", "reconnect", "2")
    assert hole[6] > 0
    assert running.stop().holes == 1


def test_the_next_tail_of_a_lane_says_since_when_nobody_watched(
    project: ProjectRow, server: Redis, client: redis.Redis, tmp_path: Path
) -> None:
    for number in (1, 2):
        with Running(watched(project, server), tmp_path):
            wait_for_subscriber(client)
            client.publish("pad:events:ws-1", prefixed(number))
            wait_until(lambda: str(number) in [row[3] for row in rows()])  # noqa: B023
        wait_until(lambda: client.pubsub_numpat() == 0)

    assert [(row[1], row[3]) for row in rows()] == [
        ("prefixed", "1"), ("hole", None), ("prefixed", "2"),
    ]  # fmt: skip
    assert rows()[1][9] == tail.START
    assert len({one["incarnation"] for one in bodies("segment")}) == 2
    assert [one["written"] for one in bodies("feed")] == sorted(
        one["written"] for one in bodies("feed")
    )


def test_after_more_than_a_day_a_tail_just_starts(
    project: ProjectRow, server: Redis, client: redis.Redis, tmp_path: Path
) -> None:
    bus = watched(project, server)
    with Running(bus, tmp_path):
        wait_for_subscriber(client)
    BusTail.objects.update(watched_to=F("watched_to") - tail.NOT_WATCHED)
    wait_until(lambda: client.pubsub_numpat() == 0)
    with Running(bus, tmp_path):
        wait_for_subscriber(client)
        client.publish("pad:events:ws-1", prefixed(1))
        wait_until(rows)

    assert [row[1] for row in rows()] == ["prefixed"]


def test_a_quiet_time_that_was_watched_is_no_hole(
    project: ProjectRow, server: Redis, client: redis.Redis, tmp_path: Path
) -> None:
    with Running(watched(project, server), tmp_path):
        wait_for_subscriber(client)
        before = time.time_ns() // 1_000

    assert BusTail.objects.get().watched_to >= before


def test_a_tail_that_cannot_store_what_it_heard_says_so_in_the_end(
    project: ProjectRow,
    server: Redis,
    client: redis.Redis,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tail, "PATIENCE_S", 0.0)
    monkeypatch.setattr(tail, "FIRST_PAUSE_S", 0.01)
    running = Running(watched(project, server), tmp_path)

    def refuse(*_: Any) -> int:
        raise OperationalError("no disk")

    monkeypatch.setattr(TailWriter, "store", refuse)
    with pytest.raises(tail.NotStored, match="no disk"), running:
        wait_for_subscriber(client)
        client.publish("pad:events:ws-1", prefixed(1))
        wait_until(lambda: running.said)


def test_what_comes_while_the_ledger_cannot_be_written_is_kept(
    project: ProjectRow,
    server: Redis,
    client: redis.Redis,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    is_usable = threading.Event()
    refused = threading.Event()
    store = TailWriter.store

    def store_or_not(self: TailWriter, *given: Any) -> int:
        if not is_usable.is_set():
            refused.set()
            raise OperationalError("the disk is full")
        return store(self, *given)

    monkeypatch.setattr(TailWriter, "store", store_or_not)
    with Running(watched(project, server), tmp_path) as running:
        wait_for_subscriber(client)
        client.publish("pad:events:ws-1", prefixed(1))
        assert refused.wait(PATIENCE_S)
        for number in range(2, 100):
            client.publish("pad:events:ws-1", prefixed(number))
        is_usable.set()
        wait_until(lambda: len(rows()) == 99)

    assert "The ledger's database cannot be used: the disk is full" in running.said[0]
    assert [row[3] for row in rows()] == [str(number) for number in range(1, 100)]


def test_keys_and_heads_are_observed_beside_the_messages(
    project: ProjectRow, server: Redis, client: redis.Redis, tmp_path: Path
) -> None:
    client.set("pad:event_seq", 41)
    client.set("pad:event_epoch", 7, ex=300)

    with Running(watched(project, server), tmp_path):
        wait_until(lambda: bodies("keys") and bodies("heads"))

    [keys], [heads] = bodies("keys"), bodies("heads")
    assert (keys["installation"], keys["bus"], keys["policy"]) == ("i1", "activity", "noeviction")
    assert heads["heads"][0] | {"node": ""} == {
        "channel": "", "node": "", "head": "41", "epoch": "7",
    }  # fmt: skip


class _Page(http.server.BaseHTTPRequestHandler):
    asked: list[str] = []

    def do_GET(self) -> None:
        self.asked.append(self.headers.get("Authorization", ""))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'pad_event_sequence_resets_total{reason="epoch_change"} 2\nother 1\n')

    def log_message(self, *_: object) -> None:
        pass


def test_replicas_are_heard_by_their_metrics_and_their_logs(
    project: ProjectRow,
    server: Redis,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sampling, "EVERY_S", 0.05)
    log = tmp_path / "web-1.log"
    log.write_text('{"time":"2026-10-05T09:00:00Z","level":"INFO","id_space_phase":2,'
                   '"msg":"Event bus using Redis pub/sub"}\n')  # fmt: skip
    with http.server.HTTPServer(("127.0.0.1", 0), _Page) as page:
        threading.Thread(target=page.serve_forever, daemon=True).start()
        beside = Beside([(f"http://127.0.0.1:{page.server_port}/", "web-1")], [(log, "web-1")], "t")
        with Running(watched(project, server), tmp_path, beside):
            wait_until(lambda: len(bodies("replica")) == 2)
            with log.open("a") as more:
                more.write("time=2026-10-05T09:01:00Z level=WARN msg=reset previous_epoch=7 ")
                more.write("new_epoch=8 id=1\n")
            wait_until(lambda: len(bodies("replica")) == 3)
        page.shutdown()

    told = {name: value for one in bodies("replica") for name, value in one.items()}
    assert told["metrics"] == {'pad_event_sequence_resets_total{reason="epoch_change"}': 2}
    assert told["phase"] == 2 and told["resets"][0]["reason"] == "epoch_change"
    assert _Page.asked[0] == "Bearer t"


def test_what_cannot_be_sampled_is_said_once_and_stops_nothing(
    project: ProjectRow,
    server: Redis,
    client: redis.Redis,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sampling, "EVERY_S", 0.05)
    beside = Beside(logs=[(tmp_path / "gone.log", "web-1")])

    with Running(watched(project, server), tmp_path, beside) as running:
        wait_for_subscriber(client)
        client.publish("pad:events:ws-1", prefixed(1))
        wait_until(rows)
        wait_until(lambda: running.said)

    assert running.said == ["The log of web-1 cannot be read: No such file or directory."]


def test_a_stream_is_read_without_a_group_and_goes_on_where_it_was(
    project: ProjectRow, server: Redis, client: redis.Redis, tmp_path: Path
) -> None:
    told = {"profile": "generic", "bus": "orders", "stream": "orders", "id": "$.seq", "mask": []}
    client.xadd("orders", {"seq": "1"})
    bus = watched(project, server, **told)
    with Running(bus, tmp_path):
        wait_until(lambda: client.info("commandstats").get("cmdstat_xrange"))
        for number in (2, 3):
            client.xadd("orders", {"seq": str(number), "text": "x"})
        wait_until(lambda: len(rows()) == 2)
    client.xadd("orders", {"seq": "4"})
    with Running(bus, tmp_path):
        wait_until(lambda: len(rows()) == 3)

    assert [row[3] for row in rows()] == ["2", "3", "4"]
    assert client.xinfo_groups("orders") == []


def test_entries_that_were_trimmed_meanwhile_are_a_hole(
    project: ProjectRow, server: Redis, client: redis.Redis, tmp_path: Path
) -> None:
    told = {"profile": "generic", "bus": "orders", "stream": "orders", "id": "$.seq", "mask": []}
    bus = watched(project, server, **told)
    with Running(bus, tmp_path):
        wait_until(lambda: client.info("commandstats").get("cmdstat_xrange"))
        client.xadd("orders", {"seq": "1"})
        wait_until(rows)
    client.xadd("orders", {"seq": "2"})
    client.xadd("orders", {"seq": "3"})
    client.xtrim("orders", maxlen=1, approximate=False)

    with Running(bus, tmp_path):
        wait_until(lambda: len(rows()) == 3)

    assert [(row[1], row[3]) for row in rows()] == [
        ("bare", "1"), ("hole", None), ("bare", "3"),
    ]  # fmt: skip
    assert rows()[1][9] == "trimmed"


def test_a_second_tail_of_a_lane_is_refused(
    project: ProjectRow, server: Redis, client: redis.Redis, tmp_path: Path
) -> None:
    bus = watched(project, server)
    with Running(bus, tmp_path):
        wait_for_subscriber(client)
        with pytest.raises(LaneTaken):
            tailing.follow(bus, Beside(), tmp_path, print, threading.Event(), 0.1)


def test_the_documented_user_is_enough_for_all_that_a_tail_does(
    project: ProjectRow, server: Redis, client: redis.Redis, tmp_path: Path
) -> None:
    bus = watched(project, server)
    keys = [*key_values.keys_of("generation", "").values()]
    line = grants.line_of(bus.channels, keys).replace("PASSWORD", "hunter2")
    client.execute_command(*line.split())
    address = read_address(f"redis://counterfoil:hunter2@127.0.0.1:{server.port}/0")

    with Running(replace(bus, address=address), tmp_path) as running:
        wait_for_subscriber(client)
        client.publish("pad:events:ws-1", prefixed(1))
        wait_until(lambda: rows() and bodies("keys") and bodies("heads"))

    assert running.said == []


def test_the_watch_bus_is_heard_without_being_counted_as_a_subscriber(
    project: ProjectRow, server: Redis, client: redis.Redis, tmp_path: Path
) -> None:
    body = json.dumps({"ID": 0, "WorkspaceID": "w", "ActorName": PERSONAL, "Timestamp": 1})
    with Running(watched(project, server, bus="watch", profile="watch"), tmp_path):
        wait_for_subscriber(client)
        assert client.pubsub_numsub("pad:watchevents") == [(b"pad:watchevents", 0)]
        client.publish("pad:watchevents", f"0190c0de-5e1f-4a5b-9c2d-0a0b0c0d0e0f|3|{body}")
        wait_until(rows)

    [row] = rows()
    assert row[1:5] == ["prefixed", "0190c0de-5e1f-4a5b-9c2d-0a0b0c0d0e0f", "3", "pad:watchevents"]
    assert PERSONAL not in row[7]


def test_a_channel_without_a_pattern_is_subscribed_to_by_its_name(
    project: ProjectRow, server: Redis, client: redis.Redis, tmp_path: Path
) -> None:
    told = {"profile": "generic", "bus": "orders", "channels": ["orders"], "id": "$.seq"}
    with Running(watched(project, server, **told), tmp_path):
        wait_until(lambda: client.pubsub_numsub("orders") == [(b"orders", 1)])
        for number in range(1, 101):
            client.publish("orders", json.dumps({"seq": number}))
        wait_until(lambda: len(rows()) == 100)

    assert [row[3] for row in rows()] == [str(number) for number in range(1, 101)]


def test_a_stream_whose_redis_was_gone_is_read_on_and_the_tail_can_be_stopped_meanwhile(
    project: ProjectRow, server: Redis, tmp_path: Path
) -> None:
    told = {"profile": "generic", "bus": "orders", "stream": "orders", "id": "$.seq", "mask": []}
    bus = watched(project, server, **told)
    with Running(bus, tmp_path) as running:
        with closing(redis.Redis.from_url(server.url)) as client:
            wait_until(lambda: client.info("commandstats").get("cmdstat_xrange"))
            client.xadd("orders", {"seq": "1"})
            wait_until(rows)
        server.kill()
        wait_until(lambda: running.said)
        server.start()
        with closing(redis.Redis.from_url(server.url)) as client:
            client.xadd("orders", {"seq": "2"})
            wait_until(lambda: "2" in [row[3] for row in rows()])
        server.kill()
        wait_until(lambda: running.said[-1].startswith("The stream cannot be read"))

    assert [(row[1], row[3]) for row in rows()] in (
        [("bare", "1"), ("bare", "2")],
        [("bare", "1"), ("hole", None), ("bare", "2")],
    )
