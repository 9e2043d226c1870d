"""Short words for feeding models of replicas."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from events.domain.records import BARE, FRAME, HOLE, JUNK, PREFIXED, SECOND, Record
from events.domain.replicas import Replica
from events.domain.replicas.watch import WatchReplica
from events.domain.simulate import Seen, compare

WS = "ws-1"
VERSIONS = ("v0", "v1", "v2", "v3")
END = 1_000 * SECOND


def record(form: str, at: float = 0, scope: str = WS, **more: Any) -> Record:
    """Make a record at so many seconds."""
    return Record(round(at * SECOND), "i1", "activity", "tail", scope, form, **more)


def bare(id: int, at: float = 0, scope: str = WS) -> Record:
    """Make a message without an epoch."""
    return record(BARE, at, scope, id=id)


def prefixed(epoch: object, id: int, at: float = 0, scope: str = WS) -> Record:
    """Make a message with its epoch."""
    return record(PREFIXED, at, scope, epoch=str(epoch), id=id)


def junk(at: float = 0, scope: str = WS) -> Record:
    """Make a message of neither form, or of another workspace."""
    return record(JUNK, at, scope)


def frame(at: float = 0, scope: str = WS) -> Record:
    """Make a liveness frame."""
    return record(FRAME, at, scope)


def hole(at: float = 0, until: float = 0, scope: str = "") -> Record:
    """Make a time in which nobody watched."""
    return record(HOLE, at, scope, until=round(until * SECOND))


def fed(version: str, *records: Record, **options: Any) -> Replica:
    """Give a replica that follows the channels of these records and took them."""
    replica = Replica(version, **options)
    for one in records:
        replica.follow(one.scope)
        replica.take(one)
    return replica


def asked(replica: Replica | WatchReplica, cursor: int, scope: str = WS) -> str:
    """Ask with a cursor, and give the answer in short: gap, empty, or the ids."""
    given = (
        replica.resume(cursor)
        if isinstance(replica, WatchReplica)
        else replica.since(scope, cursor)
    )
    if given.answer == "sync_required":
        return "gap"
    return " ".join(map(str, given.ids)) or "empty"


def of_space(space: int, *records: Record) -> list[Seen]:
    """Say that these records are all of one ID space."""
    return [Seen(one, space) for one in records]


def told(version: str, own: Iterable[Seen], cursor: object, **more: Any) -> tuple[Any, ...]:
    """Ask for one cursor; give both answers, the code and the ids that are missed."""
    found = compare(version, list(own), cursor, scope=WS, at=END, **more)
    ids = [one.id for one in found.missed]
    return found.given.answer, found.safe.answer, found.code, ids
