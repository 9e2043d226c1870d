"""One bus: what it is, its lanes and their ID spaces, and how far it was read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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

Rows have two more: `held_from` is the first ordinal of which a message is kept now, and `source`
the lane whose messages are read.
"""
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


def lanes_of(project_id: int, buses: Sequence[str], end: int | None = None) -> list[Document]:
    """Give the rows of the lanes of some buses, by replica, now or below the leaf `end`."""
    listed = f"l.bus IN ({rows.marks(buses)})"
    return _lanes(project_id, listed, buses, end)


def find_lane(project_id: int, lane: str, end: int | None = None) -> Document | None:
    """Give the row of a lane; None for an id that is none, or none yet."""
    found = _lanes(project_id, "l.lane = %s", [lane], end)
    return found[0] if found else None


def _lanes(project_id: int, listed: str, values: Sequence[Any], end: int | None) -> list[Document]:
    order = "ORDER BY l.bus, l.replica, l.lane"
    if end is None:
        columns = ", ".join(f"l.{name}" for name in (*_NAMES, *_STATE))
        columns += ", l.kept_from AS held_from, l.lane AS source"
        where = f"FROM bus_lane l WHERE l.project_id = %s AND {listed} {order}"
        return rows.select(columns, where, [project_id, *values])
    columns = ", ".join([f"l.{name}" for name in _NAMES] + [f"s.{name}" for name in _STATE])
    columns += ", l.kept_from AS held_from, l.lane AS source"
    where = (
        "FROM bus_lane l JOIN bus_lane_step s ON s.project_id = l.project_id AND s.lane = l.lane "  # noqa: S608
        "AND s.leaf_index = (SELECT max(x.leaf_index) FROM bus_lane_step x WHERE "
        "x.project_id = l.project_id AND x.lane = l.lane AND x.leaf_index < %s) "
        f"WHERE l.project_id = %s AND {listed} {order}"
    )
    return rows.select(columns, where, [end, project_id, *values])


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
