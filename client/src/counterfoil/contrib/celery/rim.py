"""The rim of this integration: what goes wrong in here never reaches a task.

It is the rim of all integrations; a soft time limit can end any line of a task, one of ours too,
and is the task's own affair.
"""

from __future__ import annotations

import functools
from contextlib import AbstractContextManager
from typing import Any, Callable

from billiard.exceptions import SoftTimeLimitExceeded

from counterfoil.contrib import rim
from counterfoil.contrib.rim import complain, say_once

__all__ = ["complain", "contained", "handler", "say_once"]


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


def contained(name: str) -> AbstractContextManager[None]:
    """Keep the trouble of a block away from the task that it runs in."""
    return rim.contained(name, (SoftTimeLimitExceeded,))
