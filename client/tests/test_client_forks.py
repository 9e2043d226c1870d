from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import counterfoil


def ends_well(child: int) -> bool:
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) == 0


def test_a_child_closes_also_when_its_parent_was_sending_at_the_fork(
    make_client: Callable[..., counterfoil.Client],
) -> None:
    client = make_client(send=False)
    assert client._sender is not None

    with client._sender.forwarder._turn:
        child = os.fork()
        if child == 0:
            signal.alarm(5)
            client.receipt("done", task="mail.send")
            client.close()
            os._exit(0)

        assert ends_well(child)


class HalfAnswer:
    """A server that sends the head of an answer, and the rest when it is let."""

    def __init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.began, self.go_on = threading.Event(), threading.Event()
        threading.Thread(target=self._answer, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listening.getsockname()[1]}"

    def _answer(self) -> None:
        asking, _ = self._listening.accept()
        with self._listening, asking:
            asking.recv(65536)
            asking.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n")
            self.began.set()
            self.go_on.wait(20)


def test_a_child_is_not_held_up_by_an_answer_that_its_parent_reads(
    make_client: Callable[..., counterfoil.Client],
) -> None:
    server = HalfAnswer()
    client = make_client(send=True, url=server.url)
    client.receipt("done", task="mail.send")
    assert server.began.wait(20)
    assert client._sender is not None
    assert is_reading(client._sender.forwarder)

    child = os.fork()
    if child == 0:
        signal.alarm(5)
        client.settings = replace(client.settings, send=False)
        client.receipt("done", task="mail.read")
        client.close()
        os._exit(0)

    try:
        assert ends_well(child)
    finally:
        server.go_on.set()


def is_reading(forwarder: Any) -> bool:
    """Wait until the head has been read, and the rest is read."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        connection = forwarder._transport._connection
        if connection is not None and connection._HTTPConnection__response is not None:
            return True
        time.sleep(0.01)
    return False
