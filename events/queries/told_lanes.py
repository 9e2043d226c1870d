"""Lanes of replicas that we watch by their words alone: their answers and their dumps.

Such a replica has no segments of its own. What it could hold is read from the lane that its answers
are judged by: that of our own tail, else the oldest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from events.domain.profiles import ACTIVITY_PROFILES
from events.domain.told.names import TAIL, BusName
from events.queries import buses, rows
from events.queries.rows import Document
from kit import bulk

NEWEST = 500
REPLICAS = 50
"""Newest answers and dumps that are looked through for replicas, and replicas that are shown."""
SAMPLED = 10_000
"""Replicas that told of themselves of which the lane's id is made to find one."""


def told_lanes(
    project_id: int, bus: Document, lanes: Sequence[Document], end: int | None = None
) -> list[Document]:
    """Give a row for each replica of a bus that has no lane in `lanes`, by replica."""
    source = source_of(lanes)
    if source is None:
        return []
    named = _replicas(project_id, bus, end)
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
    (bus, replica) = _spoken(project_id, lane, below) or _sampled(project_id, lane, below)
    source = source_of(buses.lanes_of(project_id, [bus], end)) if bus else None
    return None if source is None else told_lane(lane, replica, source)


def _spoken(project_id: int, lane: str, below: int) -> tuple[str, str] | None:
    """Give the bus and the replica of a lane that answers or dumps name."""
    found = bulk.select_rows(
        "SELECT bus, replica FROM bus_buffer WHERE project_id = %s AND lane = %s "
        "AND leaf_index < %s UNION SELECT bus, replica FROM bus_resume WHERE project_id = %s "
        "AND lane = %s AND leaf_index < %s LIMIT 1",
        [project_id, lane, below, project_id, lane, below],
    )
    return (found[0][0], found[0][1]) if found else None


def _sampled(project_id: int, lane: str, below: int) -> tuple[str, str]:
    """Give the activity bus and the replica of a lane, where the replica told of itself alone.

    An id does not tell what it is of, so the ids of all are made again; empty texts for none.
    """
    found = bulk.select_rows(
        "SELECT b.bus, b.installation, b.name, r.replica FROM bus_replica r JOIN bus b "  # noqa: S608
        "ON b.project_id = r.project_id AND b.installation_id = r.installation_id "
        f"AND b.profile IN ({rows.marks(ACTIVITY_PROFILES)}) "
        "WHERE r.project_id = %s AND r.first_leaf < %s ORDER BY r.last_leaf DESC LIMIT %s",
        [*ACTIVITY_PROFILES, project_id, below, SAMPLED],
    )
    own = ((bus, replica) for bus, installation, name, replica in found
           if BusName(installation, name).lane_id(replica) == lane)  # fmt: skip
    return next(own, ("", ""))


def _replicas(project_id: int, bus: Document, end: int | None) -> list[str]:
    """Name the replicas without a lane that answered lately on the bus, or dumped their buffers.

    Those that told of themselves alone are of the activity bus: of no other can it be said.
    """
    below = 2**63 - 1 if end is None else end
    told = "SELECT replica FROM {} WHERE project_id = %s AND bus = %s AND leaf_index < %s"
    parts = [
        f"SELECT replica FROM ({told.format(name)} ORDER BY leaf_index DESC LIMIT %s) AS {name}_"  # noqa: S608
        for name in ("bus_resume", "bus_buffer")
    ]
    given: list[Any] = [project_id, bus["bus"], below, NEWEST] * 2
    if bus["profile"] in ACTIVITY_PROFILES:
        parts.append("SELECT replica FROM bus_replica WHERE project_id = %s "
                     "AND installation_id = %s AND first_leaf < %s")  # fmt: skip
        given += [project_id, bus["installation_id"], below]
    found = bulk.select_rows(
        f"SELECT t.replica FROM ({' UNION '.join(parts)}) AS t WHERE NOT EXISTS (SELECT 1 "  # noqa: S608
        "FROM bus_lane l WHERE l.project_id = %s AND l.bus = %s AND l.replica = t.replica "
        "AND l.first_leaf < %s) ORDER BY t.replica LIMIT %s",
        [*given, project_id, bus["bus"], below, REPLICAS],
    )
    return [str(replica) for (replica,) in found]


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
