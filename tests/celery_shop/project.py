"""Writes the shop: a Python package whose tasks know nothing of Counterfoil.

The one line that a user adds stands in `app.py`. The 40 tasks with a guard of their own call
`counterfoil.skip`, as the documentation tells people to. Each task notes in Redis that it ran, so
that the tests need not believe what they test.
"""

from __future__ import annotations

from pathlib import Path

ONCE, SINGLETON, GUARDED, SPECIAL = 100, 40, 40, 14
PLAIN = 400 - ONCE - SINGLETON - GUARDED - SPECIAL

APP = """
import os

import counterfoil.contrib.celery
from celery import Celery

REDIS = os.environ["SHOP_REDIS"]
app = Celery("shop", broker=REDIS, backend=REDIS, include=["shop.tasks", "shop.special"])
app.conf.update(
    ONCE={
        "backend": "celery_once.backends.Redis",
        "settings": {"url": REDIS, "default_timeout": 3600},
    },
    broker_transport_options={
        "visibility_timeout": int(os.environ.get("SHOP_VISIBILITY_S", 3600)),
        "unacked_restore_interval": 1,
        "unacked_restore_throttle": 1,
    },
    broker_connection_retry_on_startup=True,
    worker_prefetch_multiplier=int(os.environ.get("SHOP_PREFETCH", 4)),
    worker_max_tasks_per_child=int(os.environ.get("SHOP_TASKS_PER_CHILD", 0)) or None,
    worker_hijack_root_logger=False,
)
"""

COUNTS = '''
"""What the shop itself counts: how often each task ran, and what it turned away."""

from redis import Redis

from shop.app import REDIS

redis = Redis.from_url(REDIS, decode_responses=True)


def ran(task):
    redis.hincrby("ran", task.name, 1)
    redis.rpush("events", task.name)


def turned_away(task):
    redis.hincrby("turned_away", task.name, 1)
    redis.rpush("events", task.name)
'''

HEAD = """
from celery_once import QueueOnce
from celery_singleton import Singleton

import counterfoil
from shop.app import app
from shop.counts import ran, redis, turned_away
"""

PLAIN_TASK = """

@app.task(bind=True)
def plain_{n:03}(self, order, note=None):
    ran(self)
"""

ONCE_TASK = """

@app.task(bind=True, base=QueueOnce, once={once})
def once_{n:03}(self, order, note=None):
    ran(self)
"""

SINGLETON_TASK = """

@app.task(bind=True, base=Singleton, {options})
def singleton_{n:03}(self, order, note=None):
    ran(self)
"""

GUARDED_TASK = """

@app.task(bind=True)
def guarded_{n:03}(self, order, note=None):
    key = f"guard:guarded_{n:03}:{{order}}"
    if not redis.set(key, self.request.id, nx=True, ex=3600):
        counterfoil.skip(
            key={{"recipe": "shop.guard", "fields": {{"task": self.name, "order": order}}}},
            reason="in_flight",
            holder=redis.get(key),
        )
        return turned_away(self)
    ran(self)
"""

SPECIAL_TASKS = """
import os
import signal
import time

from celery.exceptions import Ignore, Reject, Retry
from celery_singleton import Singleton

from shop.app import app
from shop.counts import ran, redis


class Unpicklable(Exception):
    def __init__(self, text, lock):
        super().__init__(text)
        self.lock = lock


@app.task(bind=True)
def fails(self, order):
    ran(self)
    raise ValueError(f"no such order: {order}")


@app.task(bind=True, default_retry_delay=0, max_retries=1)
def retries(self, order):
    ran(self)
    if not self.request.retries:
        raise self.retry(exc=KeyError(order))


@app.task(bind=True)
def ignores(self, order):
    ran(self)
    raise Ignore(order)


@app.task(bind=True)
def rejects(self, order):
    ran(self)
    raise Reject(order, requeue=False)


@app.task(bind=True, acks_late=True)
def requeues_once(self, order):
    ran(self)
    if redis.set(f"requeued:{order}", 1, nx=True):
        raise Reject(order, requeue=True)


@app.task(bind=True)
def swallows(self, order):
    ran(self)
    raise Retry(f"later: {order}")


@app.task(bind=True, base=Singleton, default_retry_delay=0, max_retries=3)
def swallows_by_lock(self, order):
    ran(self)
    raise self.retry(exc=KeyError(order))


@app.task(bind=True)
def replaces(self, order):
    ran(self)
    raise self.replace(app.tasks["shop.special.echoes"].s(order))


@app.task(bind=True)
def echoes(self, order):
    ran(self)
    return order


@app.task(bind=True)
def naps(self, seconds):
    ran(self)
    time.sleep(seconds)


@app.task(bind=True, time_limit=1)
def naps_too_long(self, seconds):
    ran(self)
    time.sleep(seconds)


@app.task(bind=True)
def dies(self, order):
    ran(self)
    os.kill(os.getpid(), signal.SIGKILL)


@app.task(bind=True, acks_late=True, reject_on_worker_lost=True)
def dies_once(self, order):
    ran(self)
    if redis.set(f"died:{order}", 1, nx=True):
        os.kill(os.getpid(), signal.SIGKILL)


@app.task(bind=True, acks_late=True)
def naps_first(self, order, seconds):
    is_first = redis.set(f"napped:{order}", 1, nx=True)
    ran(self)
    if is_first:
        time.sleep(seconds)
"""

PUBLISH = '''
"""Publishes each kind of task twice with the same arguments, as two clicks of a customer would."""

import json
import sys

from celery_once import AlreadyQueued
from celery_singleton import DuplicateTaskError

import shop.tasks
from shop.app import app

kinds = sorted(name for name in app.tasks if name.startswith("shop.tasks."))
counted = {"published": 0, "once": 0, "singleton": 0}
for order, name in enumerate(kinds[:: int(sys.argv[1])]):
    known = set()
    for _click in range(2):
        try:
            result = app.tasks[name].delay(order, note="second thoughts")
        except AlreadyQueued:
            counted["once"] += 1
        except DuplicateTaskError:
            counted["singleton"] += 1
        else:
            if result.id is None:
                counted["once"] += 1
            elif result.id in known:
                counted["singleton"] += 1
            else:
                counted["published"] += 1
                known.add(result.id)
print(json.dumps(counted))
'''


def write(folder: Path) -> None:
    """Write the package `shop` into a folder."""
    package = folder / "shop"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    files = {"app": APP, "counts": COUNTS, "tasks": make_tasks(), "special": SPECIAL_TASKS}
    for name, text in {**files, "publish": PUBLISH}.items():
        (package / f"{name}.py").write_text(text.lstrip())


def make_tasks() -> str:
    """Return the module of the tasks that come by the hundred."""
    parts = [HEAD]
    parts += [PLAIN_TASK.format(n=n) for n in range(PLAIN)]
    parts += [ONCE_TASK.format(n=n, once=once_options(n)) for n in range(ONCE)]
    parts += [SINGLETON_TASK.format(n=n, options=singleton_options(n)) for n in range(SINGLETON)]
    parts += [GUARDED_TASK.format(n=n) for n in range(GUARDED)]
    return "".join(parts)


def once_options(number: int) -> str:
    """Return the ways in which people set celery-once up, one after the other."""
    return str([{}, {"graceful": True}, {"keys": ["order"]}][number % 3])


def singleton_options(number: int) -> str:
    """Return the ways in which people set celery-singleton up, one after the other."""
    ways = ["lock_expiry=60", "raise_on_duplicate=True, lock_expiry=60", "unique_on='order'"]
    return ways[number % 3]
