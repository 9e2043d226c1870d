"""Lanes of replicas that we watch by their words alone: their answers and their dumps.

Such a replica has no segments of its own. What it could hold is read from the lane that its answers
are judged by: that of our own tail, else the oldest.
"""

from __future__ import annotations

from collections.abc import Sequence

from events.domain.told.names import TAIL, BusName
from events.queries import buses, rows
from events.queries.rows import Document
from kit import bulk

NEWEST = 500
REPLICAS = 50
"""Newest answers that are looked through for replicas, and replicas that are shown."""


def told_lanes(
    project_id: int, bus: Document, lanes: Sequence[Document], end: int | None = None
) -> list[Document]:
    """Give a row for each replica of a bus that has no lane in `lanes`, by replica."""
    source = source_of(lanes)
    if source is None:
        return []
    own = {lane["replica"] for lane in lanes}
    named = [name for name in _replicas(project_id, bus, end) if name not in own][:REPLICAS]
    name = BusName(bus["installation"], bus["name"])
    return [told_lane(name.lane_id(replica), replica, source) for replica in named]


def source_of(lanes: Sequence[Document]) -> Document | None:
    """Choose the lane that a replica without one is read from."""
    tail = next((lane for lane in lanes if lane["replica"] == TAIL), None)
    return tail or min(lanes, key=lambda lane: (lane["first_leaf"], lane["lane"]), default=None)


def told_lane(lane: str, replica: str, source: Document) -> Document:
    """Give the row of a replica's lane with the messages of another."""
    return {**source, "lane": lane, "replica": replica, "is_told": True}


def find_told(project_id: int, lane: str, end: int | None = None) -> Document | None:
    """Give the row of a lane that only answers and dumps name; None for an id that none names."""
    below = 2**63 - 1 if end is None else end
    found = bulk.select_rows(
        "SELECT bus, replica FROM bus_buffer WHERE project_id = %s AND lane = %s "
        "AND leaf_index < %s UNION SELECT bus, replica FROM bus_resume WHERE project_id = %s "
        "AND lane = %s AND leaf_index < %s LIMIT 1",
        [project_id, lane, below, project_id, lane, below],
    )
    if not found:
        return None
    ((bus, replica),) = found
    source = source_of(buses.lanes_of(project_id, [bus], end))
    return None if source is None else told_lane(lane, replica, source)


def _replicas(project_id: int, bus: Document, end: int | None) -> list[str]:
    """Name the replicas that told of themselves, or answered lately on the bus."""
    below = 2**63 - 1 if end is None else end
    found = bulk.select_rows(
        "SELECT replica FROM bus_replica WHERE project_id = %s AND installation_id = %s "
        "AND first_leaf < %s UNION SELECT replica FROM (SELECT replica FROM bus_resume "
        "WHERE project_id = %s AND bus = %s AND leaf_index < %s "
        "ORDER BY leaf_index DESC LIMIT %s) AS newest",
        [project_id, bus["installation_id"], below, project_id, bus["bus"], below, NEWEST],
    )
    return sorted(str(replica) for (replica,) in found)


def dumps_in(
    project_id: int, lanes: Sequence[str], first: int, last: int, end: int
) -> list[Document]:
    """Give the dumps of some lanes in a range, by lane and in order of time."""
    where = (
        f"FROM bus_buffer WHERE project_id = %s AND lane IN ({rows.marks(lanes)}) AND at >= %s "
        "AND at < %s AND leaf_index < %s ORDER BY lane, at, leaf_index LIMIT 5000"
    )
    return rows.select("lane, at, floor, high_water, count", where,
                       [project_id, *lanes, first, last, end])  # fmt: skip
