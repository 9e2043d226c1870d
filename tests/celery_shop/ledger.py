"""Asks a running Counterfoil over its API, and waits until what was sent can be seen."""

from __future__ import annotations

import time
import urllib.parse
from collections import Counter
from collections.abc import Callable
from typing import Any

import httpx

from tests.running import Counterfoil
from tests.servers import PATIENCE


class Ledger:
    """One project of a running server, with a token that posts and one that reads."""

    def __init__(self, server: Counterfoil, project: str) -> None:
        self.url, self.project = server.url, project
        self.token = self._token(server, "ingest")
        self._reading = self._token(server, "read")

    def get(self, path: str, **query: Any) -> Any:
        """Return the answer of a route under `/api/v1`."""
        wanted = urllib.parse.urlencode(query, doseq=True)
        headers = {"Authorization": f"Bearer {self._reading}"}
        answer = httpx.get(f"{self.url}/api/v1{path}?{wanted}", headers=headers, timeout=PATIENCE)
        return answer.raise_for_status().json()

    def counts(self, by: str, q: str, *, of: int) -> Counter[str]:
        """Return how many receipts there are by a field, once there are so many in all."""
        answer = self.await_answer(
            lambda: self.get("/receipts/counts", q=q, by=by),
            lambda found: sum(item["count"] for item in found["items"]) >= of,
        )
        return Counter({item[by]: item["count"] for item in answer["items"]})

    def receipts(self, q: str) -> list[Any]:
        """Return all that a query lists, newest first."""
        found: list[Any] = []
        cursor: dict[str, str] = {}
        while True:
            answer = self.get("/receipts", q=q, limit=500, **cursor)
            found += answer["items"]
            if not answer["next"]:
                return found
            cursor = {"cursor": answer["next"]}

    def tallied_jobs(self) -> list[Any]:
        """Return the outcomes in all tallies: task, id, outcome and milliseconds each."""
        tallies = [self.get(f"/receipts/{item['ref']}/raw") for item in self.receipts("kind:tally")]
        return [job for tally in tallies for job in tally["data"]["jobs"]]

    def await_answer(self, ask: Callable[[], Any], is_right: Callable[[Any], bool]) -> Any:
        """Ask until an answer fits, since lists follow what was stored by a moment."""
        deadline = time.monotonic() + PATIENCE
        while not is_right(answer := ask()):
            assert time.monotonic() < deadline, answer
            time.sleep(0.05)
        return answer

    def _token(self, server: Counterfoil, scope: str) -> str:
        named = ["--project", self.project, "--scope", scope, "--name", scope]
        return server.manage("token", "create", *named, "--create-project").strip()
