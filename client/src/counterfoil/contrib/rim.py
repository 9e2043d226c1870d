"""The rim of an integration: what goes wrong in it never reaches the work that it tells of.

Each kind of trouble is said once in the log of a process, by the place and the type of the error.
Its text is left out, because it may hold what a job was given; that of wrong settings is told.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager

from counterfoil.errors import SettingsError

log = logging.getLogger("counterfoil")

_said: set[str] = set()
_MAX_SAID = 1_000


@contextmanager
def contained(name: str, passing: tuple[type[BaseException], ...] = ()) -> Iterator[None]:
    """Keep the trouble of a block away from whoever runs it.

    Errors of the types in `passing` are not ours: a time limit can end any line of a job.
    """
    try:
        yield
    except passing:
        raise
    except Exception as error:
        complain(name, error)


def complain(name: str, error: BaseException) -> None:
    """Log trouble that is new in this process."""
    if isinstance(error, SettingsError):
        # Its text names variables and holds nothing of a job; all hooks meet the same one.
        say_once(f"settings {error}", "%s; so nothing is recorded, and no job is affected.", error)
        return
    kind, place = type(error), _place_of(error)
    say_once(
        f"{name} {kind.__qualname__} {place}",
        "Recording %s failed with %s.%s at %s. The job is not affected; its receipt is missing, "
        "and further trouble of this kind is not logged.",
        *(name, kind.__module__, kind.__qualname__, place),
    )


def say_once(what: str, message: str, *values: object) -> None:
    """Log a warning, unless this process has said the same."""
    if what not in _said and len(_said) < _MAX_SAID:
        _said.add(what)
        log.warning(message, *values)


def is_off() -> bool:
    """Say whether COUNTERFOIL_OFF asks for leaving no trace."""
    return os.environ.get("COUNTERFOIL_OFF", "") not in ("", "0")


def _place_of(error: BaseException) -> str:
    found = error.__traceback__
    while found is not None and found.tb_next is not None:
        found = found.tb_next
    if found is None:
        return "an unknown place"
    return f"{found.tb_frame.f_globals.get('__name__', '?')}:{found.tb_lineno}"
