"""What a receipt costs in the task's path: written and durable, server up, down or none.

    python bench/client.py [--receipts 20000]

Prints p50 and p99 in microseconds. Beside them, from the same run: one bare `os.write` of the same
line, and one bare write with fdatasync, which nobody can be faster than. Aims (design section 10):
written at most 20 us at p50 and 200 us at p99.
"""

from __future__ import annotations

import argparse
import http.server
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "client" / "src"))

import counterfoil

LINE_FIELDS = {
    "task": "mail.send",
    "queue": "mail",
    "job": "101",
    "subjects": [{"type": "payout", "id": "PO-88213"}],
    "data": {"attempt": 1, "ms": 12.5},
}


class Answering(http.server.BaseHTTPRequestHandler):
    """Answers every line with 201 and keeps nothing."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        answer = b'{"status":201,"ref":"r1"}\n' * body.count(b"\n")
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def measure(what: Callable[[], object], count: int) -> list[float]:
    """Give the time of each call in microseconds."""
    clock, times = time.perf_counter_ns, []
    for _ in range(min(count, 500)):
        what()
    for _ in range(count):
        begun = clock()
        what()
        times.append((clock() - begun) / 1000)
    return times


def show(name: str, times: list[float]) -> None:
    """Print a line of the table."""
    cuts = statistics.quantiles(times, n=1000)
    rate = 1e6 * len(times) / sum(times)
    print(f"{name:<44}{cuts[499]:>9.1f}{cuts[989]:>10.1f}{cuts[998]:>10.1f}{rate:>12,.0f}")


def client_for(place: Path, name: str, url: str) -> counterfoil.Client:
    """Give a client with a spool of its own."""
    settings = counterfoil.from_env(spool=place / name, url=url, send=bool(url))
    return counterfoil.Client(settings)


def run(place: Path, count: int) -> None:
    """Measure all cases."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        down = f"http://127.0.0.1:{free.getsockname()[1]}"
    # A process of its own: in this one it would compete with the task for the interpreter.
    server = subprocess.Popen([sys.executable, __file__, "--serve"], stdout=subprocess.PIPE)
    up = f"http://127.0.0.1:{int(server.stdout.readline())}"
    print(f"{'':<44}{'p50 us':>9}{'p99 us':>10}{'p99.9 us':>10}{'a second':>12}")
    bare = os.open(place / "bare", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    line = b"x" * 250
    show("bare write", measure(lambda: os.write(bare, line), count))
    durable = max(200, count // 20)
    show("bare write and fdatasync", measure(lambda: _synced(bare, line), durable))
    cases = [("no sender", ""), ("sender thread, server down", down), ("sender thread, up", up)]
    for name, url in cases:
        client = client_for(place, name.replace(" ", "-").replace(",", ""), url)
        written = measure(lambda c=client: c.receipt("done", **LINE_FIELDS), count)
        show(f"written, {name}", written)
        show(f"durable, {name}", measure(lambda c=client: _skip(c), durable))
        client.flush(30)
        client.close()
    server.terminate()
    server.wait()


def _synced(fd: int, line: bytes) -> None:
    os.write(fd, line)
    os.fdatasync(fd)


def _skip(client: counterfoil.Client) -> None:
    client.skip(key="payout:PO-88213", reason="in_flight", holder="100", **LINE_FIELDS)


def serve() -> None:
    """Print the port and answer until killed."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    print(server.server_address[1], flush=True)
    server.serve_forever()


def main() -> None:
    """Run in a directory of its own, beside the repository's data."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--receipts", type=int, default=20_000)
    parser.add_argument("--dir", type=Path, help="where to put the spools; the disk matters")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        return serve()
    with tempfile.TemporaryDirectory(dir=given.dir) as place:
        run(Path(place), given.receipts)


if __name__ == "__main__":
    main()
