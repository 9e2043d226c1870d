"""Scenario 1, recording once under fire (seed 000): run it, then hold the ledger to it.

Every claim is compared with what the rig counted itself: all jobs done, every skip's original
found, nothing that a worker answered for missing, and work that a kill made run twice shown as two
dones of one key, as often as the rig counted.
"""

from __future__ import annotations

import json
import tempfile
import time
import urllib.parse
import urllib.request
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from config.demo import others
from config.demo.proxy import LossyProxy
from config.demo.rig import JOBS, Rig, Seen
from kit.search import Term, render

LOSES_ONE_IN = 4
REST_S = 60.0
DERIVE_S = 30.0


@dataclass(slots=True)
class Report:
    """What was compared: a line each, and whether it holds."""

    lines: list[tuple[bool, str]] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """Say whether every line holds."""
        return all(holds for holds, _ in self.lines)

    def add(self, holds: bool, line: str) -> None:
        """Add a comparison."""
        self.lines.append((holds, line))


@dataclass(frozen=True, slots=True)
class Server:
    """The running server, as the demo's own reader sees it."""

    url: str
    read_token: str
    ingest_token: str

    def get(self, path: str, **query: str) -> dict[str, Any]:
        """Read one answer of the API."""
        asked = f"?{urllib.parse.urlencode(query)}" if query else ""
        request = urllib.request.Request(  # noqa: S310 - the address is our own server's
            f"{self.url}/api/v1{path}{asked}",
            headers={"Authorization": f"Bearer {self.read_token}"},
        )
        with urllib.request.urlopen(request, timeout=30) as response:  # noqa: S310
            return dict(json.load(response))

    def all_items(self, q: str) -> list[dict[str, Any]]:
        """Read every item of a list."""
        found: list[dict[str, Any]] = []
        cursor: str | None = ""
        while cursor is not None:
            page = self.get("/receipts", q=q, limit="500", cursor=cursor)
            found += page["items"]
            cursor = page["next"]
        return found

    def post(self, receipts: list[dict[str, Any]]) -> None:
        """Send a batch of receipts."""
        body = "\n".join(json.dumps(one) for one in receipts).encode("ascii")
        headers = {
            "Authorization": f"Bearer {self.ingest_token}",
            "Content-Type": "application/x-ndjson",
        }
        request = urllib.request.Request(f"{self.url}/api/v1/receipts", body, headers)  # noqa: S310
        with urllib.request.urlopen(request, timeout=30) as response:  # noqa: S310
            response.read()


def run(server: Server, seed: int) -> Report:
    """Run the scenario against a server and compare."""
    # Asked first, so that an address without a server is known before any worker starts.
    server.get("/receipts", limit="1")
    parts = urlsplit(server.url)
    name = f"run-{datetime.now(UTC):%Y%m%d%H%M%S}-{seed}"
    source = f"demo/{name}"
    with (
        tempfile.TemporaryDirectory(prefix="counterfoil-demo-") as folder,
        LossyProxy(
            parts.hostname or "127.0.0.1", parts.port or 80, one_in=LOSES_ONE_IN, seed=seed
        ) as proxy,
    ):
        rig = Rig(Path(folder), proxy.url, server.ingest_token, seed, source)
        seen = rig.run()
        delivered = rig.deliver_rest(REST_S)
        server.post(others.receipts(_now(), name))
        report = Report()
        report.add(delivered, f"the spool is empty; {proxy.lost} answers were lost on the way")
        _wait_until_derived(server)
        _compare(server, seen, source, report)
    return report


def _compare(server: Server, seen: Seen, source: str, report: Report) -> None:
    mine = render([Term("source", (source,))])
    dones = server.all_items(f"{mine} kind:done")
    skips = server.all_items(f"{mine} kind:skip")
    by_key = Counter(item["key"]["digest"] for item in dones)
    killed = sum(seen.kills.values())
    report.add(len(by_key) == JOBS, f"{len(by_key)} of {JOBS} jobs are done, after {killed} kills")
    stored = {item["id"] for item in [*dones, *skips]}
    answered = {*seen.skips, *(one for ids in seen.dones.values() for one in ids)}
    lost = answered - stored
    report.add(not lost, f"{len(answered)} receipts were answered for, {len(lost)} are missing")
    states = Counter(item["pointer"]["state"] for item in skips)
    found = sum(count for state, count in states.items() if state.startswith("resolved"))
    report.add(found == len(skips), f"{found} of {len(skips)} skips have found their original")
    twice = sum(count - 1 for count in by_key.values())
    report.add(
        twice == seen.second_dones,
        f"{twice} second dones of a key; the rig counted {seen.second_dones}",
    )
    aside = server.get("/quarantine", open="true")["open"]
    report.add(aside == 0, f"{aside} receipts were set aside")
    unresolved = server.get("/receipts", q=f"{mine} pointer:unresolved")["count"]["value"]
    report.add(unresolved == 0, f"{unresolved} skips of this run are not explained")


def _wait_until_derived(server: Server) -> None:
    end = time.monotonic() + DERIVE_S
    while time.monotonic() < end:
        if not server.get("/receipts", limit="1")["window"]["lag"]:
            return
        time.sleep(0.1)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
