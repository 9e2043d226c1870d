"""A publisher that does on a real Redis what each version of Pad is known to do.

The scripts are our own, after the tables of reference/pad.md sections 1.3, 1.4 and 5. Faults of a
version are kept: they are what the demo is about.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from config.demo.pad_names import TOKEN_S, Names, body

V0, V1, V2, V3 = "v0", "v1", "v2", "v3"
_FOLDER = Path(__file__).with_name("lua")
_LARGEST_SEED = 10**17 - 1
Event = Mapping[str, Any]


def _script(*names: str) -> str:
    return "\n".join((_FOLDER / f"{name}.lua").read_text("ascii") for name in names)


ASSIGN = {V2: _script("assign_forgetting"), V3: _script("repair_counter", "assign_repairing")}
PUBLISH = {
    V1: _script("publish_opaque"),
    V2: _script("publish_generation"),
    V3: _script("repair_counter", "publish_repairing"),
}
PUBLISH_WATCH = _script("publish_watch")


class Client(Protocol):
    """A connection to Redis, by the one method that the publisher needs."""

    def execute_command(self, *args: Any) -> Any: ...


@dataclass(frozen=True, slots=True)
class Published:
    """What a script answered: the id, 0 for a message that is out already, and a repair's shape."""

    id: int
    repaired: str = ""


def _answered(reply: Any) -> Published:
    if isinstance(reply, list):
        number, shape = (part.decode("ascii") for part in reply[:2])
        return Published(int(number), shape)
    return Published(int(reply))


@dataclass(frozen=True, slots=True)
class Publisher:
    """One instance of a version; `writes_epoch` is phase 2 of its roll, which V0 does not know.

    Raises `redis.RedisError` where the script does, which leaves behind what that version leaves.
    """

    client: Client
    version: str
    writes_epoch: bool = False
    names: Names = field(default_factory=Names)
    now_s: Callable[[], float] = time.time

    def publish(self, event: Event, token: str = "") -> Published:
        """Publish an event to its workspace; with a token a second time changes nothing."""
        if not self.writes_epoch:
            given = self.assign()
            self.send(event, given.id)
            return given
        named = self.names
        token_key = named.token(token or str(uuid.uuid4()))
        keys = [named.counter, named.channel(event["workspace_id"]), named.epoch, token_key]
        if self.version == V1:
            return self._run(PUBLISH[V1], keys, [body(event), str(uuid.uuid4()), TOKEN_S])
        seed = [min(max(int(self.now_s()), 1), _LARGEST_SEED)] if self.version == V3 else []
        keys.append(named.generations)
        return self._run(PUBLISH[self.version], keys, [body(event), TOKEN_S, *seed])

    def assign(self) -> Published:
        """Take the next id of a bare message: the first call of two, between which others come."""
        if self.version in ASSIGN:
            return self._run(ASSIGN[self.version], [self.names.counter, self.names.epoch], [])
        return Published(int(self.client.execute_command("INCR", self.names.counter)))

    def send(self, event: Event, number: int) -> None:
        """Send a bare message under an id that it was assigned: the second call."""
        channel = self.names.channel(event["workspace_id"])
        self.client.execute_command("PUBLISH", channel, body(event, number=number))

    def beat(self, workspace: str, frame: str = "hb|1") -> None:
        """Send a frame that says the channel lives; V3 alone knows it."""
        self.client.execute_command("PUBLISH", self.names.channel(workspace), frame)

    def publish_watch(self, notification: Event, token: str = "") -> Published:
        """Publish a notification to the watch bus, which is the same in every version."""
        named = self.names
        token_key = named.watch_token(token or str(uuid.uuid4()))
        keys = [named.watch_counter, named.watch_channel, named.watch_epoch, token_key]
        text = body(notification, id_name="ID")
        return self._run(PUBLISH_WATCH, keys, [text, str(uuid.uuid4()), TOKEN_S])

    def _run(self, script: str, keys: list[str], arguments: list[Any]) -> Published:
        return _answered(self.client.execute_command("EVAL", script, len(keys), *keys, *arguments))
