"""Our own tail beside scenario 4: `manage.py bus_tail` as its users start it."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import redis
from django.conf import settings

PATIENCE_S = 30.0
LOOK_S = 0.05


class TailEnded(RuntimeError):
    """The tail ended before it was told to; what it said follows."""


@dataclass(frozen=True, slots=True)
class Tailed:
    """What is tailed: a project's slug, an installation, and the variable with the address."""

    project: str
    installation: str
    variable: str
    namespace: str


@contextmanager
def tail(client: redis.Redis, tailed: Tailed) -> Iterator[None]:
    """Run a tail of the activity bus while the block runs; it has stored all when this returns."""
    before = _patterns(client)
    process = subprocess.Popen(
        _command(tailed), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    try:
        _wait(process, client, before)
        yield
    finally:
        said = _end(process)
    if process.returncode:
        raise TailEnded(said)


def _command(tailed: Tailed) -> list[str]:
    manage = Path(settings.BASE_DIR) / "manage.py"
    return [
        *(sys.executable, str(manage), "bus_tail", "--bus", "activity"),
        *("--project", tailed.project, "--installation", tailed.installation),
        *("--redis-env", tailed.variable, "--namespace", tailed.namespace),
    ]


def _wait(process: subprocess.Popen[str], client: redis.Redis, before: int) -> None:
    """Wait until the tail has subscribed."""
    end = time.monotonic() + PATIENCE_S
    while _patterns(client) <= before:
        if process.poll() is not None or time.monotonic() > end:
            raise TailEnded("The tail did not subscribe.")
        time.sleep(LOOK_S)


def _end(process: subprocess.Popen[str]) -> str:
    """Have the tail store what it has and end; give what it said."""
    process.send_signal(signal.SIGTERM)
    try:
        return process.communicate(timeout=PATIENCE_S)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        return process.communicate()[1]


def _patterns(client: redis.Redis) -> int:
    """Count the patterns that anybody has subscribed to; the tail adds one."""
    return int(client.execute_command("PUBSUB", "NUMPAT"))  # type: ignore[no-untyped-call]
