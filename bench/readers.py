"""What a reader waits for: pages by a browser's session, and the newest receipts by a token."""

from __future__ import annotations

import http.client
import json
import re
import threading
import time
import urllib.parse
import urllib.request
from http.cookiejar import CookieJar
from typing import Any


class Browser:
    """A reader who is logged in."""

    def __init__(self, url: str, login_link: str) -> None:
        self.url = url
        handler = urllib.request.HTTPCookieProcessor(CookieJar())
        self._opener = urllib.request.build_opener(handler)
        form = self._opener.open(login_link).read().decode()
        found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', form)
        assert found is not None
        fields = urllib.parse.urlencode({"csrfmiddlewaretoken": found[1]}).encode()
        request = urllib.request.Request(login_link, fields, {"Referer": url})  # noqa: S310
        self._opener.open(request).read()

    def time_page(self, path: str) -> float:
        """Fetch a page and return the seconds until its last byte."""
        start = time.perf_counter()
        with self._opener.open(self.url + path) as answer:
            answer.read()
            assert answer.status == 200, path
        return time.perf_counter() - start


class Reader:
    """A client of the API with a token for reading."""

    def __init__(self, port: int, token: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._headers = {"Authorization": f"Bearer {token}"}

    def get(self, path: str) -> Any:
        """Return the JSON document at a path."""
        self._connection.request("GET", path, headers=self._headers)
        answer = self._connection.getresponse()
        body = answer.read()
        assert answer.status == 200, body
        return json.loads(body)

    def newest(self) -> list[dict[str, Any]]:
        """Return the first rows of the list."""
        items: list[dict[str, Any]] = self.get("/api/v1/receipts?limit=1")["items"]
        return items


class Watch:
    """Asks for the list five times a second and notes when it first showed a leaf."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._stop = threading.Event()
        self._seen: list[tuple[float, int]] = []
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def wait_for(self, leaf: int, seconds: float) -> None:
        """Watch until a leaf is seen, for some seconds at most, and no longer."""
        end = time.monotonic() + seconds
        while self.shown_at(leaf) == float("inf") and time.monotonic() < end:
            time.sleep(0.05)
        self._stop.set()
        self._thread.join()

    def shown_at(self, leaf: int) -> float:
        """Return when a leaf was seen, by the monotonic clock; infinite if it never was."""
        return next((at for at, newest in self._seen if newest >= leaf), float("inf"))

    def _run(self) -> None:
        while not self._stop.wait(0.2):
            rows = self._reader.newest()
            if rows:
                self._seen.append((time.monotonic(), int(rows[0]["leaf_index"])))
