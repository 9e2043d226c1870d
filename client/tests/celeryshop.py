"""A Celery app for tests without a broker of its own, and locks that lie in memory."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

import celery
from celery.app.trace import trace_task
from celery_once import AlreadyQueued, QueueOnce
from celery_singleton import Singleton

import counterfoil.contrib.celery

held: dict[str, Any] = {}


class OnceLocks:
    """The lock backend of celery-once, in memory."""

    def __init__(self, settings: Any) -> None:
        self.settings = settings

    def raise_or_lock(self, key: str, timeout: float) -> None:
        if key in held:
            raise AlreadyQueued(timeout)
        held[key] = True

    def clear_lock(self, key: str) -> None:
        held.pop(key, None)


class SingletonLocks:
    """The lock backend of celery-singleton, in memory."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def lock(self, lock: str, task_id: str, expiry: Any = None) -> bool:
        return held.setdefault(lock, task_id) == task_id

    def unlock(self, lock: str) -> None:
        held.pop(lock, None)

    def get(self, lock: str) -> Any:
        return held.get(lock)


app = celery.Celery("shop", broker="memory://", set_as_current=True)
app.conf.update(
    task_ignore_result=True,
    ONCE={"backend": "celeryshop.OnceLocks", "settings": {"default_timeout": 60}},
    singleton_backend_class=SingletonLocks,
    singleton_backend_url="memory://",
)


@app.task(name="plain")
def plain(order: Any = None, *, note: Any = None) -> Any:
    return order


@app.task(name="fails")
def fails(text: str) -> None:
    raise ValueError(text)


@app.task(name="raises")
def raises(error: BaseException) -> None:
    raise error


@app.task(name="guarded")
def guarded(holder: str) -> None:
    counterfoil.skip(key={"order": 1}, reason="in_flight", holder=holder)


@app.task(name="once", base=QueueOnce)
def once(order: Any, note: Any = None, task: Any = None) -> None: ...


@app.task(name="once.by_order", base=QueueOnce, once={"keys": ["order"], "graceful": True})
def once_by_order(order: Any, note: Any = None) -> None: ...


@app.task(name="once.outer", base=QueueOnce)
def once_outer(order: Any) -> None:
    once.apply_async([order])


@app.task(name="single", base=Singleton)
def single(order: Any, note: Any = None) -> None: ...


class Silent(Singleton):
    """A class of an application that answers a duplicate in its own way."""

    abstract = True

    def on_duplicate(self, existing_task_id: Any) -> None:
        return None


@app.task(name="single.silent", base=Silent, unique_on="order")
def single_silent(order: Any, note: Any = None) -> None: ...


app.finalize(auto=True)


def run(task: Any, *args: Any, retries: int = 0, redelivered: bool = False, **kwargs: Any) -> str:
    """Run a task as a worker's child does, and give the id of the call."""
    call = str(uuid.uuid4())
    info = {"exchange": "", "routing_key": "orders", "redelivered": redelivered}
    request = {"id": call, "task": task.name, "retries": retries, "delivery_info": info}
    trace_task(task, call, args, kwargs, {**request, "hostname": "celery@here"}, app=app)
    return call


def receipts(spool: Path, **wanted: Any) -> list[dict[str, Any]]:
    """Give what this process has written, in the order of the files' names and lines."""
    listed = sorted(spool.iterdir()) if spool.exists() else []
    files = [file for file in listed if file.suffix in (".open", ".ready")]
    lines = [line for file in files for line in file.read_bytes().splitlines()]
    found = [json.loads(line) for line in lines if line.startswith(b'{"schema"')]
    return [one for one in found if all(one.get(name) == value for name, value in wanted.items())]
