"""A recorded lane played to a version: the replica as it would have been at an instant."""

from __future__ import annotations

from collections.abc import Iterable

from events.domain.records import HOLE, Record
from events.domain.replicas.replica import Replica
from events.domain.replicas.ring import CAPACITY


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
