"""Steps that say how long they took, and the one way to stop."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager


class Stop(Exception):
    """Set-up cannot go on; the message says in one sentence why and what to do."""


def say(text: str, end: str = "\n") -> None:
    """Print at once, also into a pipe, so that a slow step is seen while it runs."""
    print(text, end=end, flush=True)


@contextmanager
def step(name: str) -> Iterator[None]:
    """Print the name of a step, and behind it the seconds that it took."""
    say(name + " ... ", end="")
    started = time.monotonic()
    try:
        yield
    except BaseException:
        say(f"stopped after {time.monotonic() - started:.1f} s")
        raise
    say(f"{time.monotonic() - started:.1f} s")


def child_environment() -> dict[str, str]:
    """Return our own environment without what would lead a child to another Python's packages.

    A user-wide `user = true` or a target folder in pip's settings would put the packages beside
    the environment instead of into it.
    """
    unwanted = {"PYTHONHOME", "PYTHONPATH", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT"}
    kept = {name: value for name, value in os.environ.items() if name not in unwanted}
    return {**kept, "PIP_USER": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1"}


def complain(text: str) -> None:
    """Print to standard error."""
    print(text, file=sys.stderr, flush=True)
