"""What a lane could vouch for at a moment, as pages show it: the facts for the one rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from events.domain.lane_facts import LaneFacts, SpaceFacts
from events.domain.resume import Lane
from events.domain.true_lanes import SETTLE
from events.domain.vouching import Broken, is_left_behind, vouched
from events.queries import messages
from events.queries.lane_state import MOST_COMPARED
from kit import bulk

if TYPE_CHECKING:
    from events.queries.buffer_view import View

_ELSEWHERE = (
    f"SELECT * FROM (SELECT lane, space, id FROM bus_message WHERE project_id = %s AND lane = %s "  # noqa: S608
    f"AND scope = %s AND ordinal < %s AND at <= %s AND id IS NOT NULL ORDER BY ordinal DESC "
    f"LIMIT {MOST_COMPARED}) AS other{{place}}"
)


def vouched_of(view: View) -> Lane:
    """Give what the lane of a view vouched for.

    What broke our own watching is no fault of a replica that we know by its words alone, and what
    others had may have reached it too.
    """
    cut, ring = view.cut, view.ring
    if cut is None:
        return Lane(None, 0, 0, cold=True)
    others = [] if view.lane.get("is_told") else _others(view)
    return vouched(
        cut.facts,
        ring.newest,
        view.bounds,
        Broken(
            junk=ring.junk,
            watched_since=_watched_since(view),
            dropped_at=ring.dropped_at,
            is_left_behind=is_left_behind(cut.facts, others, view.at),
        ),
        at=view.at,
        elsewhere=_elsewhere(view, others, ring.epoch),
    )


def _watched_since(view: View) -> int | None:
    if view.lane.get("is_told"):
        return None
    return messages.watched_since(view.project_id, view.lane["source"], view.end, view.at)


def _others(view: View) -> list[LaneFacts]:
    """Give the other lanes of the bus as their ID spaces were known then."""
    return [
        LaneFacts(one["lane"], one["replica"], bands_of(view, one["lane"]), one["space"])
        for one in view.lanes
        if one["lane"] != view.lane["source"]
    ]


def bands_of(view: View, lane: str) -> list[SpaceFacts]:
    """Give the ID spaces of a lane of the bus as they were known then."""
    return [
        SpaceFacts(
            one["ordinal"],
            one["epoch"],
            one["kind"],
            one["born_at"],
            min(one["last_at"], view.at),
            one["first"],
            one["greatest"],
        )
        for one in view.spaces
        if one["lane"] == lane and one["born_at"] <= view.at
    ]


def _elsewhere(view: View, others: Sequence[LaneFacts], epoch: str | None) -> set[int]:
    """Give the newest ids that others had of the channel in the ID space of the lane."""
    if not others:
        return set()
    held = {one["lane"]: one["messages"] for one in view.lanes}
    statement = " UNION ALL ".join(_ELSEWHERE.format(place=place) for place in range(len(others)))
    given: list[Any] = [
        value
        for one in others
        for value in (view.project_id, one.lane, view.channel, held[one.lane], view.at - SETTLE)
    ]
    alike = {(one.lane, space) for one in others for space in one.spaces_of(epoch)}
    found = bulk.select_rows(statement, given)
    return {number for lane, space, number in found if (lane, space) in alike}
