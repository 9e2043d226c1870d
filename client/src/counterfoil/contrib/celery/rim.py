"""The rim: what goes wrong in here never reaches a task.

Each kind of trouble is said once in the log of a process, by the place and the type of the error.
Its text is left out, because it may hold what a task was given; that of wrong settings is told.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Callable

from billiard.exceptions import SoftTimeLimitExceeded

from counterfoil.errors import SettingsError

log = logging.getLogger("counterfoil")

_said: set[str] = set()
_MAX_SAID = 1_000


def handler(name: str, work: Callable[..., None]) -> Callable[..., None]:
    """Give a signal's handler that does the work and raises nothing of its own."""

    @functools.wraps(work)
    def handle(*args: Any, **kwargs: Any) -> None:
        # Written out, not by `contained`: this runs several times for every task.
        try:
            work(*args, **kwargs)
        except SoftTimeLimitExceeded:
            raise
        except Exception as error:
            complain(name, error)

    return handle


@contextmanager
def contained(name: str) -> Iterator[None]:
    """Keep the trouble of a block away from the task that it runs in.

    A soft time limit can end any line of a task, one of ours too, and is the task's own affair.
    """
    try:
        yield
    except SoftTimeLimitExceeded:
        raise
    except Exception as error:
        complain(name, error)


def complain(name: str, error: BaseException) -> None:
    """Log trouble that is new in this process."""
    if isinstance(error, SettingsError):
        # Its text names variables and holds nothing of a task; all handlers meet the same one.
        say_once(f"settings {error}", "%s; so nothing is recorded, and no task is affected.", error)
        return
    kind = type(error)
    say_once(
        f"{name} {kind.__qualname__} {_place_of(error)}",
        "Recording %s failed with %s.%s at %s. The task is not affected; its receipt is missing, "
        "and further trouble of this kind is not logged.",
        *(name, kind.__module__, kind.__qualname__, _place_of(error)),
    )


def say_once(what: str, message: str, *values: object) -> None:
    """Log a warning, unless this process has said the same."""
    if what not in _said and len(_said) < _MAX_SAID:
        _said.add(what)
        log.warning(message, *values)


def _place_of(error: BaseException) -> str:
    found = error.__traceback__
    while found is not None and found.tb_next is not None:
        found = found.tb_next
    if found is None:
        return "an unknown place"
    return f"{found.tb_frame.f_globals.get('__name__', '?')}:{found.tb_lineno}"
