"""One kept-alive HTTP connection to the ledger, from the standard library."""

from __future__ import annotations

import http.client
import logging
import os
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

from counterfoil.backoff import retry_after_seconds
from counterfoil.errors import SettingsError, Unreachable
from counterfoil.settings import Settings

log = logging.getLogger("counterfoil")

ROUTE = "/api/v1/receipts"
NDJSON = "application/x-ndjson"
JSON = "application/json"
MAX_ANSWER_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True)
class Reply:
    """What the server answered to one request."""

    status: int
    content_type: str
    body: bytes
    retry_after_s: float | None = None


class Transport:
    """Posts bodies to `{url}/api/v1/receipts`; used by one thread at a time.

    Redirects are not followed: the token goes to the named host and to no other.
    """

    def __init__(self, settings: Settings, timeout_s: float = 10.0) -> None:
        parts = urlsplit(settings.url)
        if not parts.hostname:
            raise SettingsError("COUNTERFOIL_URL is not set")
        if parts.password:
            log.warning("the address of the server holds a password; it is not used")
        self._settings, self._timeout_s = settings, timeout_s
        self._is_tls, self._host, self._port = parts.scheme == "https", parts.hostname, parts.port
        self._path = parts.path.rstrip("/") + ROUTE
        self._pid = os.getpid()
        self._connection: http.client.HTTPConnection | None = None

    @property
    def place(self) -> str:
        """The server's address without anything secret, for messages."""
        port = f":{self._port}" if self._port else ""
        return f"{'https' if self._is_tls else 'http'}://{self._host}{port}{self._path}"

    def post(self, body: bytes, content_type: str, feed: str | None = None) -> Reply:
        """Post one body; raises Unreachable when no whole answer came back."""
        headers = self._headers(content_type, feed)
        self._leave_parent()
        try:
            return self._exchange(body, headers)
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.close()
            # The text of a ValueError may quote a header, and the token is in one.
            text = type(error).__name__ if isinstance(error, ValueError) else _text_of(error)
            raise Unreachable(f"({self.place}: {text})") from None

    def close(self) -> None:
        """Close the connection; the next post opens a new one."""
        self._leave_parent()
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def _leave_parent(self) -> None:
        # Sharing a connection with the parent would mix the two up. It is let go of and not closed:
        # a thread of the parent may have been reading at the fork, and closing waits for its end.
        if self._pid != os.getpid():
            self._pid, self._connection = os.getpid(), None

    def _headers(self, content_type: str, feed: str | None) -> dict[str, str]:
        token = self._settings.read_token()
        if not token.isascii() or any(c.isspace() for c in token):
            raise SettingsError("The token holds a character that no token has")
        headers = {
            "Content-Type": content_type,
            "Authorization": f"Bearer {token}",
            "User-Agent": "counterfoil-python",
        }
        if feed is not None:
            headers["Counterfoil-Feed"] = feed
        return headers

    def _exchange(self, body: bytes, headers: dict[str, str]) -> Reply:
        is_reused = self._connection is not None
        try:
            return self._send(body, headers)
        except (ConnectionError, http.client.BadStatusLine):
            # A server closes an idle connection without a word; sending again is always safe.
            if not is_reused:
                raise
            self.close()
            return self._send(body, headers)

    def _send(self, body: bytes, headers: dict[str, str]) -> Reply:
        if self._connection is None:
            kind = http.client.HTTPSConnection if self._is_tls else http.client.HTTPConnection
            self._connection = kind(self._host, self._port, timeout=self._timeout_s)
        self._connection.request("POST", self._path, body, headers)
        answer = self._connection.getresponse()
        read = answer.read(MAX_ANSWER_BYTES)
        if not answer.isclosed() or answer.will_close:
            self.close()
        wait = retry_after_seconds(answer.getheader("Retry-After"), time.time())
        return Reply(answer.status, answer.getheader("Content-Type") or "", read, wait)


def _text_of(error: Exception) -> str:
    return str(error) or type(error).__name__
