"""Scenario 4 by its command, against a running server: from the recording and on a real Redis."""

from __future__ import annotations

from pathlib import Path

import pytest
import redis

from config.demo import roll_lines
from tests.running import Counterfoil
from tests.servers import Redis

pytestmark = pytest.mark.slow


@pytest.mark.timeout(240)
def test_without_redis_the_recorded_roll_is_found_out_as_it_was_provoked(
    counterfoil: Counterfoil,
) -> None:
    printed = counterfoil.manage("demo", "--scenario", "4", "--url", counterfoil.url)

    lines = printed.splitlines()
    assert [line for line in lines if not line.startswith("ok")] == []
    assert "ok     2 SILENT_SKIP; the rig provoked 2" in lines
    assert "ok     2 EPOCH_CHANGE; the rig provoked 2" in lines


@pytest.mark.timeout(240)
def test_on_a_real_redis_our_tail_finds_out_the_same(
    counterfoil: Counterfoil, redis_server: Redis
) -> None:
    counterfoil.environment["BUS_REDIS"] = redis_server.url

    printed = counterfoil.manage(
        "demo", "--scenario", "4", "--url", counterfoil.url, "--redis-env", "BUS_REDIS"
    )

    lines = printed.splitlines()
    assert [line for line in lines if not line.startswith("ok")] == []
    assert any("the story was told on a real Redis" in line for line in lines)
    assert "ok     2 SILENT_SKIP; the rig provoked 2" in lines
    with redis.Redis(port=redis_server.port) as client:
        assert client.keys("pad:demo-*") == []


def test_what_the_roll_left_is_the_same_when_it_is_built_again(counterfoil: Counterfoil) -> None:
    counterfoil.manage("demo", "--scenario", "4", "--url", counterfoil.url)

    printed = counterfoil.manage("derive", "--rebuild", "events")

    assert printed.splitlines()[-1].endswith("rows compared, 0 differ.")


def test_a_recording_is_made_without_a_server(
    counterfoil: Counterfoil, redis_server: Redis, tmp_path: Path
) -> None:
    counterfoil.environment["BUS_REDIS"] = redis_server.url

    printed = counterfoil.manage(
        "demo", "--scenario", "4", "--redis-env", "BUS_REDIS", "--record", str(tmp_path / "roll")
    )

    told = len(list(roll_lines.read(tmp_path / "roll")))
    assert printed.startswith(f"{told} lines are in ")


def test_a_recording_needs_a_redis(counterfoil: Counterfoil, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="--record needs --redis-env"):
        counterfoil.manage("demo", "--scenario", "4", "--record", str(tmp_path / "roll"))


def test_a_redis_that_is_not_there_is_said(counterfoil: Counterfoil) -> None:
    counterfoil.environment["BUS_REDIS"] = "redis://user:secret@127.0.0.1:9/0"

    with pytest.raises(AssertionError, match="The Redis of BUS_REDIS cannot be used") as failed:
        counterfoil.manage(
            "demo", "--scenario", "4", "--url", counterfoil.url, "--redis-env", "BUS_REDIS"
        )

    assert "secret" not in str(failed.value)
