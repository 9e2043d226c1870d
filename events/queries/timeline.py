"""The timeline of a bus: a band for every ID space, a strip for every lane, and all that was found.

Source: reference/events-and-loops.md sections 5.1 and 5.2.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from events.asking import Range
from events.domain.axis import Axis
from events.domain.records import SECOND
from events.domain.times import micros, moment
from events.queries import bus_documents, buses, findings, phases, rows, told_lanes
from events.queries.rows import Document
from events.queries.timeline_points import Point, Points, Space, points_of
from events.queries.timeline_strips import strips_of
from kit import bulk
from ledger.queries.as_of import AsOf

HOLES = "lane, from_at, to_at, why"


def timeline(project_id: int, bus: Document, asked: Range, cut: AsOf) -> Document:
    """Give the timeline of a bus in a range; without one, of all that is known."""
    end = None if cut.is_now else cut.end
    lanes = buses.lanes_of(project_id, [bus["bus"]], end, besides=asked.lane)
    told = told_lanes.told_lanes(project_id, bus, lanes, end)
    named = [lane["lane"] for lane in [*lanes, *told]]
    first, last = _whole(project_id, bus, lanes, named, cut)
    axis = asked.axis(cut.at, first, last)
    spaces = buses.spaces_of(project_id, [lane["lane"] for lane in lanes], end)
    points = points_of(project_id, lanes, axis, end)
    found, clusters = findings.in_range(project_id, bus["bus"], axis, cut)
    holes = holes_of(project_id, bus["bus"], axis, end)
    return {
        "bus": {
            "id": bus["bus"],
            "bus": bus["name"],
            **{name: bus[name] for name in ("installation", "density", "profile")},
            "born_at": moment(first),
            "last_at": moment(last),
        },
        "from": moment(axis.begin),
        "to": moment(axis.end),
        "resolution": points.resolution,
        "bands": _bands(lanes, spaces, points, axis),
        "lanes_count": bus_documents.count_of([*lanes, *told]),
        "strips": strips_of(project_id, [*lanes, *told], spaces, holes, found, axis, cut),
        "holes": [_hole(one, axis) for one in holes],
        "findings": [_marker(one, axis) for one in found],
        "clusters": clusters,
        "phases": phases.in_range(project_id, bus, axis, end),
        **bus_documents.around_page(project_id, cut),
    }


def _whole(
    project_id: int, bus: Document, lanes: Sequence[Document], names: Sequence[str], cut: AsOf
) -> tuple[int, int]:
    """Give the first and the last moment of which anything is known of a bus."""
    now = micros(cut.at)
    told = [(lane["from_at"], lane["to_at"]) for lane in lanes]
    for begin, end in bulk.select_rows(
        _BOUNDS.format(lanes=rows.marks(names)),
        [
            *(project_id, bus["bus"], now, cut.leaf, now),
            *(project_id, *names, cut.leaf, now, project_id, *names, cut.leaf, now),
        ],
    ):
        if begin is not None:
            told.append((begin, end))
    first = min((begin for begin, _ in told), default=now - 60 * SECOND)
    return first, max((end for _, end in told), default=now)


_BOUNDS = (
    "SELECT min(at), max(at) FROM bus_finding WHERE project_id = %s AND bus = %s AND due_at <= %s "
    "AND leaf_index <= %s AND at <= %s UNION ALL SELECT min(at), max(at) FROM bus_resume "
    "WHERE project_id = %s AND lane IN ({lanes}) AND leaf_index <= %s AND at <= %s "
    "UNION ALL SELECT min(at), max(at) FROM bus_buffer WHERE project_id = %s "
    "AND lane IN ({lanes}) AND leaf_index <= %s AND at <= %s"
)


def holes_of(project_id: int, bus: str, axis: Axis, end: int | None) -> list[Document]:
    """Give the stretches of a range in which we did not watch a lane of a bus."""
    where = "FROM bus_hole WHERE project_id = %s AND bus = %s AND from_at < %s AND to_at >= %s"
    parameters: list[Any] = [project_id, bus, axis.end, axis.begin]
    if end is not None:
        where, parameters = f"{where} AND leaf_index < %s", [*parameters, end]
    order = "ORDER BY from_at, lane, leaf_index, place LIMIT 5000"
    return rows.select(HOLES, f"{where} {order}", parameters)


def _bands(
    lanes: Sequence[Document], spaces: Sequence[Document], points: Points, axis: Axis
) -> list[Document]:
    """Give the bands that meet a range, in the order of their births."""
    replicas = {lane["lane"]: lane["replica"] for lane in lanes}
    labels = _labels(spaces)
    shown = [one for one in spaces if axis.meets(one["born_at"], one["last_at"])]
    return [
        _band(one, replicas[one["lane"]], labels[one["lane"], one["ordinal"]], points, axis)
        for one in sorted(shown, key=lambda one: (one["born_at"], one["lane"], one["ordinal"]))
    ]


def _labels(spaces: Iterable[Document]) -> dict[Space, str]:
    """Name each space: by its epoch, or among those of its lane that have none by its number."""
    bare: dict[str, int] = defaultdict(int)
    found: dict[Space, str] = {}
    for one in spaces:
        if one["epoch"] is None:
            bare[one["lane"]] += 1
            number = bare[one["lane"]]
            found[one["lane"], one["ordinal"]] = f"no epoch, space {number}"
        else:
            found[one["lane"], one["ordinal"]] = f"epoch {one['epoch'][:8]}"
    return found


def _band(row: Document, replica: str, label: str, points: Points, axis: Axis) -> Document:
    base = row["least"] or 0
    drawn: Sequence[Point] = points.by_space.get((row["lane"], row["ordinal"]), ())
    return {
        **bus_documents.space_document(row),
        "lane": row["lane"],
        "replica": replica,
        "label": label,
        "base": str(base),
        "t": [axis.ms(max(point.at, axis.begin)) for point in drawn],
        "lo": [point.low - base for point in drawn],
        "hi": [point.high - base for point in drawn],
        "n": [point.many for point in drawn],
    }


def _hole(row: Document, axis: Axis) -> Document:
    return {
        "lane": row["lane"],
        "from_ms": axis.ms(axis.clip(row["from_at"])),
        "to_ms": axis.ms(axis.clip(row["to_at"])),
        "why": row["why"],
    }


def _marker(one: Document, axis: Axis) -> Document:
    """Give a finding as the timeline draws it: its own id is `id`, that of its event `event_id`."""
    kept = (
        "code", "severity", "letter", "at", "lane", "replica", "band", "epoch", "sentence", "rule",
        "ref",
    )  # fmt: skip
    return {
        "id": one["finding"],
        "event_id": one["id"],
        "at_ms": axis.ms(micros(one["at"])),
        **{name: one[name] for name in kept},
    }
