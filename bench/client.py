"""What a receipt costs in the task's path, and what a tally costs behind it.

    python bench/client.py [--receipts 20000] [--dir DIR]

Prints p50, p99 and p99.9 in microseconds of an ordinary outcome, of a written receipt, of a
described call and of a durable receipt, with the server up, down and none; beside them, from the
same run, one bare `os.write` of a line of that length and one with fdatasync, which nobody can be
faster than. Then durable receipts of several threads at once beside bare ones, and how fast
outcomes become tallies. Aims: written at most 20 us at p50 and 200 us at p99 (design section 10),
50 us with arguments (issue 4).
"""

from __future__ import annotations

import argparse
import http.server
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "client" / "src"))

import counterfoil
from counterfoil.composer import Composer

SOURCE = {"system": "celery", "instance": "prod-1", "via": "signal"}
LINE_FIELDS = {
    "task": "mail.send",
    "queue": "mail",
    "job": "101",
    "subjects": [{"type": "payout", "id": "PO-88213"}],
    "data": {"attempt": 1, "ms": 12.5},
}
ARGUMENTS = (["PO-88213", 12_500], {"currency": "EUR", "note": "month end, second try"})
JOB = "3f0c9f5e-6f0b-4b6e-9d6a-6a1f5d7c2b11"


class Answering(http.server.BaseHTTPRequestHandler):
    """Answers every line with 201, and counts by kind on request."""

    protocol_version = "HTTP/1.1"
    # Else the answer's second part waits 40 ms for the acknowledgement of its first.
    disable_nagle_algorithm = True
    seen: dict[str, int] = {}

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        lines = [json.loads(line) for line in body.splitlines() if line.strip()]
        for line in lines:
            self._count(line)
        self._answer(b'{"status":201,"ref":"r1"}\n' * len(lines))

    def do_GET(self) -> None:
        self._answer(json.dumps(self.seen).encode())

    def _count(self, line: dict[str, Any]) -> None:
        counted = {str(line["kind"]): 1}
        if line["kind"] == "tally":
            counted["tallied"] = len(line["data"]["jobs"])
        if line.get("closed"):
            counted[f"dropped {line['spool'].split('-')[-2]}"] = line["dropped"]
        for name, number in counted.items():
            self.seen[name] = self.seen.get(name, 0) + number

    def _answer(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

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
    print(
        f"{name:<44}{cuts[499]:>9.1f}{cuts[989]:>10.1f}{cuts[998]:>10.1f}{rate:>12,.0f}", flush=True
    )


def client_for(place: Path, name: str, url: str) -> counterfoil.Client:
    """Give a client with a spool of its own."""
    settings = counterfoil.from_env(
        spool=place / name, url=url, send=bool(url), digest_key=b"bench", max_bytes="1GiB"
    )
    return counterfoil.Client(settings)


@contextmanager
def serving() -> Iterator[str]:
    """Give the address of a server; in this process it would compete for the interpreter."""
    server = subprocess.Popen([sys.executable, __file__, "--serve"], stdout=subprocess.PIPE)
    try:
        yield f"http://127.0.0.1:{int(server.stdout.readline())}"
    finally:
        server.kill()
        server.communicate()


def find_closed_port() -> int:
    """Give a port at which nobody answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def run(place: Path, count: int) -> None:
    """Measure all cases."""
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(f"{'':<44}{'p50 us':>9}{'p99 us':>10}{'p99.9 us':>10}{'a second':>12}")
    bare = os.open(place / "bare", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    durable = max(200, count // 20)
    show("bare write of 90 bytes", measure(lambda: os.write(bare, b"x" * 90), count))
    show("bare write of 250 bytes", measure(lambda: os.write(bare, b"x" * 250), count))
    show("bare write of 250 bytes and fdatasync", measure(lambda: _synced(bare), durable))
    down = f"http://127.0.0.1:{find_closed_port()}"
    with serving() as up:
        for name, url in [("no sender", ""), ("server down", down), ("server up", up)]:
            measure_client(client_for(place, name.replace(" ", "-"), url), name, count, durable)
    measure_threads(place, durable)
    measure_tallies(place, count * 5)


def measure_client(client: counterfoil.Client, name: str, count: int, durable: int) -> None:
    """Measure one client's calls."""
    args, kwargs = ARGUMENTS
    job = {"task": "mail.send", "queue": "mail", "id": JOB}
    show(f"outcome, {name}", measure(lambda: _outcome(client), count))
    show(f"written, {name}", measure(lambda: client.receipt("done", **LINE_FIELDS), count))
    show(
        f"written with four arguments, {name}",
        measure(
            lambda: client.receipt(
                "enqueue",
                job=job,
                source=SOURCE,
                data={"arguments": client.arguments("mail.send", args, kwargs)},
            ),
            count,
        ),
    )
    show(f"durable, {name}", measure(lambda: _skip(client), durable))
    client.flush(30)
    client.close()


def measure_threads(place: Path, count: int) -> None:
    """Let threads write durably at once, ours and bare, in turns."""
    print(f"\n{'durable a second':<30}{'threads':>8}{'client':>10}{'bare':>10}{'ratio':>8}")
    client = client_for(place, "threads", "")
    bare = os.open(place / "bare", os.O_WRONLY | os.O_APPEND)
    for threads in (1, 4, 16):
        ours = [at_once(lambda: _skip(client), threads, count)]
        other = [at_once(lambda: _synced(bare), threads, count)]
        ours.append(at_once(lambda: _skip(client), threads, count))
        other.append(at_once(lambda: _synced(bare), threads, count))
        one, two = statistics.mean(ours), statistics.mean(other)
        print(f"{'':<30}{threads:>8}{one:>10,.0f}{two:>10,.0f}{one / two:>8.2f}", flush=True)
    client.close()


def at_once(what: Callable[[], object], threads: int, count: int) -> float:
    """Give the calls a second of several threads together."""
    each = max(1, count // threads)
    workers = [
        threading.Thread(target=lambda: [what() for _ in range(each)]) for _ in range(threads)
    ]
    begun = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return each * threads / (time.perf_counter() - begun)


def measure_tallies(place: Path, count: int) -> None:
    """Make tallies of many outcomes of several journals."""
    clients = [client_for(place, "tallies", "") for _ in range(4)]
    for number in range(count):
        _outcome(clients[number % 4])
    begun, cpu = time.perf_counter(), time.process_time()
    made = 0
    composer = Composer(place / "tallies")
    while one := composer.compose(everything=True):
        made += one
        for path in (place / "tallies").glob("tallies-t-*.ready"):
            path.unlink()
    wall, busy = time.perf_counter() - begun, time.process_time() - cpu
    print(f"\n{count:,} outcomes of 4 journals became {made} tallies: {count / wall:,.0f} a second")
    print(f"processor time {busy / count * 1e6:.1f} us an outcome; 3,000 a second are")
    print(f"{3000 * busy / count:.1%} of a core")
    for client in clients:
        client.close()


def _outcome(client: counterfoil.Client) -> None:
    client.outcome("mail.send", "mail", JOB, "done", 12.4, source=SOURCE)


def _synced(fd: int) -> None:
    os.write(fd, b"x" * 250)
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
