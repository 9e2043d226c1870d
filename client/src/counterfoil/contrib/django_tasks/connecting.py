"""Connects the handlers with the signals of Django's tasks, once for each process."""

from __future__ import annotations

import importlib
import importlib.util
from types import ModuleType
from typing import Any, Callable

from counterfoil.contrib import rim
from counterfoil.contrib.django_tasks import running

HANDLERS: dict[str, Callable[[Any], None]] = {
    "task_enqueued": running.on_enqueued,
    "task_started": running.on_started,
    "task_finished": running.on_finished,
}


def connect() -> None:
    """Connect all handlers; a second call changes nothing. Raises ImportError without tasks."""
    for module in find_signals():
        for name, work in HANDLERS.items():
            signal = getattr(module, name)
            # Without `weak=False` a handler that nobody else holds would be gone at once.
            signal.connect(_handler(name, work), weak=False, dispatch_uid=f"counterfoil.{name}")


def find_signals() -> list[ModuleType]:
    """Give the modules that have the signals: Django's own, the backport's, or both."""
    packages = [name for name in ("django.tasks", "django_tasks") if importlib.util.find_spec(name)]
    if not packages:
        raise ImportError("Django 6 has tasks; with an older one install the package django-tasks.")
    return [importlib.import_module(f"{name}.signals") for name in packages]


def _handler(name: str, work: Callable[[Any], None]) -> Callable[..., None]:
    def handle(task_result: Any = None, **_: Any) -> None:
        # What raises in a signal would be taken by a worker for the task's own failure.
        with rim.contained(name):
            work(task_result)

    return handle
