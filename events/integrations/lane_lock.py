"""One tail for each lane: two would hear each message twice, which looks like the bus at fault."""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from events.integrations.watched import Watched


class LaneTaken(RuntimeError):
    """Another tail fills this lane already. Give this one a name of its own by --replica."""


@contextmanager
def taken(folder: Path, watched: Watched) -> Iterator[None]:
    """Hold a lane among the processes that share a data folder; raises LaneTaken.

    The lock ends with the process, however it ends.
    """
    names = (str(watched.project_id), watched.installation, watched.bus, watched.replica)
    digest = hashlib.sha256("\n".join(names).encode()).hexdigest()[:16]
    path = folder / f"tail-{digest}.lock"
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LaneTaken(LaneTaken.__doc__) from None
        yield
