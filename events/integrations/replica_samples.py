"""What replicas say of themselves: their metrics, scraped, and their logs, followed."""

from __future__ import annotations

import hashlib
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.client import HTTPResponse
from pathlib import Path
from typing import Any

from events.domain import metric_lines, replica_lines
from events.integrations.tail_writer import NAMESPACE, SCHEMA
from kit import clock
from ledger.domain import plain
from ledger.domain.leaf import rfc3339

TIMEOUT_S = 5.0
LONGEST_PAGE = 2 * 1024 * 1024
AT_START = 1024 * 1024
"""As much of a log is read at the start, so that the line of a replica's own start is seen."""

AT_ONCE = 4 * 1024 * 1024
_LONGEST_LINE = 16 * 1024

Receipt = dict[str, Any]


class Unread(OSError):
    """A page or a log cannot be read; the message says why, without secrets."""


@dataclass(slots=True)
class MetricsPage:
    """The `/metrics` of one replica; `token` is sent as a bearer's, and not shown."""

    url: str
    installation: str
    replica: str
    token: str = field(default="", repr=False)
    _told: Mapping[str, int | float] | None = None

    def sample(self) -> list[Receipt]:
        """Scrape, and give a receipt when a value changed; raises Unread."""
        metrics = metric_lines.read_metrics(self._fetch())
        if metrics == self._told:
            return []
        self._told = metrics
        at = rfc3339(clock.now())
        said = {"metrics": metrics}
        return [_receipt(self.installation, self.replica, at, said, via="client")]

    def _fetch(self) -> str:
        # A proxy of the environment must not get the token.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirect())
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        request = urllib.request.Request(self.url, headers=headers)  # noqa: S310
        try:
            with opener.open(request, timeout=TIMEOUT_S) as answer:
                return _page_of(answer).decode("utf-8", "replace")
        except (OSError, ValueError) as error:
            said = getattr(error, "reason", None) or error
            raise Unread(f"The metrics of {self.replica} cannot be read: {said}") from error


def _page_of(answer: HTTPResponse) -> bytes:
    """Read a page; TimeoutError for one that drips, of which each part comes in time."""
    until = time.monotonic() + TIMEOUT_S
    page = b""
    while len(page) < LONGEST_PAGE and (part := answer.read1(LONGEST_PAGE - len(page))):
        page += part
        if time.monotonic() > until:
            raise TimeoutError("timed out")
    return page


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows nothing, so that a token goes nowhere else."""

    def redirect_request(self, *_: object) -> None:
        return None


@dataclass(slots=True)
class LogFile:
    """The log of one replica, read from shortly before its end on, also when it is rotated."""

    path: Path
    installation: str
    replica: str
    _file: int = 0
    _at: int = -1
    _left: bytes = b""

    def sample(self) -> list[Receipt]:
        """Read what is new, and give a receipt for each line that tells something.

        The same line gives the same receipt, so that reading it again adds nothing. Raises Unread.
        """
        try:
            raw = self._new()
        except OSError as error:
            raise Unread(f"The log of {self.replica} cannot be read: {error.strerror}") from error
        *lines, left = (self._left + raw).split(b"\n")
        self._left = left if len(left) <= _LONGEST_LINE else b""
        made = (self._made(line) for line in lines if len(line) <= _LONGEST_LINE)
        return [one for one in made if one is not None]

    def _new(self) -> bytes:
        with self.path.open("rb") as opened:
            size = opened.seek(0, 2)
            file = self.path.stat().st_ino
            if self._at < 0:
                self._at = max(0, size - AT_START)
            elif file != self._file or size < self._at:
                self._at, self._left = 0, b""
            self._file = file
            opened.seek(self._at)
            raw = opened.read(AT_ONCE)
            self._at += len(raw)
            return raw

    def _made(self, line: bytes) -> Receipt | None:
        fields = replica_lines.read_line(line.decode("utf-8", "replace"))
        if fields is None:
            return None
        said = replica_lines.started_of(fields)
        reset = replica_lines.reset_of(fields) if said is None else None
        if said is None and reset is None:
            return None
        at = plain.time_of(fields.get("time")) or clock.now()
        name = f"{self.installation}\n{self.replica}\n{hashlib.sha256(line).hexdigest()}"
        told = {"resets": [reset]} if said is None else said
        made = _receipt(self.installation, self.replica, rfc3339(at), told, via="log")
        return {**made, "id": str(uuid.uuid5(NAMESPACE, name))}


def _receipt(
    installation: str, replica: str, at: str, said: Mapping[str, Any], *, via: str
) -> Receipt:
    return {
        "schema": SCHEMA,
        "kind": "observe",
        "what": "replica",
        "occurred_at": at,
        "source": {"system": "pad", "instance": installation, "via": via},
        "installation": installation,
        "replica": replica,
        "sampled_at": at,
        **said,
    }
