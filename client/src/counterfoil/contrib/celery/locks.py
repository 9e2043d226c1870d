"""Calls of tasks that a lock library guards: their keys, and the skips that no signal tells of.

Both libraries decide before anything is published. A call is noted while it is in the library's
hands, so that its enqueue and its skip bear the same key.
"""

from __future__ import annotations

import contextvars
from typing import Any, Callable

from counterfoil.contrib.celery import attempts, rim
from counterfoil.contrib.celery.writing import function_of, writer

ONCE, SINGLETON = "once", "singleton"

classes: dict[str, type] = {}
"""The class of each library whose skips are recorded."""
left_alone: list[dict[str, str]] = []
"""Libraries of versions that are not known here: package and version."""

Fields = dict[str, str]


class LockedCall:
    """One call that a lock library decides about."""

    __slots__ = ("args", "existing", "is_told", "key", "kwargs", "library", "task", "token")

    def __init__(self, library: str, task: Any, args: Any, kwargs: Any) -> None:
        self.library, self.task, self.args, self.kwargs = library, task, args, kwargs
        self.key: dict[str, Any] | None = None
        self.existing = ""
        self.is_told = False
        self.token: contextvars.Token[LockedCall | None] | None = None


_current: contextvars.ContextVar[LockedCall | None] = contextvars.ContextVar(
    "counterfoil_celery_locked", default=None
)


def begin(
    library: str, task: Any, args: Any, kwargs: Any, compared: Callable[[], Fields]
) -> LockedCall:
    """Note a call; `compared` gives the text of each value that the library's lock compares."""
    call = LockedCall(library, task, args, kwargs)
    with rim.contained(f"a key of celery-{library}"):
        call.key = _key_of(library, task.name, compared)
    call.token = _current.set(call)
    return call


def end(call: LockedCall) -> None:
    """Say that the library has decided."""
    if call.token is not None:
        _current.reset(call.token)


def current() -> LockedCall | None:
    """Give the call that a library decides about here."""
    return _current.get()


def published(task: str) -> LockedCall | None:
    """Give the call whose message was just published, when a library let it through."""
    call = _current.get()
    return call if call is not None and call.task.name == task else None


def library_of(task: Any) -> str:
    """Give the library that guards the task and is recorded; empty for none."""
    for library, kind in classes.items():
        if isinstance(task, kind):
            return library
    return ""


def skip(call: LockedCall, event: str, data: dict[str, Any] | None = None) -> None:
    """Record that the library turned the call away; once for each call."""
    if call.is_told:
        return
    call.is_told = True
    writes = writer()
    running = attempts.current()
    fields = {
        "job": {"task": call.task.name},
        "reason": "in_flight",
        "key": call.key,
        "subjects": writes.subjects(call.task.name, call.args, call.kwargs, function_of(call.task)),
        "workflow": {"parent": running.call.id} if running is not None else None,
    }
    # Left out where it is not known, and not null: that would say that there is none.
    if call.existing:
        fields["original"] = {"job": call.existing}
    writes.write("skip", event, fields, data, name=(call.task.name, str(id(call))), durable=True)


def _key_of(library: str, task: str, compared: Callable[[], Fields]) -> dict[str, Any] | None:
    client = writer().client
    if not client.settings.digest_key:
        # Sizes alone would make different calls look equal, which is worse than no key.
        rim.say_once(
            "no digest key",
            "COUNTERFOIL_DIGEST_KEY is not set, so skips and enqueues of lock libraries have no "
            "key, and a skip of celery-once names no original.",
        )
        return None
    # No argument is called `task` in here, so that it cannot hide the task's own name.
    fields = {
        f"args.{name}" if name == "task" else name: client.digest(text)
        for name, text in compared().items()
    }
    return {"recipe": f"celery.{library}", "version": "1", "fields": {"task": task, **fields}}
