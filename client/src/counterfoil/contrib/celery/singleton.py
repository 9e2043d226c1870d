"""celery-singleton: a call that finds the lock taken is answered with the job that holds it.

It compares the JSON of the arguments, positional and named apart, or of those in `unique_on`.
"""

from __future__ import annotations

import functools
import inspect
import json
from typing import Any, Callable

from counterfoil.contrib.celery import locks, rim
from counterfoil.contrib.celery.locks import Fields

EVENT = "celery_singleton.on_duplicate"


def wrap(module: Any) -> None:
    """Wrap what `Singleton` of the module `celery_singleton.singleton` decides with."""
    kind = module.Singleton
    locks.classes[locks.SINGLETON] = kind
    if not getattr(kind.on_duplicate, "counterfoil", False):
        kind.apply_async = _noting(kind.apply_async)
        kind.get_existing_task_id = _remembering(kind.get_existing_task_id)
        kind.on_duplicate = _recording(kind.on_duplicate)


def _noting(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def apply_async(
        self: Any, args: Any = None, kwargs: Any = None, *more: Any, **options: Any
    ) -> Any:
        call = locks.begin(
            locks.SINGLETON, self, args, kwargs, lambda: compared(self, args, kwargs)
        )
        try:
            return original(self, args, kwargs, *more, **options)
        finally:
            locks.end(call)
            # A class of the application may answer a duplicate in its own way, without the
            # library's `on_duplicate`; a holder is asked for only when the lock is taken.
            if call.existing:
                with rim.contained("a skip of celery-singleton"):
                    locks.skip(call, EVENT)

    return apply_async


def _remembering(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def get_existing_task_id(self: Any, *args: Any, **kwargs: Any) -> Any:
        found = original(self, *args, **kwargs)
        call = locks.current()
        if found and call is not None and call.task is self:
            call.existing = _text_of(found)
        return found

    return get_existing_task_id


def _recording(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def on_duplicate(self: Any, existing_task_id: Any, *args: Any, **kwargs: Any) -> Any:
        call = locks.current()
        with rim.contained("a skip of celery-singleton"):
            if call is None or call.task is not self:
                call = locks.LockedCall(locks.SINGLETON, self, None, None)
            call.existing = _text_of(existing_task_id)
            locks.skip(call, EVENT)
        return original(self, existing_task_id, *args, **kwargs)

    on_duplicate.counterfoil = True  # type: ignore[attr-defined]
    return on_duplicate


def compared(task: Any, args: Any, kwargs: Any) -> Fields:
    """Give the text of each value that the lock is made of, as the library makes it."""
    args, kwargs = args or [], kwargs or {}
    wanted = [task.unique_on] if isinstance(task.unique_on, str) else task.unique_on
    if wanted:
        bound = inspect.signature(task.run).bind(*args, **kwargs).arguments
        return {name: _json(bound[name]) for name in wanted}
    positional = {f"args.{number}": _json(value) for number, value in enumerate(args)}
    return {**positional, **{f"kwargs.{name}": _json(value) for name, value in kwargs.items()}}


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _text_of(found: Any) -> str:
    return found.decode("utf-8", "replace") if isinstance(found, bytes) else str(found)
