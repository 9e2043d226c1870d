"""What lies beside a bus is sampled: keys, replicas' metrics, their logs, each by a thread.

A page that takes a minute to come holds up no other.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Sequence
from typing import Any, Protocol

from events.integrations.listener import Say
from events.integrations.redis_link import Refused, Unreachable
from events.integrations.replica_samples import Unread

EVERY_S = 15.0
PATIENCE_S = 2.0
TROUBLES = (Unreachable, Refused, Unread)


class Sampler(Protocol):
    """Gives receipts of what changed since it was asked last."""

    def sample(self) -> list[dict[str, Any]]: ...


class Sampling:
    """Samples until it is stopped; what is found waits in a queue for the thread that stores."""

    def __init__(self, samplers: Sequence[Sampler], say: Say) -> None:
        self._say = say
        self._found: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._run, args=(one,), name="sampling", daemon=True)
            for one in samplers
        ]

    def start(self) -> None:
        """Begin to sample."""
        for one in self._threads:
            one.start()

    def stop(self) -> None:
        """Sample no more; an answer that is long in coming is not waited for."""
        self._stop.set()
        until = time.monotonic() + PATIENCE_S
        for one in self._threads:
            if one.is_alive():
                one.join(max(0.0, until - time.monotonic()))

    def take(self) -> list[dict[str, Any]]:
        """Give what was found since the last time."""
        found = []
        while not self._found.empty():
            found.append(self._found.get())
        return found

    def _run(self, sampler: Sampler) -> None:
        said = ""
        while not self._stop.is_set():
            said = self._sample(sampler, said)
            self._stop.wait(EVERY_S)

    def _sample(self, sampler: Sampler, said: str) -> str:
        """Sample once; say what is wrong when it is not what was wrong before, and give it."""
        trouble = ""
        try:
            for receipt in sampler.sample():
                self._found.put(receipt)
        except TROUBLES as error:
            trouble = str(error)
        except Exception as error:
            # A thread that ended would look like keys that never change.
            trouble = f"A sample failed: {type(error).__name__}"
        if trouble and trouble != said:
            self._say(f"{trouble.rstrip('.')}.")
        return trouble
