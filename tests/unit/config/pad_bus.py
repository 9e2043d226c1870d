"""A real Redis as Pad's publishers use it: what was said on it, and how its keys are broken."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import redis
from redis.client import PubSub

from config.demo.pad_names import Names
from config.demo.pad_publisher import Publisher

EVENT = {"type": "item_updated", "workspace_id": "ws-1", "title": "a|b <c> & d", "timestamp": 1}
NAMES = Names()
SEED = 1_780_000_000


def heard(channel: PubSub, client: redis.Redis) -> list[str]:
    """Give what was published up to now; one more message marks the end."""
    end = uuid.uuid4().hex
    client.publish("pad:end", end)
    found: list[str] = []
    while True:
        message = channel.get_message(timeout=5)
        assert message is not None
        text = message["data"].decode()
        if text == end:
            return found
        found.append(text)


def publisher(client: redis.Redis, version: str, *, writes_epoch: bool = True) -> Publisher:
    return Publisher(client, version, writes_epoch=writes_epoch, now_s=lambda: SEED)


def text_of(client: redis.Redis, key: str) -> str | None:
    value: Any = client.get(key)
    return None if value is None else value.decode()


@contextmanager
def without_right_to_publish(client: redis.Redis) -> Iterator[None]:
    """Have scripts fail at their PUBLISH, behind the INCR that V3 repairs all faults of."""
    client.execute_command("ACL", "SETUSER", "default", "-publish")
    try:
        yield
    finally:
        client.execute_command("ACL", "SETUSER", "default", "+publish")


def put(client: redis.Redis, key: str, kind: str, value: str) -> None:
    if kind == "list":
        client.rpush(key, value)
    elif kind == "hash":
        client.hset(key, "field", value)
    else:
        client.set(key, value)
