"""The server is down for the whole of a load, and the spool may hold less than the load."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from fakeledger import FakeLedger

import counterfoil
from counterfoil import room

SOURCE = str(Path(counterfoil.__file__).parents[1])
LIMIT = 2 * 1024 * 1024
WORKERS = 4
LOAD = """
import json, sys, time
import counterfoil
name = sys.argv[1]
client = counterfoil.get_client()
source = {"system": "celery", "instance": "prod-1", "via": "signal"}
durations, skips = [], []
clock = time.perf_counter_ns
for number in range(12_000):
    begun = clock()
    client.outcome("mail.send", "mail", f"{name}-{number}", ms=1, source=source)
    if number % 10 == 0:
        client.receipt("enqueue", job={"task": "mail.send", "id": f"{name}-{number}"})
    durations.append(clock() - begun)
    if number % 200 == 0:
        skips.append(client.skip(reason="paused", job={"id": f"{name}-{number}"}))
client.close()
print(json.dumps({"skips": skips, "us": [d / 1000 for d in durations]}))
"""


def load(spool: Path, url: str, limit: int) -> list[dict[str, list[str]]]:
    env = {
        **os.environ,
        "PYTHONPATH": SOURCE,
        "COUNTERFOIL_SPOOL": str(spool),
        "COUNTERFOIL_SPOOL_MAX": str(limit),
        "COUNTERFOIL_URL": url,
        "COUNTERFOIL_TOKEN": "cf_test",
    }
    command = [sys.executable, "-c", LOAD]
    workers = [
        subprocess.Popen([*command, f"w{n}"], env=env, stdout=subprocess.PIPE, text=True)
        for n in range(WORKERS)
    ]
    outputs = [worker.communicate(timeout=100)[0] for worker in workers]
    assert [worker.returncode for worker in workers] == [0] * WORKERS
    return [json.loads(output) for output in outputs]


def dropped(ledger: FakeLedger, of: str) -> int:
    closed = [feed for feed in ledger.feeds if feed.get("closed") and of in feed["spool"]]
    assert closed
    return sum(feed["dropped"] for feed in closed)


@pytest.mark.slow
def test_tasks_go_on_and_only_written_receipts_are_lost_and_each_is_counted(
    ledger: FakeLedger,
    make_client: Callable[..., counterfoil.Client],
    spool: Path,
    tmp_path: Path,
) -> None:
    down = "http://127.0.0.1:1"

    unbounded = load(tmp_path / "other", down, 1024**3)
    told = load(spool, down, LIMIT)

    assert room.used_bytes(spool) <= LIMIT * 1.25
    medians = [statistics.median(found["us"]) for found in (*unbounded, *told)]
    assert max(medians[WORKERS:]) < 5 * max(medians[:WORKERS]) + 50

    assert make_client().flush(60)
    skips = {skip for found in told for skip in found["skips"]}
    assert {receipt["id"] for receipt in ledger.of_kind("skip")} == skips
    assert dropped(ledger, "-d-") == 0
    rows = Counter(row[1] for t in ledger.of_kind("tally") for row in t["data"]["jobs"])
    assert max(rows.values()) == 1
    assert dropped(ledger, ":tallies-t-") == WORKERS * 12_000 - len(rows) > 0
    assert dropped(ledger, "-w-") == WORKERS * 1_200 - len(ledger.of_kind("enqueue"))
