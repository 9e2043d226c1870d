from __future__ import annotations

import os
import signal
from collections.abc import Callable

import counterfoil


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
        _, status = os.waitpid(child, 0)

    assert os.waitstatus_to_exitcode(status) == 0
