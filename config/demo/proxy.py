"""A proxy that loses answers: it hands a request on, takes the answer, and hangs up.

The ledger has stored the receipts then, and the client does not know; that is what makes it send
them again.
"""

from __future__ import annotations

import contextlib
import random
import socket
import threading
from types import TracebackType
from typing import Self

_CHUNK = 65_536
_TIMEOUT_S = 10.0


class LossyProxy:
    """Listens on a free loopback port while the block runs; loses one answer in `one_in`."""

    def __init__(self, host: str, port: int, *, one_in: int, seed: int) -> None:
        self._upstream = (host, port)
        self._one_in = one_in
        self._random = random.Random(seed)  # noqa: S311 - it decides what to break
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(0.2)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._accept, name="proxy", daemon=True)
        self.lost = 0

    @property
    def url(self) -> str:
        """Give the address to send to."""
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._thread.join()
        self._listener.close()

    def _accept(self) -> None:
        while not self._stop.is_set():
            try:
                client, _ = self._listener.accept()
            except TimeoutError:
                continue
            threading.Thread(target=self._carry, args=(client,), daemon=True).start()

    def _carry(self, client: socket.socket) -> None:
        """Carry one connection until either side ends it, or one of its answers is lost."""
        with client, contextlib.suppress(OSError):
            client.settimeout(_TIMEOUT_S)
            with socket.create_connection(self._upstream, timeout=_TIMEOUT_S) as server:
                there = threading.Thread(target=_carry_requests, args=(client, server))
                there.start()
                self._carry_answers(server, client)
                client.shutdown(socket.SHUT_RDWR)
                there.join()

    def _carry_answers(self, server: socket.socket, client: socket.socket) -> None:
        while data := server.recv(_CHUNK):
            if self._random.randrange(self._one_in) == 0:
                self.lost += 1
                return
            client.sendall(data)


def _carry_requests(client: socket.socket, server: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := client.recv(_CHUNK):
            server.sendall(data)
        server.shutdown(socket.SHUT_WR)
