"""celery-once: a call that finds the lock taken raises AlreadyQueued, or gives a refused result.

The library knows no original. It compares the text of each value (`str`), so 1 and "1" are equal;
the key says the same.
"""

from __future__ import annotations

import functools
import importlib
from typing import Any, Callable

from celery import states
from celery.result import EagerResult

from counterfoil.contrib.celery import locks, rim
from counterfoil.contrib.celery.locks import Fields, LockedCall

EVENT = "celery_once.already_queued"


def wrap(module: Any) -> None:
    """Wrap `QueueOnce.apply_async` of the module `celery_once.tasks`."""
    kind = module.QueueOnce
    locks.classes[locks.ONCE] = kind
    if not getattr(kind.apply_async, "counterfoil", False):
        kind.apply_async = _recording(kind.apply_async, module)


def _recording(original: Callable[..., Any], module: Any) -> Callable[..., Any]:
    @functools.wraps(original)
    def apply_async(self: Any, args: Any = None, kwargs: Any = None, **options: Any) -> Any:
        call = locks.begin(locks.ONCE, self, args, kwargs, lambda: compared(self, args, kwargs))
        try:
            result = original(self, args, kwargs, **options)
        except module.AlreadyQueued as error:
            _tell_of(call, error)
            raise
        finally:
            locks.end(call)
        if _is_refused(result):
            with rim.contained("a skip of celery-once"):
                locks.skip(call, EVENT)
        return result

    apply_async.counterfoil = True  # type: ignore[attr-defined]
    return apply_async


def compared(task: Any, args: Any, kwargs: Any) -> Fields:
    """Give the text of each value that the lock's name is made of, as the library makes it."""
    as_text = importlib.import_module("celery_once.helpers").force_string
    bound = task._get_call_args(args or {}, kwargs or {})
    wanted = task.once.get("keys", None)
    names = bound if wanted is None else wanted
    return {str(name): str(as_text(bound[name])) for name in names}


def _tell_of(call: LockedCall, error: Any) -> None:
    # A task that runs eagerly may let the refusal of a call inside it through: it is told there.
    if getattr(error, "counterfoil_told", False):
        return
    with rim.contained("a skip of celery-once"):
        error.counterfoil_told = True
        remains = getattr(error, "countdown", None)
        data = {"expires_in_s": remains} if isinstance(remains, (int, float)) else None
        locks.skip(call, EVENT, data)


def _is_refused(result: Any) -> bool:
    is_eager = isinstance(result, EagerResult)
    return is_eager and result.id is None and result.state == states.REJECTED
