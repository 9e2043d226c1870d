"""A lane as it stood at a moment, by the segments that were in the log by a leaf."""

from __future__ import annotations

from dataclasses import replace

from events.domain.lane_facts import LaneFacts
from events.queries import lane_state
from events.queries.lane_state import LaneCut
from events.queries.messages import Span
from events.queries.rows import Document
from kit import bulk

_AROUND = (
    "SELECT * FROM (SELECT leaf_index, segment_from FROM bus_lane_step WHERE project_id = %s "
    "AND lane = %s AND leaf_index < %s AND segment_to >= %s ORDER BY segment_to, leaf_index "
    "LIMIT 1) AS reached UNION ALL SELECT * FROM (SELECT leaf_index, segment_from "
    "FROM bus_lane_step WHERE project_id = %s AND lane = %s AND leaf_index < %s "
    "AND segment_to < %s "
    "ORDER BY segment_to DESC, leaf_index DESC LIMIT 1) AS passed"
)
_SEGMENT = 1_000
"""Rows of a segment at the most, so a moment inside it lies among as many ordinals."""


def cut_at(project_id: int, lane: Document, at: int, end: int) -> LaneCut | None:
    """Give a lane at a moment, of what was known below a leaf; None where nothing had come."""
    own = [project_id, lane["source"], end, at]
    around = bulk.select_rows(_AROUND, [*own, *own])
    leaf = next((leaf for leaf, begins in around if begins <= at), None)
    if leaf is None:
        return None
    cut = lane_state.find_lane(project_id, lane["source"], leaf + 1)
    return None if cut is None else _narrowed(project_id, cut, at)


def _narrowed(project_id: int, cut: LaneCut, at: int) -> LaneCut:
    """Leave out what the segment that holds the moment told of later."""
    found = bulk.select_rows(
        "SELECT ordinal, space FROM bus_message WHERE project_id = %s AND lane = %s "
        "AND ordinal >= %s AND ordinal < %s AND at <= %s ORDER BY ordinal DESC LIMIT 200",
        [project_id, cut.span.lane, cut.span.end - _SEGMENT, cut.span.end, at],
    )
    born = [one for one in cut.facts.spaces if one.born_at <= at]
    space = next((space for _, space in found if space >= 0), cut.facts.space)
    facts = LaneFacts(cut.facts.lane, cut.facts.replica, born, space)
    end = found[0][0] + 1 if found else cut.span.end
    return replace(cut, facts=facts, span=Span(cut.span.lane, cut.span.first, end))
