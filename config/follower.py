"""The follower: acts of people into the log, then sequence, then derive, over and over.

The same loop runs as a thread of the embedded server and as `manage.py follow`; it is woken by an
append in its own process and looks by itself every 200 ms.
"""

from __future__ import annotations

import threading
import time

import structlog
from django.db import InterfaceError, OperationalError, connection

from access.models import Project
from ledger import acts, derive, rebuild, sequence, store

IDLE_S = 0.2
LONGEST_PAUSE_S = 5.0
AWAY = (OperationalError, InterfaceError)

log = structlog.get_logger(__name__)


class Follower:
    """Follows every project's log until it is told to stop."""

    def __init__(self) -> None:
        self._wake = threading.Event()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        store.on_append(self._wake.set)

    def start(self) -> None:
        """Run in a thread of this process."""
        self._thread = threading.Thread(target=self.run, name="follower", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Finish the batch at hand and end."""
        self._stop.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join(timeout=5)

    def run(self) -> None:
        """Follow until `stop`; a database that is away is waited for, with growing pauses."""
        pause = IDLE_S
        while not self._stop.is_set():
            failures: list[Exception] = []
            try:
                moved = follow_once(failures)
            except AWAY as error:
                log.warning("database away", action="follow_failed", error=str(error)[:200])
                connection.close()
                moved, failures = 0, [error]
            pause = min(pause * 2, LONGEST_PAUSE_S) if failures else IDLE_S
            if not moved:
                self._wake.wait(pause)
                self._wake.clear()
        connection.close()


def follow_once(failures: list[Exception] | None = None) -> int:
    """Do one round in every project; gives how many receipts moved.

    With a list for them, failures of one project are logged and put there, and the others go on;
    a database that is away is raised all the same.
    """
    moved = 0
    for project_id in Project.objects.order_by("pk").values_list("pk", flat=True):
        try:
            moved += _follow(project_id)
        except AWAY:
            raise
        except Exception as error:
            if failures is None:
                raise
            log.exception("a project stands still", action="follow_failed", project_id=project_id)
            failures.append(error)
    return moved


def _follow(project_id: int) -> int:
    moved = acts.drain(project_id)
    moved += sequence.sequence(project_id)
    rebuild.rebuild_outdated(project_id)
    return moved + derive.derive(project_id)


def catch_up(timeout_s: float | None = None) -> None:
    """Follow until nothing is left to do; for commands and tests."""
    end = None if timeout_s is None else time.monotonic() + timeout_s
    while follow_once():
        if end is not None and time.monotonic() > end:
            raise TimeoutError("the follower did not catch up in time")
