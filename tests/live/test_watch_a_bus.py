"""The how-to of watching a bus, followed to its end, and its example of a sources file."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import redis

from config.sources import reading
from events.domain import key_values, profiles
from events.integrations import grants
from tests.architecture import ROOT, documents
from tests.architecture.test_docs_commands import parser_of
from tests.architecture.walkthrough import Terminal, iter_steps
from tests.running import Counterfoil
from tests.servers import Redis

PAGE = "docs/how-to/watch-a-bus.md"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Counterfoil]:
    with closing(Counterfoil(tmp_path / "data")) as server:
        yield server.start()


def names() -> tuple[list[str], list[str]]:
    """Return the channels and the keys of both of Pad's buses."""
    both = (profiles.HEARTBEAT, profiles.WATCH)
    channels = [name for one in both for name in key_values.channels_of(one, "")]
    keys = [name for one in both for name in key_values.keys_of(one, "").values()]
    return channels, keys


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("redis-cli") is None, reason="redis-cli is not on this machine")
def test_the_page_can_be_followed_to_its_end(
    server: Counterfoil, redis_server: Redis, tmp_path: Path
) -> None:
    words = {
        "redis://127.0.0.1:6379/0": redis_server.url,
        ".venv/bin/python": shlex.quote(sys.executable),
        "/tmp/": f"{tmp_path}/",
    }
    terminal = Terminal(tmp_path, {**server.environment, "HOME": str(tmp_path)}, words)

    for step in iter_steps(documents.read(PAGE)):
        terminal.follow(step)


@pytest.mark.slow
def test_the_user_of_the_page_is_made_by_a_real_redis(redis_server: Redis) -> None:
    line = documents.get_fence(documents.read(PAGE), "redis")

    with redis.Redis.from_url(redis_server.url) as client:
        client.execute_command(*line.split())
        try:
            made = client.acl_getuser("counterfoil")
            assert made["channels"] == ["&pad:events:*", "&pad:watchevents"]
        finally:
            client.acl_deluser("counterfoil")


def test_the_user_of_the_page_may_do_what_a_tail_does() -> None:
    assert documents.get_fence(documents.read(PAGE), "redis") == grants.line_of(*names())


def test_the_example_of_a_sources_file_is_one() -> None:
    text = documents.get_fence(documents.read("docs/reference/sources.md"), "sources")

    read = reading.read(text)

    assert list(read.entries) == ["bus:shop/activity", "bus:default/live", "source:oban/prod-1"]
    assert read.unwatched == ()


def test_the_unit_starts_a_command_that_there_is() -> None:
    unit = (ROOT / "deploy" / "counterfoil-tail.service").read_text()
    [options] = re.findall(r"^ExecStart=\S+/python manage.py bus_tail (.+)$", unit, re.MULTILINE)

    assert parser_of("bus_tail").parse_args(options.split()).redis_env == "BUS_REDIS"
    assert "Environment=BUS_REDIS" not in unit
