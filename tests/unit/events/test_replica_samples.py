"""Replicas' metrics and logs as they are sampled: slow pages, and logs that began before us."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from events.integrations import replica_samples
from events.integrations.replica_samples import AT_START, LogFile, MetricsPage, Unread
from events.integrations.sampling import Sampling

START = (
    'time=2026-10-05T09:00:00Z level=INFO msg="Event bus using Redis pub/sub" '
    "namespace=default id_space_phase=2 heartbeat_phase=1\n"
)
OTHER = 'time=2026-10-05T09:00:01Z level=INFO msg="request" path=/\n'


def phases(log: LogFile) -> list[int | None]:
    return [one.get("phase") for one in log.sample()]


def test_the_line_of_a_start_that_was_before_the_tail_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "web-1.log"
    path.write_text(f"{START}{OTHER * 100}")
    log = LogFile(path, "i1", "web-1")

    assert phases(log) == [2]
    with path.open("a") as more:
        more.write(START.replace("id_space_phase=2", "id_space_phase=1"))
    assert phases(log) == [1]


def test_a_start_that_lies_further_back_is_not_looked_for(tmp_path: Path) -> None:
    path = tmp_path / "web-1.log"
    path.write_text(START + OTHER * (AT_START // len(OTHER) + 10))

    assert LogFile(path, "i1", "web-1").sample() == []


@contextmanager
def dripping(stop: threading.Event) -> Iterator[str]:
    """Serve a page of which a byte comes every few milliseconds, without end."""

    class Drip(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            while not stop.wait(0.01):
                try:
                    self.wfile.write(b"#")
                    self.wfile.flush()
                except OSError:
                    return

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Drip)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/metrics"
    finally:
        stop.set()
        server.shutdown()
        server.server_close()
        thread.join()


def test_a_page_that_drips_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replica_samples, "TIMEOUT_S", 0.3)
    with dripping(threading.Event()) as url:
        page = MetricsPage(url, "i1", "web-1")

        with pytest.raises(Unread, match="web-1 cannot be read: timed out"):
            page.sample()


class Waiting:
    """A sampler that hangs until it is let go."""

    def __init__(self) -> None:
        self.go = threading.Event()

    def sample(self) -> list[dict[str, str]]:
        self.go.wait()
        return []


class Quick:
    """A sampler that says when it was asked."""

    def __init__(self) -> None:
        self.asked = threading.Event()

    def sample(self) -> list[dict[str, str]]:
        self.asked.set()
        return [{"what": "replica"}]


def test_a_sampler_that_hangs_holds_up_no_other() -> None:
    waiting, quick = Waiting(), Quick()
    sampling = Sampling([waiting, quick], lambda _: None)
    sampling.start()

    assert quick.asked.wait(10)
    waiting.go.set()
    sampling.stop()
    assert sampling.take() == [{"what": "replica"}]
