"""A lane as of some leaf: its ID spaces, and its messages as far as they are kept."""

from __future__ import annotations

from dataclasses import dataclass

from events.domain.lane_facts import LaneFacts, SpaceFacts
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
