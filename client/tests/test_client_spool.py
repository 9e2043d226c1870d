from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import counterfoil
from counterfoil import directory as folder
from counterfoil import names, room, status
from counterfoil.errors import SpoolFull, SpoolUnusable
from counterfoil.spool import Spool

SOURCE = str(Path(counterfoil.__file__).parents[1])
LINE = b'{"kind":"done"}\n'


def lines_in(directory: Path) -> list[bytes]:
    files = [f for found in folder.spools(directory).values() for f in found]
    return [x for f in files for x in (directory / f.filename).read_bytes().splitlines(True)]


def run_python(code: str, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *args],
        env={**os.environ, "PYTHONPATH": SOURCE, **env},
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize(
    ("kind", "fields", "is_durable"),
    [
        ("skip", {}, True),
        ("act", {}, True),
        ("done", {"key": "k"}, True),
        ("done", {}, False),
        ("start", {"key": "k"}, False),
        ("heartbeat", {}, False),
    ],
)
def test_skips_acts_and_keyed_dones_are_durable_and_all_else_is_written(
    client, spool, kind, fields, is_durable
):
    client.receipt(kind, **fields)

    (files,) = folder.spools(spool).values()
    assert files[0].level == (names.DURABLE if is_durable else names.WRITTEN)


def test_a_durable_line_is_synced_before_the_call_returns_and_a_written_one_is_not(spool):
    synced: list[int] = []
    made = Spool(spool, sync=lambda fd: synced.append(os.fstat(fd).st_size))

    made.append(LINE, durable=False)
    made.append(LINE, durable=True)

    assert synced == [len(LINE)]
    made.close()


