"""One lane: where it stands, its ID spaces, its channels, and what we did not watch of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from events.domain.times import moment
from events.queries import bus_documents, buses, ring, rows, told_lanes
from events.queries.rows import Document
from ledger.queries.as_of import AsOf

SHOWN = 20
SPACES = 200


@dataclass(frozen=True, slots=True)
class LaneView:
    """A lane with its bus, the lanes of it, and all their ID spaces, as of a cut.

    `told` are the lanes of replicas that we know by their words alone.
    """

    project_id: int
    bus: Document
    lane: Document
    lanes: Sequence[Document]
    told: Sequence[Document]
    spaces: Sequence[Document]
    cut: AsOf

    @property
    def end(self) -> int:
        """Give the first leaf that is not seen."""
        return 2**63 - 1 if self.cut.is_now else self.cut.end

    @property
    def read_from(self) -> Document | None:
        """Give the lane whose messages stand for those of this one, None where it has its own."""
        if not self.lane.get("is_told"):
            return None
        source = next(one for one in self.lanes if one["lane"] == self.lane["source"])
        return {"id": source["lane"], "replica": source["replica"]}


def view_of(project_id: int, lane: str, cut: AsOf) -> LaneView:
    """Load a lane with what stands around it; raises a problem for an id that is none."""
    end = None if cut.is_now else cut.end
    own = buses.find_lane(project_id, lane, end) or told_lanes.find_told(project_id, lane, end)
    if own is None:
        raise rows.missing("lane", "No receipt of this project told of a lane with this id.")
    bus = bus_documents.bus_at(project_id, own["bus"], cut)
    lanes = buses.lanes_of(project_id, [own["bus"]], end, besides=own["lane"])
    told = told_lanes.told_lanes(project_id, bus, lanes, end)
    spaces = buses.spaces_of(project_id, [one["lane"] for one in lanes], end)
    return LaneView(project_id, bus, own, lanes, told, spaces, cut)


def lane_document(view: LaneView, channels: Sequence[Document]) -> Document:
    """Give one lane."""
    own = [one for one in view.spaces if one["lane"] == view.lane["source"]]
    return {
        **bus_documents.lane_summary(view.lane),
        "read_from": view.read_from,
        "installation": view.bus["installation"],
        "installation_id": view.bus["installation_id"],
        "bus": view.bus["name"],
        "bus_id": view.bus["bus"],
        "density": view.bus["density"],
        "settings": bus_documents.settings_of(view.bus),
        "spaces_shown": [bus_documents.space_document(one) for one in own[-SPACES:]][::-1],
        "channels": [channel_document(one) for one in channels],
        "siblings": [
            {"id": one["lane"], "replica": one["replica"]}
            for one in [*view.lanes, *view.told]
            if one["lane"] != view.lane["lane"]
        ],
        "lanes_count": bus_documents.count_of([*view.lanes, *view.told]),
        "unwatched": _holes(view),
        "resets": _resets(view),
        **bus_documents.around_page(view.project_id, view.cut),
    }


def channels_of(view: LaneView) -> list[Document]:
    """Give the channels of a lane, the one heard last first."""
    return ring.channels_of(view.project_id, view.lane)


def channel_document(row: Document) -> Document:
    """Give a channel with its newest message."""
    return {
        "channel": row["scope"] or None,
        "newest_id": rows.as_text(row["id"]),
        "last_at": moment(row["at"]),
    }


def _holes(view: LaneView) -> list[Document]:
    """Give the newest stretches of time in which we did not watch the lane."""
    where = (
        "FROM bus_hole WHERE project_id = %s AND bus = %s AND lane = %s AND leaf_index < %s "
        "ORDER BY from_at DESC, leaf_index, place LIMIT %s"
    )
    given = [view.project_id, view.bus["bus"], view.lane["source"], view.end, SHOWN]
    return [
        {"from": moment(one["from_at"]), "to": moment(one["to_at"]), "why": one["why"]}
        for one in rows.select("from_at, to_at, why", where, given)
    ]


def _resets(view: LaneView) -> list[Document]:
    """Give the newest resets that the lane's replica told of."""
    where = (
        "FROM bus_reset WHERE project_id = %s AND installation_id = %s AND replica = %s "
        "AND leaf_index < %s ORDER BY at DESC, leaf_index DESC, place DESC LIMIT %s"
    )
    given = [view.project_id, view.bus["installation_id"], view.lane["replica"], view.end, SHOWN]
    return [
        {"reason": one["reason"], "channel": one["workspace"] or None, "at": moment(one["at"])}
        for one in rows.select("reason, workspace, at", where, given)
    ]
