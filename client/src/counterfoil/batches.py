"""Posts lines of one spool and says how many of them have an answer.

When the server fails on a request (500) or finds it too large, the next one is half as long, down
to a single line: so one line that breaks the server is found, and holds up only its own spool.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Protocol

from counterfoil import reader
from counterfoil.errors import CounterfoilError
from counterfoil.reader import Line
from counterfoil.transport import JSON, NDJSON, Reply


class Post(Protocol):
    """What is needed of a transport."""

    def post(self, body: bytes, content_type: str, feed: str | None = None) -> Reply:
        """Post one body and give the reply; raises Unreachable."""

    def close(self) -> None:
        """Let go of the connection; the next post makes another."""


class Stopped(CounterfoilError):
    """The server did not take the receipts; they stay in the spool."""

    def __init__(self, detail: str, retry_after_s: float | None = None) -> None:
        super().__init__(detail)
        self.retry_after_s = retry_after_s


class Stuck(Stopped):
    """The server fails on one line; its spool waits, the others go on."""


class Batches:
    """Sends lines through a transport in requests of a size that the server can take."""

    def __init__(self, transport: Post, max_lines: int, max_bytes: int) -> None:
        self._transport = transport
        self._max_lines, self._max_bytes = max_lines, max_bytes
        self.limit = max_lines

    def send(self, lines: Sequence[Line], spool: str, first: int) -> int:
        """Post the lines from number `first` on; give how many of the leading ones are answered.

        At least one is; otherwise Stopped (or Stuck) or Unreachable is raised.
        """
        while True:
            lines = lines[: self.limit]
            count = self._try(lines, f"{spool}; first={first}")
            if count:
                self.limit = min(self._max_lines, self.limit * 2)
                return count
            self.limit = max(1, len(lines) // 2)

    def _try(self, lines: Sequence[Line], feed: str) -> int:
        if len(lines) == 1 and (self.limit == 1 or len(lines[0].text) > self._max_bytes):
            return self._try_alone(lines[0], feed)
        body = b"".join(line.text + b"\n" for line in lines)
        reply = self._transport.post(body, NDJSON, feed)
        if reply.status in (413, 500):
            return 0
        statuses = reader.statuses_of(reply.body) if reply.status == 200 else []
        if reply.status != 200:
            raise stopped(reply)
        if len(statuses) != len(lines):
            return 0
        count = reader.answered(statuses)
        if not count:
            raise Stopped(f"(a line was answered {statuses[0]})", reply.retry_after_s)
        return count

    def _try_alone(self, line: Line, feed: str) -> int:
        reply = self._transport.post(line.text, JSON, feed)
        if reader.is_answer(reply.status) and _is_from_ledger(reply.body):
            return 1
        if reply.status == 500 or reader.is_answer(reply.status):
            raise Stuck(f"(status {reply.status} for {feed})")
        raise stopped(reply)


def stopped(reply: Reply) -> Stopped:
    """Give the reason for going no further, in words that help whoever runs the client."""
    hints = {
        401: "the token is missing or not known",
        403: "the token may not post receipts",
        404: "is COUNTERFOIL_URL the address of a Counterfoil server?",
        429: "over quota",
    }
    hint = hints.get(reply.status)
    text = f"(status {reply.status}{': ' + hint if hint else ''})"
    return Stopped(text, reply.retry_after_s)


def _is_from_ledger(body: bytes) -> bool:
    # A proxy's page also comes with status 200 or 404, and must not delete anything.
    try:
        found = json.loads(body)
    except ValueError:
        return False
    return isinstance(found, dict) and any(name in found for name in ("ref", "state", "stored"))