def test_threads_that_wait_at_once_share_a_sync(spool):
    syncs: list[int] = []
    together, first_sync = threading.Barrier(8, timeout=30), threading.Event()

    def slow_sync(fd: int) -> None:
        if syncs:
            first_sync.wait(10)
        syncs.append(fd)
        if len(syncs) == 1:
            time.sleep(0.05)
            first_sync.set()

    made = Spool(spool, sync=slow_sync)

    def write() -> None:
        together.wait()
        assert made.append(LINE, durable=True)

    threads = [threading.Thread(target=write) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    made.close()
    assert lines_in(spool) == [LINE] * 8
    assert len(syncs) < 8


def test_after_a_failed_sync_the_line_is_written_again_in_another_file(spool):
    outcomes = [OSError(errno.EIO, "bad disk"), None, None]

    def sync(fd: int) -> None:
        outcome = outcomes.pop(0) if outcomes else None
        if outcome is not None:
            raise outcome

    made = Spool(spool, sync=sync)
    assert made.append(LINE, durable=True)

    (files,) = folder.spools(spool).values()
    assert [f.ending for f in files] == ["ready", "open"]
    assert lines_in(spool) == [LINE, LINE]
    made.close()


def test_a_disk_that_never_confirms_is_told_to_the_caller(spool):
    def sync(fd: int) -> None:
        raise OSError(errno.EIO, "bad disk")

    made = Spool(spool, sync=sync)

    with pytest.raises(counterfoil.SpoolError):
        made.append(LINE, durable=True)
    assert made.append(LINE, durable=False)
    made.close()


def test_threads_lose_no_line_and_mix_none(client, spool):
    def write(who: int) -> None:
        for n in range(200):
            client.receipt("done", data={"who": who, "n": n, "filler": "x" * 300})

    threads = [threading.Thread(target=write, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    found = [json.loads(line)["data"] for line in lines_in(spool)]
    for who in range(4):
        assert [f["n"] for f in found if f["who"] == who] == list(range(200))


def test_a_forked_child_writes_in_a_file_of_its_own(client, spool):
    client.receipt("done", data={"by": "parent"})
    child = os.fork()
    if not child:
        client.receipt("done", data={"by": "child"})
        os._exit(0)
    os.waitpid(child, 0)

    client.receipt("done", data={"by": "parent"})

    found = folder.spools(spool)
    by_pid = {files[0].pid: files for files in found.values()}
    assert set(by_pid) == {os.getpid(), child}
    text = (spool / by_pid[os.getpid()][0].filename).read_text()
    assert text.count("parent") == 2 and "child" not in text


def test_a_child_forked_while_another_thread_writes_does_not_hang(client):
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            client.skip(key="k", reason="in_flight")

    thread = threading.Thread(target=write)
    thread.start()
    try:
        for _ in range(5):
            child = os.fork()
            if not child:
                signal.alarm(10)
                client.skip(key="k", reason="in_flight")
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        thread.join()


def test_a_signal_handler_may_write_a_receipt_while_its_thread_writes_one(client, spool):
    told: list[str] = []
    before = signal.signal(
        signal.SIGALRM, lambda *_: told.append(client.skip(key="k", reason="in_flight"))
    )
    try:
        for n in range(1, 60):
            signal.setitimer(signal.ITIMER_REAL, n * 5e-6)
            client.skip(key="k", reason="already_done")
        while signal.getitimer(signal.ITIMER_REAL)[0]:
            time.sleep(0.001)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)

    found = [json.loads(line) for line in lines_in(spool)]
    assert [f["reason"] for f in found].count("in_flight") == len(told) > 0


def fill(made: Spool, count: int, *, durable: bool, size: int = 1000) -> list[bool]:
    line = b'{"kind":"done","data":"' + b"x" * (size - 26) + b'"}\n'
    return [made.append(line, durable=durable) for _ in range(count)]


def test_the_oldest_written_receipts_go_first_and_each_is_counted(make_client, spool, ledger):
    client = make_client(max_bytes=64 * 1024)

    for n in range(300):
        client.receipt("done", data={"n": n, "filler": "x" * 900})

    assert room.used_bytes(spool) <= 64 * 1024
    (seen,) = status.of(spool).spools
    client.close()
    client.forward_once()
    kept = [r["data"]["n"] for r in ledger.of_kind("done")]
    (feed,) = ledger.feeds
    assert kept == list(range(300 - len(kept), 300))
    assert 30 <= len(kept) < 64
    assert (seen.waiting, seen.dropped) == (len(kept), 300 - len(kept))
    assert feed["dropped"] == 300 - len(kept) == feed["written"] - feed["sent"]
    (numbers,) = ledger.numbers.values()
    assert sorted(numbers) == [n + 1 for n in kept]


def test_durable_receipts_are_never_dropped_and_a_full_spool_says_so(spool):
    made = Spool(spool, max_bytes=32 * 1024)
    fill(made, 30, durable=False)

    with pytest.raises(SpoolFull):
        fill(made, 40, durable=True)

    kept = [f for files in folder.spools(spool).values() for f in files if f.level == "d"]
    count = sum((spool / f.filename).read_bytes().count(b"\n") for f in kept)
    assert 28 <= count <= 32
    assert room.used_bytes(spool) <= 32 * 1024
    made.close()


def test_a_full_spool_goes_on_when_asked_to_and_counts_what_it_left_out(spool, ledger):
    settings = counterfoil.from_env(
        spool=spool, max_bytes=32 * 1024, when_full="drop", url=ledger.url, token=ledger.token
    )
    client = counterfoil.Client(settings)
    client.settings = settings
    there = fill(client._spool, 60, durable=True)
    assert there.count(True) + there.count(False) == 60 and False in there

    client.close()
    client.forward_once()

    assert sum(feed["dropped"] for feed in ledger.feeds) == there.count(False)
    client.close()


def test_a_written_receipt_that_finds_no_room_is_lost_quietly_and_counted(
    spool, make_client, ledger
):
    client = make_client(max_bytes=32 * 1024, when_full="drop")
    fill(client._spool, 60, durable=True)

    there = fill(client._spool, 10, durable=False)

    assert there == [False] * 10
    client.close()
    client.forward_once()
    dropped = {"-w-" in feed["spool"]: feed["dropped"] for feed in ledger.feeds}
    assert dropped[True] == 10


def test_room_is_also_made_from_what_a_dead_process_left(spool):
    run_python(
        "import sys, os, counterfoil\n"
        "counterfoil.configure(spool=sys.argv[1], send=False)\n"
        "for n in range(20): counterfoil.receipt('done', data='x' * 1000)\n"
        "os._exit(0)\n",
        str(spool),
    )
    made = Spool(spool, max_bytes=32 * 1024)

    fill(made, 25, durable=True)

    ours = [f for files in folder.spools(spool).values() for f in files if f.level == "d"]
    dead = [f for files in folder.spools(spool).values() for f in files if f.level == "w"]
    assert ours and [(spool / f.filename).stat().st_size for f in dead] == [0]
    assert [f.first for f in dead] == [21]
    made.close()


PARTIAL = """
import os, resource, sys
import counterfoil
client = counterfoil.configure(spool=sys.argv[1], when_full="drop", send=False)
resource.setrlimit(resource.RLIMIT_FSIZE, (2500, 2500))
for n in range(12):
    client.receipt("done", durable=True, data={"n": n, "filler": "x" * 900})
os._exit(0)
"""


def test_a_line_that_the_disk_takes_only_in_part_leaves_nothing_of_itself(spool):
    ended = run_python(PARTIAL, str(spool))

    assert ended.returncode == 0, ended.stderr
    found = lines_in(spool)
    assert len(found) >= 4 and all(json.loads(line)["kind"] == "done" for line in found)


def test_a_spool_directory_that_is_taken_away_is_made_again(spool, client):
    client.receipt("done")
    for path in spool.iterdir():
        path.unlink()
    spool.rmdir()
    client._spool._sets["w"].lose(0)

    client.receipt("done")

    assert len(lines_in(spool)) == 1


def test_a_spool_that_cannot_be_written_costs_a_written_receipt_and_raises_for_a_durable_one(
    tmp_path, make_client, caplog
):
    (tmp_path / "file").write_text("")
    client = make_client(spool=tmp_path / "file" / "spool")

    assert client.receipt("done")
    with pytest.raises(SpoolUnusable):
        client.skip(key="k", reason="in_flight")
    assert len(caplog.records) == 1


def test_off_leaves_no_trace(spool, make_client):
    client = make_client(off=True, send=True)

    assert client.receipt("done") and client.skip(key="k") and client.flush()

    assert not spool.exists()
    assert not [t for t in threading.enumerate() if t.name == "counterfoil-sender"]


def test_a_files_age_ends_it_at_the_next_receipt(spool, monkeypatch):
    made = Spool(spool)
    made.append(LINE, durable=False)
    made._sets["w"]._segment_s = -1.0

    made.append(LINE, durable=False)

    (files,) = folder.spools(spool).values()
    assert [(f.first, f.ending) for f in files] == [(1, "ready"), (2, "open")]
    made.close()


def test_two_processes_write_one_directory_without_touching_each_other(spool):
    code = (
        "import sys, counterfoil\n"
        "counterfoil.configure(spool=sys.argv[1], send=False)\n"
        "for n in range(300): counterfoil.receipt('done', data={'who': sys.argv[2], 'n': n})\n"
    )
    env = {**os.environ, "PYTHONPATH": SOURCE}
    both = [
        subprocess.Popen([sys.executable, "-c", code, str(spool), who], env=env) for who in "ab"
    ]
    assert [process.wait(60) for process in both] == [0, 0]

    found = [json.loads(line)["data"] for line in lines_in(spool)]
    for who in "ab":
        assert [f["n"] for f in found if f["who"] == who] == list(range(300))
    assert len(folder.spools(spool)) == 2
    assert status.of(spool).waiting == 600


def test_a_closed_spool_leaves_no_file_open(client):
    before = len(list(Path("/proc/self/fd").iterdir()))

    for _ in range(3):
        client.receipt("done")
        client.close()

    assert len(list(Path("/proc/self/fd").iterdir())) <= before
