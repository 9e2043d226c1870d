"""The resume simulator: what a version would have answered, beside what was safe.

The version's answer comes from a model of its replica, the safe one from the resume rule on the
lane as it truly was. Ids are compared by number, as both do: that one came behind a greater one is
not seen. Source: reference/events-and-loops.md sections 4 and 5.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from events.domain.given_answers import (
    AMBIGUOUS_RESUME,
    NEEDLESS_RESYNC,
    SILENT_SKIP,
    difference,
    judge_given,
)
from events.domain.profiles import WATCH_PROFILES
from events.domain.replicas import Given, Replica
from events.domain.replicas.replay import model_of
from events.domain.replicas.ring import CAPACITY
from events.domain.replicas.watch import WatchReplica
from events.domain.resume import (
    AFTER_EPOCH_CHANGE,
    NUMBER_IN_TWO_SPACES,
    Answer,
    Lane,
    answer,
    cursor_number,
)
from events.domain.true_lanes import Seen, TrueLane, Union

__all__ = [
    "AMBIGUOUS_RESUME", "NEEDLESS_RESYNC", "SILENT_SKIP", "Compared", "Missed", "Seen",
    "Simulation", "compare", "judge_given",
]  # fmt: skip


class Missed(NamedTuple):
    """A message that the client would not get: its ID space, with the epoch where it has one."""

    space: int
    epoch: str | None
    id: int


@dataclass(frozen=True, slots=True)
class Compared:
    """The two answers to one cursor, the code where they differ, and what would be missed."""

    cursor: object
    epoch: str | None
    given: Given
    safe: Answer
    code: str | None
    missed: tuple[Missed, ...] = ()


class Simulation:
    """One channel of a replica at an instant, of which any cursor can be asked.

    `own` is what the replica was sent, in the order in which it came; `others` what other replicas
    saw of the bus. `at` is in microseconds since 1970. The version is one of the activity bus, or
    a profile of the watch bus, on which a missing id is a loss.
    """

    def __init__(
        self,
        version: str,
        own: Sequence[Seen],
        others: Iterable[Seen] = (),
        *,
        scope: str,
        at: int,
        capacity: int = CAPACITY,
    ) -> None:
        past = [one for one in own if one.record.at <= at]
        self.scope = scope
        records = [one.record for one in past]
        self.replica: Replica | WatchReplica = model_of(version, records, at, capacity)
        self._union = Union(past, others, at)
        self._spaces = {one.record: one.space for one in past}
        profile = self.replica.version
        true_lane = TrueLane(scope, profile, capacity, is_dense=version in WATCH_PROFILES)
        for one in past:
            true_lane.take(one)
        self.space = true_lane.space
        self.lane: Lane = true_lane.lane(self._union)

    def ask(self, cursor: object, epoch: str | None = None) -> Compared:
        """Compare the two answers to a cursor; the version sees its number alone."""
        given = self.replica.would_resume(self.scope, cursor)
        safe = answer(self.lane, cursor, epoch)
        code = difference(given.kind, safe)
        is_served = code in (SILENT_SKIP, AMBIGUOUS_RESUME)
        missed = self._missed(given, safe, cursor, epoch) if is_served else ()
        return Compared(cursor, epoch, given, safe, code, missed)

    def _missed(
        self, given: Given, safe: Answer, cursor: object, epoch: str | None
    ) -> tuple[Missed, ...]:
        """Give what was published behind the client's place and is not sent."""
        sent = {(self._spaces[one], one.id) for one in given.records}
        place = self._place(safe, cursor_number(cursor) or 0, epoch)
        return tuple(
            Missed(one.space, self._union.epochs.get(one.space), one.number)
            for one in self._union.messages(self.scope)
            if (one.space, one.number) > place and (one.space, one.number) not in sent
        )

    def _place(self, safe: Answer, cursor: int, epoch: str | None) -> tuple[int, int]:
        """Give the space and id up to which the client has seen everything.

        A bare number is of the newest space that reached it, except where the rule's doubt is just
        whether it is of an older one. A number that no space reached is before the one the lane
        is in, since nothing of that is known to have been seen.
        """
        reached = sorted(one for one, top in self._union.greatest.items() if cursor <= top)
        if epoch is not None:
            reached = [one for one, known in self._union.epochs.items() if known == epoch]
        elif safe.rule in (NUMBER_IN_TWO_SPACES, AFTER_EPOCH_CHANGE):
            reached = [one for one in reached if one != self.space] or reached
        return (max(reached), cursor) if reached else (self.space or 0, -1)


def compare(
    version: str,
    own: Sequence[Seen],
    cursor: object,
    *,
    scope: str,
    at: int,
    epoch: str | None = None,
    others: Iterable[Seen] = (),
    capacity: int = CAPACITY,
) -> Compared:
    """Compare the two answers to one cursor; a Simulation answers several at less cost."""
    return Simulation(version, own, others, scope=scope, at=at, capacity=capacity).ask(
        cursor, epoch
    )
