from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime

import pytest
import redis
from redis.client import PubSub

from access import store as access_store
from access.rows import COMMAND_LINE
from ledger.models import TreeHead
from tests.servers import Redis


@pytest.fixture
def make_head() -> Callable[[datetime], None]:
    """Commit a tree head at a moment."""

    def make(at: datetime) -> None:
        project = access_store.create_project(slug="acme", actor=COMMAND_LINE)
        TreeHead.objects.create(
            project_id=project.id, size=1, root=b"r" * 32, edge=b"", committed_at=at
        )

    return make


@pytest.fixture
def client(redis_server: Redis) -> Iterator[redis.Redis]:
    """Give a connection to a Redis that is empty."""
    with redis.Redis(port=redis_server.port) as connection:
        connection.flushall()
        yield connection


@pytest.fixture
def channel(client: redis.Redis) -> Iterator[PubSub]:
    """Listen to all channels of events and of the watch bus."""
    with client.pubsub(ignore_subscribe_messages=True) as subscription:
        subscription.psubscribe("pad:*")
        # A ping's answer comes behind that of the subscription.
        subscription.ping()
        while (answer := subscription.get_message(timeout=5)) is None or answer["type"] != "pong":
            pass
        yield subscription
