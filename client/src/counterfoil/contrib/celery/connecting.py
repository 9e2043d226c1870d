"""Connects the handlers with Celery's signals, once for each process."""

from __future__ import annotations

import os
from typing import Any, Callable

from celery import signals

from counterfoil.contrib.celery import (
    libraries,
    processes,
    publishing,
    receiving,
    revoking,
    rim,
    running,
)
from counterfoil.contrib.celery.wrapping import Hook

HANDLERS: dict[str, Callable[..., None]] = {
    "after_task_publish": publishing.on_published,
    "task_received": receiving.on_received,
    "task_revoked": receiving.on_revoked,
    "task_unknown": receiving.on_unknown,
    "task_rejected": receiving.on_rejected,
    "task_prerun": running.on_begun,
    "task_success": running.on_succeeded,
    "task_failure": running.on_failed,
    "task_internal_error": running.on_internal_error,
    "task_retry": running.on_retried,
    "task_postrun": running.on_ended,
    "worker_init": processes.on_worker_init,
    "worker_ready": processes.on_worker_ready,
    "worker_process_init": processes.on_process_init,
    "worker_process_shutdown": processes.on_process_shutdown,
}


def connect() -> None:
    """Connect all handlers and wrap what signals do not tell of; a second call changes nothing."""
    for name, work in HANDLERS.items():
        signal: Any = getattr(signals, name)
        # Without `weak=False` a handler that nobody else holds would be gone at once.
        signal.connect(rim.handler(name, work), weak=False, dispatch_uid=f"counterfoil.{name}")
    revoking.wrap()
    Hook(libraries.wraps()).install()


def is_off() -> bool:
    """Say whether COUNTERFOIL_OFF asks for leaving no trace."""
    return os.environ.get("COUNTERFOIL_OFF", "") not in ("", "0")
