"""The follower: acts of people and arrivals of feeds into the log, then sequence, then derive.

The same loop runs as a thread of the embedded server and as `manage.py follow`; it is woken by an
append in its own process and looks by itself every 200 ms.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable

import structlog
from django.db import InterfaceError, OperationalError, connection

from access import queries as access_queries
from access.models import Project
from ledger import acts, arrivals, derive, rebuild, sequence, store

IDLE_S = 0.2
# How often every project is looked at, busy or not: a release may bring a new projector.
EVERYWHERE_S = 60.0
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
        pause, looked_at = IDLE_S, None
        while not self._stop.is_set():
            failures: list[Exception] = []
            try:
                projects = busy_projects() if _is_fresh(looked_at) else every_project()
                moved = follow_once(failures, projects)
                looked_at = looked_at if _is_fresh(looked_at) else time.monotonic()
            except AWAY as error:
                log.warning("database away", action="follow_failed", error=str(error)[:200])
                connection.close()
                moved, failures = 0, [error]
            pause = min(pause * 2, LONGEST_PAUSE_S) if failures else IDLE_S
            if not moved:
                self._wake.wait(pause)
                self._wake.clear()
        connection.close()


def every_project() -> list[int]:
    """Give all projects."""
    return list(Project.objects.order_by("pk").values_list("pk", flat=True))


def busy_projects() -> list[int]:
    """Give the projects that have something to do, by four queries however many there are."""
    undrained = {*access_queries.projects_with_undrained_actions(), *arrivals.due_projects()}
    return sorted({*undrained, *sequence.waiting_projects(), *derive.projects_behind()})


def follow_once(
    failures: list[Exception] | None = None, projects: Iterable[int] | None = None
) -> int:
    """Do one round in every project, or in those given; gives how many receipts moved.

    With a list for them, failures of one project are logged and put there, and the others go on;
    a database that is away is raised all the same.
    """
    moved = 0
    for project_id in every_project() if projects is None else projects:
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


def _is_fresh(looked_at: float | None) -> bool:
    return looked_at is not None and time.monotonic() - looked_at < EVERYWHERE_S


def _follow(project_id: int) -> int:
    moved = acts.drain(project_id)
    moved += arrivals.drain(project_id)
    moved += sequence.sequence(project_id)
    moved += rebuild.rebuild_outdated(project_id)
    return moved + derive.derive(project_id)


def catch_up(timeout_s: float | None = None) -> None:
    """Follow until nothing is left to do; for commands and tests."""
    end = None if timeout_s is None else time.monotonic() + timeout_s
    while follow_once():
        if end is not None and time.monotonic() > end:
            raise TimeoutError("the follower did not catch up in time")
