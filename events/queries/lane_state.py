"""A lane as of some leaf: its ID spaces, its messages, and what it can vouch for in a channel.

Projectors and pages read it here, so that both judge a resume by the same lane.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from events.domain.lane_facts import LaneFacts, SpaceFacts, coverage
from events.domain.resume import Lane
from events.queries import messages
from events.queries.messages import Span
from kit import bulk

MOST_MISSED = 20_000
"""Ids of one lane that are looked through for those that a client missed."""
MOST_COMPARED = 4_096
"""The newest messages of another lane that are compared with those of a lane."""
_STEP = (
    "SELECT messages, kept_from, space FROM bus_lane_step WHERE project_id = %s AND lane = %s "
    "AND leaf_index < %s ORDER BY leaf_index DESC LIMIT 1"
)
_REPLICA = "SELECT replica, kept_from FROM bus_lane WHERE project_id = %s AND lane = %s"
_SPACES = (
    "SELECT ordinal, epoch, kind, born_at, last_at, first, greatest, last_leaf, turned_leaf, "
    "was_kind, was_born_at, was_first FROM bus_space "
    "WHERE project_id = %s AND lane = %s AND born_leaf < %s ORDER BY ordinal"
)
_GREW = (
    "SELECT space, max(to_at), max(greatest) FROM bus_segment WHERE project_id = %s AND lane = %s "
    "AND leaf_index < %s AND space IN ({values}) GROUP BY space"
)


@dataclass(frozen=True, slots=True)
class LaneCut:
    """A lane as of the leaves below a number; `span` are the messages that are still kept."""

    facts: LaneFacts
    span: Span
    end: int


def find_lane(project_id: int, lane: str, end: int) -> LaneCut | None:
    """Give a lane as of the leaves below `end`; None where none of them told of it."""
    steps = bulk.select_rows(_STEP, [project_id, lane, end])
    if not steps:
        return None
    ((count, kept_from, space),) = steps
    ((replica, kept_now),) = bulk.select_rows(_REPLICA, [project_id, lane])
    facts = LaneFacts(lane, replica, _spaces(project_id, lane, end), space)
    return LaneCut(facts, Span(lane, max(kept_from, kept_now), count), end)


def _spaces(project_id: int, lane: str, end: int) -> list[SpaceFacts]:
    """Give the spaces of a lane; those that grew later are read from the segments before."""
    rows = bulk.select_rows(_SPACES, [project_id, lane, end])
    later = [row[0] for row in rows if row[7] >= end]
    grew = bulk.select_in(_GREW, [project_id, lane, end], later)
    then = {space: (last_at, greatest) for space, last_at, greatest in grew}
    found = []
    for ordinal, epoch, kind, born_at, last_at, first, greatest, _, turned, *was in rows:
        last_at, greatest = then.get(ordinal, (last_at, greatest))
        if turned is not None and turned >= end:
            kind, born_at, first = was
        found.append(SpaceFacts(ordinal, epoch, kind, born_at, last_at, first, greatest))
    return found


def vouched(project_id: int, cut: LaneCut, channel: str, buffer: int) -> Lane:
    """Give what a lane can vouch for in a channel, or over all channels where none is named.

    Whatever broke the receiving lifts the floor: a time that was not watched, or a message that
    could not be read.
    """
    found = messages.newest(project_id, cut.span, channel, cut.facts.together, buffer + 1)
    if not found:
        return coverage(cut.facts, [], buffer)
    span = Span(cut.span.lane, found[-1].ordinal, cut.span.end)
    junk = messages.last_junk(project_id, span, channel)
    since = messages.watched_since(project_id, cut.span.lane, cut.end)
    return coverage(cut.facts, messages.unbroken(found, junk, since), buffer)


def ids_of_union(
    project_id: int, cuts: Sequence[LaneCut], channel: str, epoch: str | None, above: int
) -> tuple[set[int], bool]:
    """Give the ids above a number that any of some lanes received, and whether these are all.

    They are those of an epoch; without one, of the space that each lane is in.
    """
    union: set[int] = set()
    is_whole = True
    for cut in cuts:
        spaces = cut.facts.spaces_of(epoch)
        found = messages.ids_above(project_id, cut.span, channel, spaces, above, MOST_MISSED)
        is_whole = is_whole and len(found) < MOST_MISSED
        union.update(found)
    return union, is_whole
