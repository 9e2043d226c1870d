"""The tasks that this process knows, and what can be seen of each; told to the ledger."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from typing import Any

import celery
from celery import current_app

from counterfoil import encode
from counterfoil.contrib.celery import locks
from counterfoil.contrib.celery.writing import Writer

MAX_BYTES = 512 * 1024
"""A receipt may have 1 MiB; the list of a large shop is told in several."""
AGAIN_S = 10.0

_lock = threading.Lock()
_told: frozenset[str] = frozenset()
_told_at = float("-inf")
_main_pid = 0


def find(name: str) -> Any:
    """Give the registered task of that name, or None; never makes the app load its tasks."""
    return getattr(current_app, "_tasks", {}).get(name)


def tell_once(writes: Writer, name: str) -> None:
    """Tell which tasks there are, unless it was told with the one that is published now.

    A child of a worker's pool leaves this to the main process, which knows the same tasks.
    """
    if name in _told or is_pool_child() or (_told and find(name) is None):
        return
    if time.monotonic() - _told_at > AGAIN_S:
        tell(writes)


def tell(writes: Writer) -> None:
    """Tell which tasks there are, unless nothing has changed since."""
    global _told, _told_at
    with _lock:
        registered = dict(getattr(current_app, "_tasks", {}))
        _told_at = time.monotonic()
        if _told == frozenset(registered):
            return
        _told = frozenset(registered)
    parts = list(_parts([_seen(name, task) for name, task in sorted(registered.items())]))
    for number, part in enumerate(parts, 1):
        said: dict[str, Any] = {"what": "tasks", "celery": celery.__version__, "tasks": part}
        if len(parts) > 1:
            said.update(part=number, parts=len(parts))
        if locks.left_alone:
            said["left_alone"] = list(locks.left_alone)
        writes.write("observe", "tasks", said, name=(str(number), str(os.getpid())))


def note_main() -> None:
    """Note that this process is a worker's main one, whose pool is about to be forked."""
    global _main_pid
    _main_pid = os.getpid()


def is_pool_child() -> bool:
    """Say whether this process was forked by a worker as one of its pool."""
    return _main_pid not in (0, os.getpid())


def _seen(name: str, task: Any) -> dict[str, Any]:
    library = locks.library_of(task)
    return {"task": name, "sees": ["signals", library] if library else ["signals"]}


def _parts(tasks: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    part: list[dict[str, Any]] = []
    size = 0
    for task in tasks:
        needed = len(encode.canonical(task)) + 1
        if part and size + needed > MAX_BYTES:
            yield part
            part, size = [], 0
        part.append(task)
        size += needed
    yield part
