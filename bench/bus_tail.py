"""The tail of a bus against a real Redis at full speed: is anything lost, and what does it take?

    python bench/bus_tail.py [--seconds 60] [--rate 30000] [--bytes 300] [--publishers 2]

A Redis of its own, a ledger on SQLite of its own, `manage.py bus_tail` as it is run, and publishers
that write as the second version of Pad does. What was published is counted by the publishers, what
was stored is counted in the segments of the ledger. Ends with 1 when they differ.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import closing
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[0] = str(ROOT)

from bench.table import Table  # noqa: E402
from tests.servers import PATIENCE, Redis, end  # noqa: E402

RATE, MEMORY_MB = 30_000, 150
AT_ONCE = 100
PROJECT = "bench"


def publish(port: int, first: int, step: int, rate: float, seconds: float, size: int) -> int:
    """Publish at a steady rate and give how many messages; ids go up by a step."""
    with socket.create_connection(("127.0.0.1", port)) as opened:
        channel = b"pad:events:ws-%d" % first
        begun, sent = time.monotonic(), 0
        while (passed := time.monotonic() - begun) < seconds:
            if sent >= passed * rate:
                time.sleep(0.001)
                continue
            ids = range(first + sent * step, first + (sent + AT_ONCE) * step, step)
            opened.sendall(b"".join(_written(channel, number, size) for number in ids))
            sent += AT_ONCE
            _read_answers(opened, AT_ONCE)
    return sent


def _written(channel: bytes, number: int, size: int) -> bytes:
    body = (
        b'7|%d|{"id":0,"type":"item_updated","workspace_id":"%b","item_id":"01J9Z3N5W8",'
        b'"collection":"tasks","title":"Pay the invoice","actor":"user","actor_name":"A Name",'
        b'"timestamp":1790000000000,"seq":%d,"op":"' % (number, channel.rpartition(b":")[2], number)
    )
    body += b"x" * (size - len(body) - 2) + b'"}'
    head = b"*3\r\n$7\r\nPUBLISH\r\n$%d\r\n%b\r\n" % (len(channel), channel)
    return b"%b$%d\r\n%b\r\n" % (head, len(body), body)


def _read_answers(opened: socket.socket, count: int) -> None:
    """Read one number for each message, as a publisher does that wants to know."""
    left = count
    while left:
        left -= opened.recv(65_536).count(b"\n")


def publisher(results: multiprocessing.Queue[int], *given: float) -> None:
    """Publish in a process of its own."""
    port, first, step, rate, seconds, size = given
    results.put(publish(int(port), int(first), int(step), rate, seconds, int(size)))


def publish_all(port: int, options: argparse.Namespace) -> int:
    """Publish from several processes at once, and give how many messages in all."""
    results: multiprocessing.Queue[int] = multiprocessing.Queue()
    count = options.publishers
    processes = [
        multiprocessing.Process(
            target=publisher,
            args=(results, port, first, count, options.rate / count, options.seconds,
                  options.bytes),
        )
        for first in range(1, count + 1)
    ]  # fmt: skip
    for one in processes:
        one.start()
    sent = sum(results.get() for _ in processes)
    for one in processes:
        one.join()
    return sent


class Watch:
    """The tail as a process, and the memory and processor time that it takes."""

    def __init__(self, environment: dict[str, str], redis: Redis) -> None:
        command = [
            sys.executable,
            "manage.py",
            "bus_tail",
            "--project",
            PROJECT,
            "--installation",
            "bench",
            "--bus",
            "activity",
            "--profile",
            "generation",
            "--redis",
            redis.url,
        ]
        self._process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
        )  # fmt: skip
        self._folder = Path(f"/proc/{self._process.pid}")
        self.memory_mb = self.busy_s = 0.0
        threading.Thread(target=self._look, daemon=True).start()

    def _look(self) -> None:
        """Note the greatest resident memory and the processor time until the process ends."""
        with contextlib.suppress(OSError, IndexError):
            while self._process.poll() is None:
                status = (self._folder / "status").read_text()
                self.memory_mb = int(re.findall(r"VmHWM:\s+(\d+)", status)[0]) / 1024
                fields = (self._folder / "stat").read_text().rpartition(")")[2].split()
                self.busy_s = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
                time.sleep(0.1)

    def stop(self) -> str:
        """Send SIGTERM and give what was printed, once all is stored."""
        self._process.send_signal(signal.SIGTERM)
        said, _ = self._process.communicate(timeout=600)
        return said.strip()

    def close(self) -> None:
        end(self._process, signal.SIGKILL)


def manage(environment: dict[str, str], *arguments: str) -> None:
    """Run a command on the ledger of this measurement."""
    command = [sys.executable, "manage.py", *arguments]
    subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)


def wait_for_subscriber(redis: Redis) -> None:
    """Wait until somebody is subscribed by pattern."""
    deadline = time.monotonic() + PATIENCE
    with socket.create_connection(("127.0.0.1", redis.port)) as opened:
        while time.monotonic() < deadline:
            opened.sendall(b"*2\r\n$6\r\nPUBSUB\r\n$6\r\nNUMPAT\r\n")
            if opened.recv(100) == b":1\r\n":
                return
            time.sleep(0.05)
    raise TimeoutError("the tail did not subscribe")


def count_stored(folder: Path) -> tuple[int, int, int, int]:
    """Count segments, their messages and the ids among these, by reading each body.

    The last figure is how many bytes waited at most, as the tail says of itself.
    """
    ids: set[str] = set()
    segments = messages = waited = 0
    with closing(sqlite3.connect(folder / "counterfoil.sqlite3")) as database:
        for (raw,) in database.execute("SELECT raw FROM receipt_body"):
            body = json.loads(raw)
            waited = max(waited, body.get("data", {}).get("most_waiting_bytes", 0))
            if body.get("what") == "segment":
                segments += 1
                rows = [one for one in body["data"]["messages"] if one[1] == "prefixed"]
                messages += len(rows)
                ids.update(one[3] for one in rows)
    return segments, messages, len(ids), waited


def measure(folder: Path, redis: Redis, options: argparse.Namespace) -> bool:
    """Publish, wait until all is stored, and print the figures; False when a message is missing."""
    environment = {**os.environ, "DATA_DIR": str(folder), "DATABASE_URL": ""}
    manage(environment, "migrate", "--verbosity", "0")
    manage(environment, "project", "create", PROJECT)
    table = Table(f"{options.rate:,.0f} messages a second of {options.bytes} bytes, "
                  f"{options.seconds:.0f} s, {options.publishers} publishers, SQLite")  # fmt: skip
    with closing(Watch(environment, redis)) as tail:
        wait_for_subscriber(redis)
        sent = publish_all(redis.port, options)
        published_at = time.monotonic()
        said = tail.stop()
        behind = time.monotonic() - published_at
    segments, stored, ids, waited = count_stored(folder)
    rate = sent / options.seconds
    table.note("published", f"{sent:,}", f">= {RATE:,}/s", rate >= 0.98 * options.rate)
    table.note("stored", f"{stored:,} in {segments:,} segments")
    table.note("lost", f"{sent - stored:,}", "0", stored == sent == ids)
    table.note("resident memory at its highest", f"{tail.memory_mb:,.0f} MB", f"<= {MEMORY_MB} MB",
               tail.memory_mb <= MEMORY_MB)  # fmt: skip
    table.note("processor time of the tail a message", f"{tail.busy_s / sent * 1e6:,.1f} us")
    table.note("waited at most, in memory and on disk", f"{waited / 1e6:,.0f} MB")
    table.note("all stored after the last message", f"{behind:,.1f} s")
    table.note("said by the tail", said)
    return stored == sent == ids


def main() -> int:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--rate", type=float, default=RATE)
    parser.add_argument("--bytes", type=int, default=300, help="the length of a message")
    parser.add_argument("--publishers", type=int, default=2)
    options = parser.parse_args()
    temporary = tempfile.TemporaryDirectory(prefix="counterfoil-bench-tail-")
    with temporary as folder, closing(Redis()) as redis:
        redis.start()
        return 0 if measure(Path(folder), redis, options) else 1


if __name__ == "__main__":
    sys.exit(main())
