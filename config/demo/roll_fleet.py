"""The fleet of scenario 4: three replicas of Pad on a real Redis, in a namespace of their own.

One step at a time: what is published is awaited on every lane before the next step, so that a run
tells the same story each time.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import redis

from config.demo.moving_clocks import Clock
from config.demo.pad_names import Names
from config.demo.pad_publisher import V2, Published, Publisher
from config.demo.pad_replicas import Ear, PadReplica
from config.demo.roll_lines import ACTIVITY, OURS, WATCH, Away, Heard, Line, Provoked, Told
from events.domain.replicas import Given

WORKSPACES = ["ws-1", "ws-2", "ws-3"]
CLIENTS = {"r1": WORKSPACES, "r2": WORKSPACES, "r3": ["ws-3"]}
"""The workspaces that each replica has clients of: it receives those alone."""
REPLICAS = list(CLIENTS)
TAIL, NODE = "tail", "redis-1"
BEAT_S = 4.0
"""Seconds between two events of the story."""
Sink = Callable[[Line], None]


class Fleet:
    """Three replicas, an observer of our own, and the Redis that they share.

    Every line of the story goes to `sink` as it happens. `close` removes what it made in Redis.
    """

    def __init__(
        self, client: redis.Redis, names: Names, clock: Clock, sink: Sink, began_at: int
    ) -> None:
        self.client, self.names, self.clock, self._sink = client, names, clock, sink
        self._marks = f"counterfoil-demo:{names.namespace}"
        self._written = 0
        self.began_at = began_at
        self.newest: dict[str, int] = {}
        self.replicas = {one: PadReplica(one, scopes, names) for one, scopes in CLIENTS.items()}
        channels = [*map(names.channel, WORKSPACES), names.watch_channel]
        self._tail = Ear(client, channels, self._marks)
        self._losing: set[str] = set()
        self._hearing: tuple[str, ...] = (OURS,)

    @property
    def at(self) -> int:
        """Give the microseconds since the story began."""
        return self.clock.now() - self.began_at

    def start(self, name: str, version: str, *, flag: bool = False) -> None:
        """Start a process of a replica; what it did not see since its last one is a hole."""
        replica, at = self.replicas[name], self.at
        replica.start(self.client, self._marks, version, flag=flag, at=at)
        if replica.stopped_at is not None:
            self._sink(Away(replica.stopped_at, at, name))
        self.tell_replica(name)

    def restart(self, name: str, version: str, *, flag: bool = False) -> None:
        """Replace the process of a replica, while the others go on."""
        self.replicas[name].stop(self.at)
        others = [one for one in REPLICAS if one != name]
        for number, workspace in enumerate(WORKSPACES[:2]):
            self.say(workspace, others[number])
        self.start(name, version, flag=flag)

    def say(self, workspace: str, by: str = "r1", retry: str = "") -> Published:
        """Have a replica publish an event, and wait until it is received everywhere.

        Two calls that name the same `retry` are one event, which a lost reply has sent again.
        """
        process = self.replicas[by].running
        process.published += 1
        given = process.publisher.publish(self.event(workspace, by), retry)
        if given.id:
            self.newest[workspace] = given.id
        self.settle()
        self.clock.pass_s(BEAT_S)
        return given

    def chat(self, count: int, workspaces: Iterable[str] = ("ws-1", "ws-2", "ws-1")) -> None:
        """Have the replicas that run publish ordinary events in turn."""
        scopes = list(workspaces)
        for number in range(count):
            running = [one.name for one in self.replicas.values() if one.process]
            self.say(scopes[number % len(scopes)], running[number % len(running)])

    def event(self, workspace: str, by: str) -> dict[str, Any]:
        """Make an event like no other."""
        self._written += 1
        return {
            "type": "item_updated",
            "workspace_id": workspace,
            "item_id": f"item-{self._written % 17}",
            "title": f"Draft {self._written}",
            "actor": by,
            "timestamp": self.clock.now() // 1_000,
            "seq": self._written,
        }

    def lose_next(self, name: str) -> None:
        """Have a replica lose the next message on its way, without a trace."""
        self._losing.add(name)

    def settle(self) -> None:
        """Wait until all lanes have received what was published, and write it down."""
        mark = uuid.uuid4().hex
        self.client.publish(self._marks, mark)
        at = self.at
        heard = {TAIL: [(self._scope(name), text) for name, text in self._tail.read_to(mark)]}
        for name, replica in self.replicas.items():
            if replica.process:
                heard[name] = replica.read_to(mark, at, loses=name in self._losing)
        self._losing.clear()
        self._write(at, heard)

    def _scope(self, channel: str) -> str:
        start = self.names.channel("")
        return channel.removeprefix(start) if channel.startswith(start) else WATCH

    def resume(
        self, name: str, workspace: str, cursor: int, code: str = "", missed: Sequence[int] = ()
    ) -> Given:
        """Have a client come back to a replica.

        `code` is what the ledger has to make of the answer, `missed` what it is to name as missed.
        """
        given = self.replicas[name].resume(workspace, cursor)
        ids = [str(one) for one in given.ids]
        sent = {"served": len(ids), "first": ids[0], "last": ids[-1]} if ids else {}
        named = {"replica": name, "channel": workspace, "cursor": str(cursor)}
        self._sink(Told(self.at, "resume", {**named, "answer": given.answer, **sent}))
        if code:
            lost = tuple(str(one) for one in missed)
            self._sink(Provoked(self.at, code, name, missed=lost))
        return given

    def tell_replica(self, name: str) -> None:
        """Have a replica post its phase, its counters and the resets since it did so last."""
        replica = self.replicas[name]
        resets = replica.take_resets()
        told = {"replica": name, "phase": replica.phase, "metrics": replica.metrics()}
        started = {"started_at": replica.running.started_at, "namespace": self.names.namespace}
        self._sink(Told(self.at, "replica", {**told, **started, "resets": resets}))

    def tell_all(self) -> None:
        """Have all replicas post their counters, and dump the buffer of a workspace each."""
        for name, workspace in zip(REPLICAS, WORKSPACES, strict=True):
            self.tell_replica(name)
            self._sink(Told(self.at, "buffer", self.replicas[name].buffer(workspace)))

    def tell_head(self) -> int:
        """Have the newest id be read where it is counted, and posted."""
        value: Any = self.client.get(self.names.counter)
        head = int(value or 0)
        heads = [{"channel": "", "node": NODE, "epoch": self.epoch, "head": str(head)}]
        self._sink(Told(self.at, "heads", {"heads": heads}))
        return head

    @property
    def epoch(self) -> str | None:
        """Give the epoch as Redis has it."""
        value: Any = self.client.get(self.names.epoch)
        return None if value is None else value.decode()

    def provoked(self, code: str, *lanes: str, bus: str = ACTIVITY) -> None:
        """Note what the ledger has to find: on each of some lanes, or once for the whole bus."""
        for lane in lanes or ("",):
            self._sink(Provoked(self.at, code, lane, bus))

    def publisher(self, version: str, *, flag: bool = False) -> Publisher:
        """Give a publisher that is no replica's."""
        return Publisher(self.client, version, writes_epoch=flag, names=self.names)

    def notify(self, installations: tuple[str, ...] = (OURS,)) -> None:
        """Publish a notification to the watch bus, where some installations hear it."""
        at = self.clock.now() // 1_000
        self._hearing = installations
        notification = {"WorkspaceID": "ws-1", "Kind": "mention", "Timestamp": at}
        self.publisher(V2).publish_watch(notification)
        self.settle()
        self.clock.pass_s(BEAT_S)

    def close(self) -> None:
        """End all processes and remove the keys of the namespace."""
        for replica in self.replicas.values():
            if replica.process:
                replica.stop(self.at)
        self._tail.close()
        named = [self.names.counter, self.names.epoch, self.names.generations]
        self.client.delete(*named, self.names.watch_counter, self.names.watch_epoch)
        for key in self.client.scan_iter(f"{self.names.prefix}*:pub:*"):
            self.client.delete(key)

    def _write(self, at: int, heard: dict[str, list[tuple[str, str]]]) -> None:
        """Write each message once, with all the lanes that received it."""
        for number, message in enumerate(heard.pop(TAIL)):
            scope, text = message
            if scope == WATCH:
                for one in self._hearing:
                    self._sink(Heard(at + number, (TAIL,), scope, text, WATCH, one))
                continue
            lanes = [TAIL, *(name for name, told in heard.items() if message in told)]
            self._sink(Heard(at + number, tuple(lanes), scope, text))
