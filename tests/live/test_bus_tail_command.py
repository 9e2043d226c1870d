"""`manage.py bus_tail` as it is run: its options, its exit codes, and what it lets out."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
import redis
from django.core.management import ManagementUtility, call_command
from django.db import connections

from events.integrations import grants
from events.models import BusSetting
from kit.commands import UsageError
from ledger.models import Receipt, ReceiptBody
from tests import factories, servers
from tests.architecture import ROOT
from tests.databases import Database
from tests.servers import Redis

pytestmark = pytest.mark.slow
PATIENCE_S = 60.0
BUS = ("--installation=i1", "--bus=activity")


@pytest.fixture
def server() -> Iterator[Redis]:
    with closing(Redis()) as server:
        yield server.start()


@pytest.fixture
def client(server: Redis) -> Iterator[redis.Redis]:
    with closing(redis.Redis.from_url(server.url)) as client:
        yield client


@pytest.fixture
def project(sqlite_database: Database) -> Iterator[str]:
    yield factories.make_project().slug
    connections["default"].close()


def run(project: str, *words: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    try:
        call_command("bus_tail", f"--project={project}", *words, stdout=out, stderr=err)
    except SystemExit as left:
        return int(left.code or 0), out.getvalue(), err.getvalue()
    return 0, out.getvalue(), err.getvalue()


def message(number: int, title: str = "Ada Lovelace") -> str:
    event = {"id": 0, "type": "t", "workspace_id": "ws-1", "title": title, "timestamp": 1}
    return f"7|{number}|{json.dumps(event)}"


def wait_for_subscriber(client: redis.Redis) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while client.pubsub_numpat() != 1:
        assert time.monotonic() < deadline, "nobody subscribed"
        time.sleep(0.01)


def publish_soon(client: redis.Redis, *messages: str) -> threading.Thread:
    """Publish as soon as somebody is subscribed."""

    def publish() -> None:
        wait_for_subscriber(client)
        for one in messages:
            client.publish("pad:events:ws-1", one)

    thread = threading.Thread(target=publish)
    thread.start()
    return thread


def test_a_tail_that_is_told_to_stop_stores_its_last_segment_and_leaves_with_0(
    project: str, server: Redis, client: redis.Redis, sqlite_database: Database
) -> None:
    environment = {**os.environ, **sqlite_database.environment, "BUS_REDIS": server.url}
    command = [sys.executable, "manage.py", "bus_tail", f"--project={project}", *BUS,
               "--redis-env=BUS_REDIS"]  # fmt: skip
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
    )
    wait_for_subscriber(client)
    for number in range(1, 6):
        client.publish("pad:events:ws-1", message(number))
    process.send_signal(signal.SIGTERM)
    said, _ = process.communicate(timeout=PATIENCE_S)

    assert process.returncode == 0
    assert said == "5 messages in 1 segments; 0 holes.\n"
    raws = [json.loads(bytes(raw)) for raw in ReceiptBody.objects.values_list("raw", flat=True)]
    [segment] = [one for one in raws if one["what"] == "segment"]
    assert [row[3] for row in segment["data"]["messages"]] == ["1", "2", "3", "4", "5"]


def test_a_tail_for_so_long_ends_by_itself(project: str, server: Redis) -> None:
    code, said, told = run(project, *BUS, f"--redis={server.url}", "--for=0.3")

    assert (code, said, told) == (0, "0 messages in 0 segments; 0 holes.\n", "")


def test_a_check_shows_ten_messages_without_what_is_personal_and_stores_nothing(
    project: str, server: Redis, client: redis.Redis
) -> None:
    publisher = publish_soon(client, *(message(number) for number in range(1, 15)))

    code, said, _ = run(project, *BUS, f"--redis={server.url}", "--check")

    publisher.join()
    *lines, last = said.splitlines()
    assert (code, last) == (0, "10 messages, none of them stored.")
    shown = [json.loads(line) for line in lines]
    assert [one["id"] for one in shown] == [str(number) for number in range(1, 11)]
    assert "Ada" not in said and shown[0]["masked"] == ["title"]
    assert Receipt.objects.count() == 0


def test_a_redis_that_is_not_there_is_2_with_one_line_and_no_password(
    project: str, capfd: pytest.CaptureFixture[str]
) -> None:
    address = f"redis://u:hunter2@127.0.0.1:{servers.find_free_port()}/0"
    words = ["manage.py", "bus_tail", f"--project={project}", *BUS, f"--redis={address}"]

    with pytest.raises(SystemExit) as left:
        ManagementUtility(words).execute()

    said = capfd.readouterr()
    warning, refused = said.err.splitlines()
    assert left.value.code == 2
    assert warning.startswith("The address has a password in it")
    assert refused.startswith("The Redis cannot be reached: 127.0.0.1:")
    assert "hunter2" not in said.out + said.err


def test_an_address_in_a_variable_is_taken_without_a_warning(
    project: str, server: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BUS_REDIS", server.url.replace("//", "//:hunter2@"))

    code, _, told = run(project, *BUS, "--redis-env=BUS_REDIS", "--for=0.1")

    # A Redis without a password refuses one, in its own words.
    assert code == 2 and told.startswith("The Redis refuses: ")
    assert "hunter2" not in told


def test_a_user_that_may_not_subscribe_is_told_the_line_that_permits_it(
    project: str, server: Redis, client: redis.Redis
) -> None:
    line = grants.line_of(["pad:*"], ["pad:*"]).replace("PASSWORD", "hunter2")
    client.execute_command(*line.split())
    address = f"redis://counterfoil:hunter2@127.0.0.1:{server.port}"

    code, _, told = run(project, *BUS, f"--redis={address}", "--for=1")

    assert code == 2
    assert told.rstrip().endswith("This permits it: ACL SETUSER counterfoil &pad:events:*")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--bus=activity", "--redis=redis://c"], "--installation is a name"),
        (["--installation=a/b", "--bus=activity", "--redis=redis://c"], "--installation is a name"),
        (["--installation=i", "--bus=activity"], "Give the Redis's address"),
        (["--installation=i", "--bus=activity", "--redis=http://c"], "is no address of a Redis"),
        (["--installation=i", "--bus=activity", "--redis-env=NOT_SET"], "NOT_SET holds no address"),
        (["--installation=i", "--bus=orders", "--redis=redis://c"], "What orders writes"),
        (["--installation=i", "--bus=activity", "--profile=v9", "--redis=redis://c"],
         "There is no profile v9"),
        (["--installation=i", "--bus=activity", "--namespace=A:b", "--redis=redis://c"],
         "--namespace takes"),
        (["--source=live", "--redis=redis://c"], "No bus live is configured"),
        ([*BUS, "--redis=redis://c", "--metrics=ftp://c"], "--metrics takes an address"),
        ([*BUS, "--redis=redis://c", "--metrics-token-env=NOT_SET"], "NOT_SET holds no token"),
    ],
)  # fmt: skip
def test_options_that_name_no_bus_are_refused(project: str, words: list[str], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        run(project, *words)


def test_a_token_is_not_sent_over_an_open_connection_to_another_machine(
    project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN", "t")
    metrics = ("--metrics=http://web-1.internal/metrics", "--metrics-token-env=TOKEN")

    with pytest.raises(UsageError, match="by https alone"):
        run(project, *BUS, "--redis=redis://c", *metrics)


def configure(project: str, installation: str, settings: dict[str, Any], leaf: int) -> None:
    """Put an act where its projector puts it."""
    from access import queries

    found = queries.find_project_by_slug(project)
    assert found is not None
    BusSetting.objects.create(
        project_id=found.id, subject=f"b{leaf}", leaf_index=leaf, verb="configure",
        target=f"bus:{installation}/live", data=json.dumps({"settings": settings}), at=0,
    )  # fmt: skip


def test_a_bus_of_the_sources_file_is_watched_by_its_settings(
    project: str, server: Redis, client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BUS_REDIS", server.url)
    told = {"profile": "generic", "channels": ["events:*"], "id": "$.seq", "channel": "channel:1",
            "mask": ["$.who"], "redis_env": "BUS_REDIS", "replica": "eye"}  # fmt: skip
    configure(project, "shop", {"profile": "generic"}, 1)
    configure(project, "shop", told, 2)

    def publish() -> None:
        wait_for_subscriber(client)
        client.publish("events:lobby", json.dumps({"seq": 5, "who": "Ada Lovelace"}))

    publisher = threading.Thread(target=publish)
    publisher.start()
    code, said, _ = run(project, "--source=live", "--check", "--for=2")
    publisher.join()

    shown = json.loads(said.splitlines()[0])
    assert code == 0
    assert (shown["channel"], shown["id"], shown["form"]) == ("lobby", "5", "bare")
    assert "Ada" not in said


def test_a_name_that_two_installations_have_needs_the_installation(project: str) -> None:
    for leaf, installation in enumerate(("a", "b")):
        configure(project, installation, {"profile": "generation"}, leaf)

    with pytest.raises(UsageError, match="Give --installation too"):
        run(project, "--source=live", "--redis=redis://c")


def test_a_slip_in_an_option_does_not_show_the_password(
    project: str, capfd: pytest.CaptureFixture[str]
) -> None:
    words = ["manage.py", "bus_tail", f"--project={project}", *BUS, "--redsi"]

    with pytest.raises(SystemExit) as left:
        ManagementUtility([*words, "redis://u:hunter2@c/0"]).execute()

    said = capfd.readouterr()
    assert left.value.code == 3
    assert "hunter2" not in said.out + said.err


def test_a_project_that_is_not_there_is_2(project: str) -> None:
    with pytest.raises(SystemExit) as left:
        ManagementUtility(
            ["manage.py", "bus_tail", "--project=nowhere", *BUS, "--redis=redis://c"]
        ).execute()

    assert left.value.code == 2
