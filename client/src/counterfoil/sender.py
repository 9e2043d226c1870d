"""A daemon thread that forwards the spool while the process does its work."""

from __future__ import annotations

import logging
import os
import threading
import time

from counterfoil.backoff import Backoff
from counterfoil.forwarder import Forwarder, Outcome

log = logging.getLogger("counterfoil")

IDLE_S = 0.25
BUSY_S = 5.0


def wait_after(outcome: Outcome, backoff: Backoff) -> float:
    """Give the seconds to wait after a pass."""
    if outcome.is_busy:
        return BUSY_S
    if outcome.problem:
        return backoff.failed(outcome.retry_after_s)
    backoff.succeeded()
    return IDLE_S


class Speaker:
    """Says once that receipts cannot be delivered, and once that they are delivered again.

    Files that cannot be read are named once.
    """

    def __init__(self) -> None:
        self._said = ""
        self._named: set[str] = set()

    def hear(self, outcome: Outcome) -> None:
        """Take note of a pass."""
        if outcome.problem and not self._said:
            log.warning("receipts wait in the spool: %s", outcome.problem)
        elif self._said and not outcome.problem and not outcome.is_busy:
            log.info("receipts are delivered again")
        self._said = outcome.problem
        if outcome.unreadable and outcome.unreadable not in self._named:
            self._named.add(outcome.unreadable)
            log.warning("other spools are sent: %s", outcome.unreadable)


class Sender:
    """Runs a forwarder in a thread; begun at the first receipt, and again after a fork."""

    def __init__(self, forwarder: Forwarder) -> None:
        self.forwarder = forwarder
        self._pid = 0
        self._stop = threading.Event()

    def ensure(self) -> None:
        """Start the thread if this process has none."""
        if self._pid == os.getpid():
            return
        self._pid = os.getpid()
        self._stop = threading.Event()
        threading.Thread(
            target=self._run, args=(self._stop,), name="counterfoil-sender", daemon=True
        ).start()

    def stop(self) -> None:
        """End the thread, without waiting for it: it may be waiting for the server."""
        if self._pid == os.getpid():
            self._stop.set()
        else:
            self.forwarder.close()
        self._pid = 0

    def _run(self, stop: threading.Event) -> None:
        backoff, speaker, next_at = Backoff(), Speaker(), 0.0
        while not stop.wait(max(0.0, next_at - time.monotonic())):
            try:
                outcome = self.forwarder.pass_once()
            except Exception:
                # The rim of the loop: a fault of ours must cost a try, not the thread.
                log.exception("the sender failed; it goes on")
                outcome = Outcome(problem="the sender failed")
            speaker.hear(outcome)
            next_at = time.monotonic() + wait_after(outcome, backoff)
        self.forwarder.close()
