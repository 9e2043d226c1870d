"""Writers and forwarders that are killed with SIGKILL while outcomes are tallied."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from fakeledger import FakeLedger

import counterfoil
from counterfoil import names

SOURCE = str(Path(counterfoil.__file__).parents[1])
WRITER = """
import itertools, os, sys, time
import counterfoil
name = sys.argv[1]
client = counterfoil.get_client()
source = {"system": "celery", "instance": "prod-1", "via": "signal"}
said = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
for number in itertools.count():
    job = f"{name}-{number}"
    client.outcome("mail.send", "mail", job, ms=1, source=source)
    os.write(said, job.encode() + b"\\n")
    if number % 10 == 0:
        time.sleep(0.001)
"""
CHILDREN = """
import os
import counterfoil
client = counterfoil.get_client()
source = {"system": "celery", "instance": "prod-1", "via": "signal"}
client.announce(source)
for number in range(30):
    child = os.fork()
    if not child:
        client.outcome("mail.send", "mail", f"child-{number}", ms=1, source=source)
        os._exit(0)
    os.waitpid(child, 0)
"""


@pytest.fixture
def start(spool: Path, ledger: FakeLedger) -> Callable[..., subprocess.Popen[bytes]]:
    env = {
        **os.environ,
        "PYTHONPATH": SOURCE,
        "COUNTERFOIL_SPOOL": str(spool),
        "COUNTERFOIL_URL": ledger.url,
        "COUNTERFOIL_TOKEN": ledger.token,
        "COUNTERFOIL_SEND": "0",
    }

    def begin(*argv: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, *argv], env=env, stderr=subprocess.DEVNULL)

    return begin


def wait_for(path: Path) -> None:
    until = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < until
        time.sleep(0.01)


def rows(ledger: FakeLedger) -> Counter[str]:
    return Counter(row[1] for tally in ledger.of_kind("tally") for row in tally["data"]["jobs"])


@pytest.mark.slow
def test_kills_of_writers_and_forwarders_neither_lose_nor_double_an_outcome(
    start: Callable[..., subprocess.Popen[bytes]],
    make_client: Callable[..., counterfoil.Client],
    ledger: FakeLedger,
    spool: Path,
    tmp_path: Path,
) -> None:
    dice = random.Random(7)
    said = [tmp_path / f"said-{n}" for n in range(3)]
    writers = [start("-c", WRITER, f"w{n}", str(path)) for n, path in enumerate(said)]
    for path in said:
        wait_for(path)
    for round_ in range(18):
        forwarder = start("-m", "counterfoil", "forward")
        time.sleep(dice.uniform(0.15, 0.6))
        forwarder.kill()
        forwarder.wait()
        if round_ % 6 == 5:
            writers[round_ // 6].kill()
            writers[round_ // 6].wait()

    last = make_client()
    assert last.flush(60)

    told = [job for path in said for job in path.read_text().split()]
    found = rows(ledger)
    assert max(found.values()) == 1
    assert set(told) <= set(found)
    # At most the one outcome of each writer that was under way when it was killed.
    assert len(found) - len(told) <= 3
    assert all(sorted(n) == list(range(min(n), max(n) + 1)) for n in ledger.numbers.values())
    assert ledger.conflicts == []
    left = [names.parse(path.name) for path in spool.iterdir()]
    assert [file for file in left if file and file.level == names.OUTCOMES] == []


@pytest.mark.slow
def test_children_that_end_by_exit_at_once_lose_nothing_and_tell_no_policy(
    start: Callable[..., subprocess.Popen[bytes]],
    make_client: Callable[..., counterfoil.Client],
    ledger: FakeLedger,
) -> None:
    assert start("-c", CHILDREN).wait(60) == 0

    make_client().flush(60)

    assert rows(ledger) == Counter(f"child-{n}" for n in range(30))
    observed = [r for r in ledger.of_kind("observe") if r["what"] == "policy"]
    assert len(observed) == 1
    assert len(ledger.of_kind("tally")) == 1
