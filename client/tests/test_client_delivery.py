from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import counterfoil
from counterfoil import directory as folder

SOURCE = str(Path(counterfoil.__file__).parents[1])


def left(spool: Path) -> list[str]:
    return sorted(p.name for p in spool.iterdir() if p.name != folder.LOCK_NAME)


def test_a_receipt_is_delivered_and_its_file_deleted_when_the_spool_closes(client, ledger, spool):
    receipt = client.receipt("done", task="mail.send", job=101)

    client.close()
    outcome = client.forward_once()

    assert (outcome.sent, outcome.problem) == (1, "")
    sent = json.loads(ledger.receipts[receipt])
    assert sent["job"] == {"id": "101", "task": "mail.send"}
    assert left(spool) == []


def test_an_open_file_is_sent_and_kept_and_nothing_of_it_is_sent_twice(client, ledger, spool):
    client.receipt("done")
    client.forward_once()

    client.receipt("done")
    outcome = client.forward_once()

    assert outcome.sent == 1
    assert [b.count(b"\n") for _, b in ledger.requests] == [1, 1]
    assert [n for n in left(spool) if n.endswith(".open")]


def test_the_numbers_of_a_spool_have_no_hole_across_requests_and_files(make_client, ledger):
    client = make_client(max_bytes=64 * 1024)
    for n in range(120):
        client.receipt("done", data={"n": n, "filler": "x" * 100})
        if n % 17 == 0:
            client.forward_once()

    client.close()
    client.forward_once()

    (numbers,) = ledger.numbers.values()
    assert sorted(numbers) == list(range(1, 121))
    assert [json.loads(numbers[n])["data"]["n"] for n in range(1, 121)] == list(range(120))


KILLED = """
import os, sys, signal
import counterfoil
counterfoil.configure(spool=sys.argv[1], send=False)
ids = [counterfoil.receipt("done", task="a"), counterfoil.skip(key="k", reason="in_flight")]
print(*ids, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def run_python(code: str, *args: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": SOURCE}
    return subprocess.run(
        [sys.executable, "-c", code, *args], env=env, capture_output=True, text=True, timeout=60
    )


def test_what_a_killed_process_had_written_the_next_one_delivers_once(client, ledger, spool):
    killed = run_python(KILLED, str(spool))
    assert killed.returncode == -signal.SIGKILL

    client.forward_once()
    again = client.forward_once()

    assert set(killed.stdout.split()) <= set(ledger.receipts)
    assert again.sent == 0
    assert left(spool) == []
    assert {f["end"] for f in ledger.feeds} == {"writer_gone"}
