"""Clients that post receipts: plain sockets kept alive, so that the client is not the bottleneck.

`http.client` costs three times as much a request as the server's share of a core allows for.
"""

from __future__ import annotations

import multiprocessing
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from bench.workload import iter_receipts

JSON, NDJSON = "application/json", "application/x-ndjson"
CLIENTS, PROCESSES = 12, 4


class Line:
    """One connection to the server; it is opened once and kept."""

    def __init__(self, port: int, token: str, content_type: str = JSON) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._head = (
            f"POST /api/v1/receipts HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            f"Authorization: Bearer {token}\r\nContent-Type: {content_type}\r\nContent-Length: "
        ).encode("ascii")

    def post(self, body: bytes) -> int:
        """Send one request and return the status of its answer, which is read whole."""
        self._socket.sendall(b"%b%d\r\n\r\n%b" % (self._head, len(body), body))
        got = self._socket.recv(65_536)
        while (end := got.find(b"\r\n\r\n")) < 0:
            got += self._more()
        missing = end + 4 + _length(got[:end]) - len(got)
        while missing > 0:
            missing -= len(self._more())
        return int(got[9:12])

    def close(self) -> None:
        self._socket.close()

    def _more(self) -> bytes:
        part = self._socket.recv(1 << 18)
        if not part:
            raise ConnectionError("the server closed the connection")
        return part


def _length(head: bytes) -> int:
    for field_line in head.split(b"\r\n")[1:]:
        name, _, value = field_line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    raise ConnectionError("an answer without a length")


@dataclass(slots=True)
class Run:
    """What a load came to: answers in seconds each, and how many were not 2xx."""

    seconds: float = 0.0
    answers: list[float] = field(default_factory=list)
    failed: int = 0
    client_cpu: float = 0.0

    @property
    def rate(self) -> float:
        return len(self.answers) / self.seconds

    def quantile(self, share: float) -> float:
        """Return the time that this share of the answers took at most."""
        ordered = sorted(self.answers)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def post_batches(port: int, token: str, batches: Iterable[bytes], seconds: float) -> Run:
    """Post batches for some seconds over two connections, so that the server never waits for us."""
    run = Run()
    waiting = iter(batches)
    lock = threading.Lock()
    end = time.monotonic() + seconds

    def work() -> None:
        line = Line(port, token, NDJSON)
        while time.monotonic() < end:
            with lock:
                body = next(waiting, None)
            if body is None:
                break
            _timed(run, line, body)
        line.close()

    start = time.monotonic()
    _together(work, 2)
    run.seconds = time.monotonic() - start
    return run


def post_singly(port: int, token: str, seconds: float, seed: int) -> Run:
    """Post one by one from 12 clients, three a process, each as soon as its answer is there."""
    context = multiprocessing.get_context("fork")
    answers = context.SimpleQueue()
    seeds = [seed * 1_000 + number * 10 for number in range(PROCESSES)]
    children = [
        context.Process(
            target=lambda one=one: answers.put(_post_in_threads(port, token, seconds, one))
        )
        for one in seeds
    ]
    for child in children:
        child.start()
    runs: list[Run] = [answers.get() for _ in children]
    for child in children:
        child.join()
    return Run(
        seconds=max(run.seconds for run in runs),
        answers=[answer for run in runs for answer in run.answers],
        failed=sum(run.failed for run in runs),
        client_cpu=sum(run.client_cpu for run in runs),
    )


def post_paced(
    lines: Sequence[Line],
    bodies: Iterator[bytes],
    a_second: float,
    seconds: float,
    posted: Callable[[bytes], None],
) -> Run:
    """Post at a steady pace over some connections; `posted` is called after each answer."""
    run = Run()
    lock = threading.Lock()
    start = time.monotonic()
    dues = (start + number / a_second for number in range(int(a_second * seconds) + 1))
    waiting = iter(lines)

    def work() -> None:
        line = next(waiting)
        while True:
            with lock:
                due, body = next(dues, None), next(bodies)
            if due is None:
                return
            time.sleep(max(0.0, due - time.monotonic()))
            _timed(run, line, body)
            posted(body)

    _together(work, len(lines))
    run.seconds = time.monotonic() - start
    return run


def _post_in_threads(port: int, token: str, seconds: float, seed: int) -> Run:
    share = CLIENTS // PROCESSES
    # Made before the clock starts: enough for 700 answers a second and client.
    sources = [iter_receipts(seed + at) for at in range(share)]
    bodies = [[next(one) for _ in range(int(seconds * 700) + 50)] for one in sources]
    waiting = iter(bodies)
    run = Run()
    before = time.process_time()
    start = time.monotonic()

    def work() -> None:
        line = Line(port, token)
        for body in next(waiting):
            if time.monotonic() - start >= seconds:
                break
            _timed(run, line, body)
        line.close()

    _together(work, share)
    run.seconds = time.monotonic() - start
    run.client_cpu = time.process_time() - before
    return run


def _timed(run: Run, line: Line, body: bytes) -> None:
    begin = time.perf_counter()
    status = line.post(body)
    run.answers.append(time.perf_counter() - begin)
    run.failed += not 200 <= status < 300


def _together(work: Callable[[], None], count: int) -> None:
    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
