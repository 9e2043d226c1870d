"""Replicas that receive from a real Redis and do with it what their version of Pad would do.

How they decide is a model of events/domain/replicas; what they receive, they receive by Redis.
Source: reference/pad.md sections 3, 4 and 7.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import redis
from redis.client import PubSub

from config.demo.pad_names import Names
from config.demo.pad_publisher import V0, Publisher
from events.domain import wire
from events.domain.decoded import Decoded, Frame
from events.domain.records import FRAME, JUNK, Record
from events.domain.replicas import Given, Replica
from events.domain.replicas.ring import CAPACITY

ANSWER_S = 10.0
_RESETS = "pad_event_sequence_resets_total"


class Silent(RuntimeError):
    """Redis does not hand on what was published to it; is its connection cut?"""


class Ear:
    """A subscription that can be read up to a mark, behind which nothing of before can come."""

    def __init__(self, client: redis.Redis, channels: list[str], marks: str) -> None:
        self._marks = marks
        self._subscription = PubSub(client.connection_pool)
        self._subscription.subscribe(*channels, marks)
        for _ in (*channels, marks):
            self._next()

    def read_to(self, mark: str) -> list[tuple[str, str]]:
        """Give channel and text of what came before a mark."""
        found: list[tuple[str, str]] = []
        while True:
            channel, text = self._next()
            if channel != self._marks:
                found.append((channel, text))
            elif text == mark:
                return found

    def _next(self) -> tuple[str, str]:
        message = self._subscription.get_message(timeout=ANSWER_S)
        if message is None:
            raise Silent(f"nothing came within {ANSWER_S:.0f} s")
        data = message["data"]
        return message["channel"].decode(), data.decode() if isinstance(data, bytes) else ""

    def close(self) -> None:
        """End the subscription."""
        self._subscription.close()


@dataclass(slots=True)
class Process:
    """One life of a replica: its publisher, its ear, and the model that decides."""

    publisher: Publisher
    ear: Ear
    model: Replica
    started_at: int
    published: int = 0


class PadReplica:
    """A replica by its name, through all its processes."""

    def __init__(self, name: str, workspaces: list[str], names: Names) -> None:
        self.name, self.workspaces, self.names = name, workspaces, names
        self.process: Process | None = None
        self.stopped_at: int | None = None
        self._resets: list[dict[str, Any]] = []

    @property
    def running(self) -> Process:
        """Give its process; ValueError while it is stopped."""
        if self.process is None:
            raise ValueError(f"{self.name} does not run")
        return self.process

    def start(self, client: redis.Redis, marks: str, version: str, *, flag: bool, at: int) -> None:
        """Start a process with empty buffers, of a version, in phase 2 with the flag."""
        channels = [self.names.channel(one) for one in self.workspaces]
        model = Replica(version)
        for one in self.workspaces:
            model.subscribe(one, at)
        publisher = Publisher(client, version, writes_epoch=flag, names=self.names)
        self.process = Process(publisher, Ear(client, channels, marks), model, at)

    def stop(self, at: int) -> None:
        """End the process; what is published from now on it never sees."""
        self.running.ear.close()
        self.process, self.stopped_at = None, at

    def read_to(self, mark: str, at: int, *, loses: bool = False) -> list[tuple[str, str]]:
        """Receive up to a mark; give workspace and text of each message, without a lost one."""
        start = len(self.names.channel(""))
        heard = [(channel[start:], text) for channel, text in self.running.ear.read_to(mark)]
        del heard[: int(loses)]
        for workspace, text in heard:
            self._take(record_of(self.running.publisher.version, workspace, text, at))
        return heard

    def _take(self, record: Record) -> None:
        """Take a message, and note the resets that it brought as the version's log would."""
        model = self.running.model
        before = Counter(model.resets)
        model.take(record)
        fields = {"workspace": record.scope, "id": str(record.id)}
        self._resets += [
            {"reason": reason, "at": record.at, "fields": fields}
            for reason in (model.resets - before).elements()
        ]

    def resume(self, workspace: str, cursor: int) -> Given:
        """Answer a client that comes back with a cursor."""
        return self.running.model.resume(workspace, str(cursor))

    def buffer(self, workspace: str) -> dict[str, Any]:
        """Dump the replay buffer of a workspace."""
        model = self.running.model
        ring = model.buffers.get(workspace)
        ids = list(ring.ids) if ring else []
        return {
            "replica": self.name,
            "channel": workspace,
            "epoch": str(model.space.epoch) if model.space.epoch else None,
            "floor": str(ring.known_from) if ring else None,
            "high_water": str(max(ids)) if ids else None,
            "capacity": CAPACITY,
            "ids": [str(one) for one in ids],
        }

    def metrics(self) -> dict[str, int]:
        """Give what the process counts."""
        model = self.running.model
        resets = {f'{_RESETS}{{reason="{why}"}}': n for why, n in sorted(model.resets.items())}
        return {
            **resets,
            "pad_event_resume_gaps_total": model.resume_gaps,
            "pad_event_receive_loop_exits_total": model.loop_exits,
            "pad_eventbus_publish_total": self.running.published,
        }

    def take_resets(self) -> list[dict[str, Any]]:
        """Give the resets since this was asked last, in order."""
        taken, self._resets = self._resets, []
        return taken

    @property
    def phase(self) -> str:
        """Name its state in the roll: S0, S1, S1a, S2 or S2a."""
        one = self.running
        if one.publisher.version == V0:
            return "S0"
        adopted = "a" if one.model.space.epoch else ""
        return f"S{2 if one.publisher.writes_epoch else 1}{adopted}"


def record_of(version: str, scope: str, text: str, at: int) -> Record:
    """Decode a message as a version does."""
    answer = wire.decode(version, scope, text.encode())
    form, epoch, number = JUNK, None, None
    if isinstance(answer, Frame):
        form = FRAME
    elif isinstance(answer, Decoded):
        form, epoch, number = answer.form, answer.epoch, answer.id
    return Record(at, "", "activity", "", scope, form, epoch, number)
