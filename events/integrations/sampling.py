"""The thread that samples what lies beside a bus: keys, replicas' metrics, their logs."""

from __future__ import annotations

import queue
import threading
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
    """Samples until it is stopped; what it finds waits in a queue for the thread that stores."""

    def __init__(self, samplers: Sequence[Sampler], say: Say) -> None:
        self._samplers, self._say = samplers, say
        self._found: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._said: dict[int, str] = {}
        self._thread = threading.Thread(target=self._run, name="sampling", daemon=True)

    def start(self) -> None:
        """Begin to sample."""
        if self._samplers:
            self._thread.start()

    def stop(self) -> None:
        """Sample no more; an answer that is long in coming is not waited for."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(PATIENCE_S)

    def take(self) -> list[dict[str, Any]]:
        """Give what was found since the last time."""
        found = []
        while not self._found.empty():
            found.append(self._found.get())
        return found

    def _run(self) -> None:
        while not self._stop.is_set():
            for number, sampler in enumerate(self._samplers):
                self._sample(number, sampler)
            self._stop.wait(EVERY_S)

    def _sample(self, number: int, sampler: Sampler) -> None:
        """Sample once, and say what is wrong when it is not what was wrong before."""
        try:
            for receipt in sampler.sample():
                self._found.put(receipt)
            trouble = ""
        except TROUBLES as error:
            trouble = str(error)
        except Exception as error:
            # A thread that ended would look like keys that never change.
            trouble = f"A sample failed: {type(error).__name__}"
        if trouble and trouble != self._said.get(number):
            self._say(f"{trouble.rstrip('.')}.")
        self._said[number] = trouble
