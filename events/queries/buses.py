"""One bus: what it is, its lanes and their ID spaces, and how far it was read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from events.domain.told.names import TAIL
from events.queries import rows
from events.queries.rows import Document

STREAMS = "streams"
BUS = (
    "bus, installation_id, installation, name, profile, density, settings, settings_leaf, "
    "first_leaf, last_leaf, from_at, to_at, last_at, messages, frames, junk, refused, late"
)
_NAMES = ("lane", "bus", "installation", "bus_name", "replica", "first_leaf")
_STATE = (
    "profile", "incarnation", "n", "from_at", "to_at", "last_at", "frame_at", "messages",
    "kept_from", "segments", "frames", "junk", "holes", "refused", "late", "spaces", "space",
    "epoch", "high_water", "form",
)  # fmt: skip
"""What a lane is called, and what each of its segments may change.

Rows have more: `held_from` is the first ordinal of which a message is kept now, `source` the lane
whose messages are read, `all_lanes` how many lanes its bus has.
"""
MOST_LANES = 100
"""Lanes of a bus that are looked at. Anybody who may write can name any number of replicas."""
_NEWEST = (
    "(SELECT x.project_id, x.lane, count(*) OVER (PARTITION BY x.bus) AS all_lanes, "
    "row_number() OVER (PARTITION BY x.bus ORDER BY x.first_leaf, x.lane) AS age, "
    "row_number() OVER (PARTITION BY x.bus ORDER BY CASE x.replica WHEN %s THEN 0 ELSE 1 END, "
    "{last} DESC, x.lane) AS place FROM bus_lane x WHERE x.project_id = %s AND {listed}) AS chosen "
    "JOIN bus_lane l ON l.project_id = chosen.project_id AND l.lane = chosen.lane"
)
_STEP = (
    "(SELECT max(y.leaf_index) FROM bus_lane_step y WHERE y.project_id = {of}.project_id "
    "AND y.lane = {of}.lane AND y.leaf_index < %s)"
)
SPACE = (
    "lane, ordinal, epoch, kind, born_at, last_at, first, last, least, greatest, count, parent, "
    "switch_id"
)

_TURNED = "turned_leaf, was_kind, was_born_at, was_first"


def get_bus(project_id: int, bus: str) -> Document:
    """Give the row of a bus; raises a problem for an id that is none."""
    found = rows.select(
        BUS, "FROM bus WHERE project_id = %s AND bus = %s", [project_id, bus]
    )  # fmt: skip
    if not found:
        raise rows.missing("bus", "No receipt of this project told of a bus with this id.")
    return found[0]


def lanes_of(
    project_id: int, buses: Sequence[str], end: int | None = None, besides: str = ""
) -> list[Document]:
    """Give the rows of the lanes of some buses, by replica, now or below the leaf `end`.

    Of a bus with more than `MOST_LANES` it gives our own tail's, the oldest, those heard last, and
    the one that `besides` names.
    """
    listed = f"x.bus IN ({rows.marks(buses)})"
    values: list[Any] = list(buses)
    last: list[Any] = []
    if end is not None:
        listed, values, last = f"{listed} AND x.first_leaf < %s", [*values, end], [end]
    newest = _NEWEST.format(last=_STEP.format(of="x") if last else "x.last_leaf", listed=listed)
    shown = f"(chosen.place <= {MOST_LANES} OR chosen.age = 1 OR l.lane = %s)"
    given = [TAIL, *last, project_id, *values]
    return _lanes(newest, "chosen.all_lanes", shown, (given, [besides]), end)


def find_lane(project_id: int, lane: str, end: int | None = None) -> Document | None:
    """Give the row of a lane; None for an id that is none, or none yet."""
    given: list[Any] = [project_id, lane]
    where = "l.project_id = %s AND l.lane = %s"
    found = _lanes("bus_lane l", "1 AS all_lanes", where, ([], given), end)
    return found[0] if found else None


def _lanes(
    source: str, more: str, where: str, given: tuple[list[Any], list[Any]], end: int | None
) -> list[Document]:
    """Read lanes; `given` are the parameters of the source and those of the condition."""
    before, after = given
    state = "l" if end is None else "s"
    named = [f"l.{name}" for name in _NAMES] + [f"{state}.{name}" for name in _STATE]
    columns = ", ".join([*named, "l.kept_from AS held_from", "l.lane AS source", more])
    order = "ORDER BY l.bus, l.replica, l.lane"
    if end is None:
        return rows.select(columns, f"FROM {source} WHERE {where} {order}", [*before, *after])
    step = (
        "JOIN bus_lane_step s ON s.project_id = l.project_id AND s.lane = l.lane "
        f"AND s.leaf_index = {_STEP.format(of='l')}"
    )
    rest = f"FROM {source} {step} WHERE {where} {order}"
    return rows.select(columns, rest, [*before, end, *after])


def totals_of(project_id: int, bus: str, end: int) -> Document:
    """Give what all lanes of a bus had below a leaf, summed."""
    summed = ("messages", "frames", "junk", "refused", "late")
    columns = ", ".join([
        *(f"sum(s.{name}) AS {name}" for name in summed),
        "min(s.from_at) AS from_at", "max(s.to_at) AS to_at", "max(s.last_at) AS last_at",
    ])  # fmt: skip
    where = (
        "FROM bus_lane l JOIN bus_lane_step s ON s.project_id = l.project_id AND s.lane = l.lane "
        f"AND s.leaf_index = {_STEP.format(of='l')} WHERE l.project_id = %s AND l.bus = %s"
    )
    (found,) = rows.select(columns, where, [end, project_id, bus])
    return {**found, **{name: int(found[name] or 0) for name in summed}}


def spaces_of(project_id: int, lanes: Sequence[str], end: int | None = None) -> list[Document]:
    """Give the ID spaces of some lanes in the order of birth, now or below the leaf `end`.

    Of a space that went on after `end`, what it held by then is taken from its segments.
    """
    where = f"FROM bus_space WHERE project_id = %s AND lane IN ({rows.marks(lanes)})"
    parameters: list[Any] = [project_id, *lanes]
    if end is None:
        return rows.select(SPACE, f"{where} ORDER BY lane, ordinal", parameters)
    found = rows.select(
        f"{SPACE}, {_TURNED}, last_leaf", f"{where} AND born_leaf < %s ORDER BY lane, ordinal",
        [*parameters, end],
    )  # fmt: skip
    past = _sums(project_id, [one for one in found if one["last_leaf"] >= end], end)
    return [_then(_before(one, end), past.get((one["lane"], one["ordinal"]))) for one in found]


def _then(space: Document, summed: Document | None) -> Document:
    """Give a space with what its segments held; the id that bore it may lie in a stray's."""
    if summed is None:
        return space
    born = {
        "least": (min, space["first"]),
        "greatest": (max, space["first"]),
        "last_at": (max, space["born_at"]),
    }
    whole = {
        name: one(summed[name], other)
        for name, (one, other) in born.items()
        if summed[name] is not None and other is not None
    }
    return {**space, **summed, **whole}


