"""The attempts that run in this process: one for each thread or greenlet, nested when eager."""

from __future__ import annotations

import contextvars
import time
from typing import Any

from counterfoil import context
from counterfoil.contrib.celery.messages import Call


class Attempt:
    """One execution of a task, from `task_prerun` to `task_postrun`."""

    __slots__ = (
        "args",
        "began",
        "call",
        "choice",
        "is_eager",
        "is_published_again",
        "kwargs",
        "outer",
        "retry_error",
        "subjects",
        "task",
        "token",
        "worker",
    )

    def __init__(self, call: Call, choice: str, task: Any, args: Any, kwargs: Any) -> None:
        self.call, self.choice = call, choice
        self.task, self.args, self.kwargs = task, args, kwargs
        self.began = time.perf_counter()
        self.worker = ""
        self.is_eager = False
        self.is_published_again = False
        self.retry_error: BaseException | None = None
        self.subjects: Any = None
        self.outer: Attempt | None = None
        self.token: context.Token | None = None

    @property
    def took_ms(self) -> float:
        """Milliseconds since the attempt began."""
        return (time.perf_counter() - self.began) * 1000


_current: contextvars.ContextVar[Attempt | None] = contextvars.ContextVar(
    "counterfoil_celery_attempt", default=None
)


def current(call_id: Any = None) -> Attempt | None:
    """Give what runs here, or None; with an id only when that call is what runs."""
    found = _current.get()
    if call_id is None or found is None or found.call.id == call_id:
        return found
    return None


def begin(attempt: Attempt, source: dict[str, str]) -> None:
    """Say that the attempt runs from now on, so that a guard's skip names its job by itself."""
    outer = attempt.outer = _current.get()
    if outer is not None and outer.call.id == attempt.call.id:
        # Eager retries run inside the attempt that asked for them, and publish nothing.
        outer.is_published_again = True
    subjects = tuple(attempt.subjects or ())
    running = context.Current(attempt.call.job(), source, context.current_trace(), subjects)
    attempt.token = context.begin(running)
    _current.set(attempt)


def end(attempt: Attempt) -> None:
    """Say that it has ended; what it ran inside of is current again."""
    _current.set(attempt.outer)
    if attempt.token is not None:
        context.end(attempt.token)


def note_published(call_id: str) -> None:
    """Note a publish: when it bears the id of what runs here, that will run again."""
    running = _current.get()
    if running is not None and running.call.id == call_id:
        running.is_published_again = True
