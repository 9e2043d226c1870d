"""What one tail watches, and how its messages become rows."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from events.domain import key_values, long_messages, profiles
from events.domain.bus_settings import BusSettings
from events.domain.recording import Recorded, Recorder
from events.domain.segments import Lane
from events.integrations.redis_address import Address
from events.integrations.redis_pushes import BEGINNING
from events.integrations.sources import Batch
from ledger import keys
from ledger.domain import draft

MOST_CHANNELS = 10_000
PURPOSE = "message"
"""What fingerprints of messages are keyed for, apart from all else under the project's key."""


@dataclass(frozen=True, slots=True)
class Watched:
    """One bus of one installation, seen as one replica sees it."""

    project_id: int
    installation: str
    bus: str
    replica: str
    settings: BusSettings
    address: Address = field(default_factory=Address)
    namespace: str = ""

    @property
    def channels(self) -> tuple[str, ...]:
        """Give the names or patterns to subscribe to."""
        own = key_values.channels_of(self.settings.profile, self.namespace)
        return self.settings.channels or own

    def lane(self, incarnation: str = "") -> Lane:
        """Give the lane of a new incarnation, or of one that is named."""
        name = incarnation or str(uuid.uuid4())
        return Lane(self.installation, self.bus, self.replica, self.settings.profile, name)


class Rows:
    """Makes rows of what comes; `channels` are those that messages came on, up to a bound."""

    def __init__(self, watched: Watched) -> None:
        self._recorder = Recorder(watched.settings, signer(watched.project_id))
        self._scope = lru_cache(4096)(_scope_of(watched))
        self._profile = watched.settings.profile
        self.channels: set[str] = set()

    def of_batch(self, batch: Batch) -> Iterator[Recorded]:
        """Yield the rows of a batch of messages."""
        if batch.entry:
            yield self._recorder.record_entry(batch.at, batch.stream, batch.entry, batch.pairs)
        at, record, scope = batch.at, self._recorder.record, self._scope
        for channel, raw, length in batch.messages:
            if length == len(raw):
                yield record(at, scope(channel), raw)
            else:
                yield self._of_long(at, scope(channel), raw, length)
        if len(self.channels) < MOST_CHANNELS:
            names = {channel for channel, _, _ in batch.messages}
            self.channels.update(name.decode("utf-8", "replace") for name in names)

    def of_message(self, at: int, channel: str, raw: bytes) -> Recorded:
        """Give the row of one message."""
        return self._recorder.record(
            at, self._scope(channel.encode("utf-8", "surrogateescape")), raw
        )

    def _of_long(self, at: int, scope: str, raw: bytes, length: int) -> Recorded:
        short = long_messages.shortened(self._profile, scope, raw[:BEGINNING])
        return long_messages.as_cut(self._recorder.record(at, scope, short), length)


def signer(project_id: int) -> Callable[[bytes], bytes]:
    """Give the function that hashes under a project's key."""
    key = keys.project_key(project_id)
    return lambda raw: draft.keyed(key, PURPOSE, raw)


def _scope_of(watched: Watched) -> Callable[[bytes], str]:
    """Give what turns a channel into a scope: for Pad's activity bus its workspace."""
    prefix = ""
    if watched.settings.profile in profiles.ACTIVITY_PROFILES:
        prefix = key_values.prefix_of(watched.namespace) + "events:"
    return lambda channel: channel.decode("utf-8", "surrogateescape").removeprefix(prefix)
