"""The processes of a worker: what its main one tells, and what its pool leaves to that one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import counterfoil
from counterfoil.contrib.celery import registry
from counterfoil.contrib.celery.writing import writer


def on_worker_init(**_: Any) -> None:
    """Tell policy and tasks before the pool is forked, so that its children need not."""
    registry.note_main()
    on_worker_ready()


def on_worker_ready(**_: Any) -> None:
    """Tell of tasks that came to be known while the worker started."""
    writes = writer()
    writes.choice("")
    registry.tell(writes)


def on_process_init(**_: Any) -> None:
    """Leave the sending to the main process: a child has the interpreter for its tasks alone."""
    if not registry.is_pool_child():
        return
    client = counterfoil.get_client()
    client.settings = replace(client.settings, send=False)


def on_process_shutdown(**_: Any) -> None:
    """Close a child's spool in order; a child that ends otherwise has lost nothing either."""
    if registry.is_pool_child():
        counterfoil.close()
