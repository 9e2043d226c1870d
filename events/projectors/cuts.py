"""Lanes as a batch left them so far: what is stored, and the batch's own messages over it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from events.domain.lane_facts import LaneFacts, SpaceFacts
from events.domain.resume import Lane, cursor_number
from events.projectors.lanes import NOWHERE, Lanes
from events.projectors.rows import LaneRow
from events.queries import lane_state, messages
from events.queries.messages import Numbered, Span
from ledger.queries.as_of import LAST_LEAF


@dataclass(frozen=True, slots=True)
class Cut:
    """A lane at one receipt; `stored` are those of its messages that are in their table."""

    facts: LaneFacts
    stored: Span
    has_let_go: bool

    def is_short(self, lane: Lane, cursor: object) -> bool:
        """Tell whether messages that a cursor is about may have been let go, or never seen."""
        number = cursor_number(cursor)
        is_below = number is not None and not lane.cold and number < lane.floor - 1
        return is_below and self.has_let_go


@dataclass(slots=True)
class Cuts:
    """Gives lanes of a batch as they are now, and their ids."""

    project_id: int
    lanes: Lanes

    def of(self, row: LaneRow) -> Cut:
        """Give a lane as it is now."""
        spaces = [
            SpaceFacts(
                one.ordinal, one.epoch, one.kind, one.born_at, one.last_at, one.first, one.greatest
            )
            for one in self.lanes.spaces_of(row.lane)
        ]
        facts = LaneFacts(row.lane, row.replica, spaces, row.space)
        span = Span(row.lane, row.kept_from, row.messages)
        return Cut(facts, span, has_let_go=row.kept_from > 0)

    def newest(self, cut: Cut, channel: str, limit: int) -> list[Numbered]:
        """Give the newest messages of a channel where a lane is, newest first."""
        return self._newest_of(cut, channel, cut.facts.together, limit)

    def last_junk(self, cut: Cut, channel: str, found: Sequence[Numbered]) -> int:
        """Give the ordinal of the last message of a channel that could not be read, -1 for none.

        It is looked for among the messages that were found and between them.
        """
        if not found:
            return NOWHERE
        span = Span(cut.facts.lane, found[-1].ordinal, cut.stored.end)
        return max(
            messages.last_junk(self.project_id, span, channel),
            self.lanes.last_junk(cut.facts.lane, channel),
        )

    def watched_since(self, cut: Cut, at: int) -> int | None:
        """Give when the last hole in our watching ended, of those that had begun by a time."""
        lane = cut.facts.lane
        ends = (
            messages.watched_since(self.project_id, lane, LAST_LEAF, at),
            self.lanes.watched_since(lane, at),
        )
        return max((one for one in ends if one is not None), default=None)

    def _fresh(
        self, cut: Cut, channel: str, spaces: Sequence[int], limit: int
    ) -> Iterator[Numbered]:
        """Give those of the batch itself, newest first."""
        wanted, left = frozenset(spaces), limit
        for row in reversed(self.lanes.messages.get(cut.facts.lane, ())):
            _, _, ordinal, at, space, number, scope, *_ = row
            if left <= 0 or ordinal < cut.stored.first:
                return
            if number is not None and space in wanted and (not channel or scope == channel):
                left -= 1
                yield Numbered(ordinal, at, space, number)

    def ids_before(self, cuts: Sequence[Cut], channel: str, epoch: str | None, at: int) -> set[int]:
        """Give the newest ids of an epoch that any of some lanes had received by a time."""
        found: set[int] = set()
        for cut in cuts:
            spaces = cut.facts.spaces_of(epoch)
            newest = self._newest_of(cut, channel, spaces, lane_state.MOST_COMPARED)
            found.update(one.id for one in newest if one.at <= at)
        return found

    def _newest_of(
        self, cut: Cut, channel: str, spaces: Sequence[int], limit: int
    ) -> list[Numbered]:
        found = list(self._fresh(cut, channel, spaces, limit))
        rest = limit - len(found)
        return found + messages.newest(self.project_id, cut.stored, channel, spaces, rest)

    def ids_above(
        self, cuts: Sequence[Cut], channel: str, epoch: str | None, above: int
    ) -> tuple[set[int], bool]:
        """Give the ids above a number that any of some lanes received, and whether that is all."""
        union: set[int] = set()
        is_whole = True
        most = lane_state.MOST_MISSED
        for cut in cuts:
            spaces = cut.facts.spaces_of(epoch)
            fresh = [one.id for one in self._fresh(cut, channel, spaces, most) if one.id > above]
            stored = messages.ids_above(
                self.project_id, cut.stored, channel, spaces, above, most - len(fresh)
            )
            is_whole = is_whole and len(fresh) + len(stored) < most
            union.update(fresh, stored)
        return union, is_whole
