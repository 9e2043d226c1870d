"""A ledger for tests: an HTTP server on a free loopback port that dedupes by id.

It keeps each receipt's bytes, and can be told to fail, to drop replies and to be slow.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class FakeLedger:
    """Counts what arrives; `script` gives what happens to the next requests, one word each.

    A word is "drop" (kept, but no reply), a status like 503, or a pair of status and Retry-After.
    While `gate` is not set, requests are taken and wait for their answer.
    """

    def __init__(self) -> None:
        self.token = "cf_test"
        self.receipts: dict[str, bytes] = {}
        self.conflicts: list[bytes] = []
        self.set_aside: list[bytes] = []
        self.numbers: dict[str, dict[int, bytes]] = {}
        self.feeds: list[dict[str, Any]] = []
        self.requests: list[tuple[dict[str, str], bytes]] = []
        self.script: list[Any] = []
        self.verdict: Callable[[bytes], int | None] = lambda line: None
        self.gate = threading.Event()
        self.gate.set()
        self.is_asked = threading.Event()
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), daemon=True
        )
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def of_kind(self, kind: str) -> list[dict[str, Any]]:
        found = [json.loads(raw) for raw in self.receipts.values()]
        return [r for r in found if r.get("kind") == kind]

    def take(self, headers: dict[str, str], body: bytes) -> tuple[int, dict[str, str], bytes, bool]:
        """Give status, headers and body of the reply, and whether it is to be dropped."""
        with self._lock:
            self.requests.append((headers, body))
            if headers.get("authorization") != f"Bearer {self.token}":
                return 401, {}, b'{"code":"no-token"}', False
            word = self.script.pop(0) if self.script else None
            if isinstance(word, int):
                return word, {}, b"{}", False
            if isinstance(word, tuple):
                return word[0], {"Retry-After": str(word[1])}, b"{}", False
            status, reply = self._store(headers, body)
            return status, {}, reply, word == "drop"

    def _store(self, headers: dict[str, str], body: bytes) -> tuple[int, bytes]:
        spool, _, first = headers.get("counterfoil-feed", "").partition("; first=")
        number = int(first or 0)
        if headers["content-type"] == "application/json":
            status, answer = self._line(spool, number, body)
            return status, json.dumps(answer).encode()
        answers = []
        for line in body.split(b"\n"):
            if line.strip():
                answers.append(self._line(spool, number, line)[1])
                number += 1
        if any(a["status"] == 500 for a in answers):
            return 500, b"{}"
        return 200, b"".join(json.dumps(a).encode() + b"\n" for a in answers)

    def _line(self, spool: str, number: int, line: bytes) -> tuple[int, dict[str, Any]]:
        status = self.verdict(line) or self._keep(spool, number, line)
        return status, {"status": status, "ref": "r1"}

    def _keep(self, spool: str, number: int, line: bytes) -> int:
        if spool:
            kept = self.numbers.setdefault(spool, {}).setdefault(number, line)
            assert kept == line, "one number of a spool came with two lines"
        try:
            receipt = json.loads(line)
        except ValueError:
            receipt = None
        if not isinstance(receipt, dict):
            if line not in self.set_aside:
                self.set_aside.append(line)
            return 202
        if receipt.get("what") == "feed":
            self.feeds.append(receipt)
        name = receipt.get("id") or f"feed:{spool}:{number}"
        known = self.receipts.setdefault(name, line)
        if known is line:
            return 201
        if known == line:
            return 200
        self.conflicts.append(line)
        return 409


def _handler(ledger: FakeLedger) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            body = self.rfile.read(int(headers.get("content-length", 0)))
            ledger.is_asked.set()
            ledger.gate.wait(20)
            status, extra, reply, is_dropped = ledger.take(headers, body)
            if is_dropped:
                self.close_connection = True
                return
            self.send_response(status)
            for name, value in {**extra, "Content-Length": str(len(reply))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(reply)

        def log_message(self, *_: Any) -> None:
            pass

    return Handler