def _before(space: Document, end: int) -> Document:
    """Give a space as it was taken below a leaf: one that proved a reset may have been a stray."""
    turned_leaf = space.pop("turned_leaf")
    was = {name: space.pop(f"was_{name}") for name in ("kind", "born_at", "first")}
    return space if turned_leaf is None or turned_leaf < end else {**space, **was}


def _sums(project_id: int, spaces: Sequence[Document], end: int) -> dict[tuple[str, int], Document]:
    """Give what spaces held below a leaf, by lane and ordinal, with one statement."""
    lanes = sorted({one["lane"] for one in spaces})
    ordinals = sorted({one["ordinal"] for one in spaces})
    summed = (
        "SELECT project_id, lane, space, min(least) AS least, max(greatest) AS greatest, "  # noqa: S608
        "sum(count) AS count, max(to_at) AS last_at FROM bus_segment WHERE project_id = %s "
        f"AND lane IN ({rows.marks(lanes)}) AND space IN ({rows.marks(ordinals)}) "
        "AND leaf_index < %s GROUP BY project_id, lane, space"
    )
    last = (
        "(SELECT x.last FROM bus_segment x WHERE x.project_id = g.project_id AND x.lane = g.lane "
        "AND x.space = g.space AND x.leaf_index < %s AND x.last IS NOT NULL "
        "ORDER BY x.leaf_index DESC LIMIT 1) AS last"
    )
    found = rows.select(
        f"g.lane, g.space, g.least, g.greatest, g.count, g.last_at, {last}",
        f"FROM ({summed}) AS g",
        [end, project_id, *lanes, *ordinals, end],
    )
    kept = ("least", "greatest", "last_at", "last")
    return {
        (one["lane"], one["space"]): {
            **{name: one[name] for name in kept},
            "count": int(one["count"]),
        }
        for one in found
    }
