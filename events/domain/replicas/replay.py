"""A recorded lane played to a version: the replica as it would have been at an instant."""

from __future__ import annotations

from collections.abc import Iterable

from events.domain.profiles import WATCH_PROFILES
from events.domain.records import HOLE, Record
from events.domain.replicas.replica import Replica
from events.domain.replicas.ring import CAPACITY
from events.domain.replicas.watch import WatchReplica


def replay(
    version: str, records: Iterable[Record], until: int | None = None, capacity: int = CAPACITY
) -> Replica:
    """Return the replica that received these records up to and with a time, in microseconds.

    It is taken to have been subscribed to each channel from its first message on, so that nothing
    that was recorded is missing from it.
    """
    replica = Replica(version, capacity=capacity)
    for record in records:
        if until is not None and record.at > until:
            continue
        if record.form != HOLE:
            replica.follow(record.scope, record.at)
        replica.take(record)
    return replica


def replay_watch(
    profile: str, records: Iterable[Record], until: int, capacity: int = CAPACITY
) -> WatchReplica:
    """Return the replica of the watch bus that received these records up to and with a time."""
    replica = WatchReplica(profile, capacity)
    for record in records:
        if record.at <= until:
            replica.take(record)
    return replica


def model_of(
    version: str, records: Iterable[Record], until: int, capacity: int = CAPACITY
) -> Replica | WatchReplica:
    """Return the model of a version of the activity bus, or of the watch bus by its profile."""
    play = replay_watch if version in WATCH_PROFILES else replay
    return play(version, records, until, capacity)
