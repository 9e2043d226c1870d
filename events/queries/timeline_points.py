"""The points of a timeline: messages one by one, or the least and greatest id of each pixel.

Only the line is reduced, never the findings. Source: reference/events-and-loops.md section 5.2.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from events.domain.axis import MINUTES, RAW, RAW_MOST, SEGMENTS, Axis
from events.domain.records import SECOND
from events.queries import rows
from events.queries.rows import Document
from kit import bulk

LONGEST_SEGMENT = 2 * SECOND
"""A segment is cut after a second, so none that began earlier reaches into a range."""
Space = tuple[str, int]
_SEGMENTS = (
    "FROM bus_segment WHERE project_id = %s AND lane IN ({lanes}) AND space >= 0 "
    "AND from_at >= %s AND from_at < %s AND leaf_index < %s"
)
_MINUTES = (
    "FROM bus_minute WHERE project_id = %s AND lane IN ({lanes}) AND minute >= %s AND minute < %s "
    "AND space >= 0"
)
_MESSAGES = (
    "SELECT lane, space, at, id FROM bus_message WHERE project_id = %s AND lane = %s "
    "AND ordinal >= %s AND ordinal <= %s AND at >= %s AND at < %s AND space >= 0 "
    "AND id IS NOT NULL"
)


class Point(NamedTuple):
    """What one pixel holds of one ID space: when, its least and greatest id, how many."""

    at: int
    low: int
    high: int
    many: int


class Points(NamedTuple):
    """The points of every ID space in a range, and how they were made."""

    resolution: str
    by_space: Mapping[Space, list[Point]]


def points_of(project_id: int, lanes: Sequence[Document], axis: Axis, end: int | None) -> Points:
    """Give the points of some lanes in a range, of the receipts below `end` or of all."""
    names = [lane["lane"] for lane in lanes]
    if not names:
        return Points(RAW, {})
    if axis.is_long and end is None and sum(lane["messages"] for lane in lanes) > RAW_MOST:
        return Points(MINUTES, _minutes(project_id, names, axis))
    below = 2**63 - 1 if end is None else end
    ranges = _ranges(project_id, names, axis, below)
    kept = {lane["lane"]: lane["held_from"] for lane in lanes}
    is_kept = all(low >= kept[lane] for lane, low, _, _ in ranges)
    if is_kept and sum(count for *_, count in ranges) <= RAW_MOST:
        return Points(RAW, _messages(project_id, ranges, axis))
    return Points(SEGMENTS, _segments(project_id, names, axis, below))


def _ranges(
    project_id: int, lanes: Sequence[str], axis: Axis, below: int
) -> list[tuple[str, int, int, int]]:
    """Give the ordinals of each lane that a range may hold, and how many messages."""
    where = _SEGMENTS.format(lanes=rows.marks(lanes))
    found = bulk.select_rows(
        f"SELECT lane, min(first_ordinal), max(last_ordinal), sum(count) {where} "
        "GROUP BY lane ORDER BY lane",
        _bounds(project_id, lanes, axis, below),
    )
    return [(lane, low, high, int(count)) for lane, low, high, count in found]


def _bounds(project_id: int, lanes: Sequence[str], axis: Axis, below: int) -> list[Any]:
    return [project_id, *lanes, axis.begin - LONGEST_SEGMENT, axis.end, below]


def _messages(
    project_id: int, ranges: Sequence[tuple[str, int, int, int]], axis: Axis
) -> dict[Space, list[Point]]:
    if not ranges:
        return {}
    parts = " UNION ALL ".join(_MESSAGES for _ in ranges)
    given = [
        value
        for lane, low, high, _ in ranges
        for value in (project_id, lane, low, high, axis.begin, axis.end)
    ]
    found = bulk.select_rows(f"{parts} ORDER BY 1, 2, 3, 4", given)
    return _grouped((lane, space, Point(at, id, id, 1)) for lane, space, at, id in found)


def _segments(
    project_id: int, lanes: Sequence[str], axis: Axis, below: int
) -> dict[Space, list[Point]]:
    where = _SEGMENTS.format(lanes=rows.marks(lanes))
    # What begins before the range is drawn at its edge: there its later messages lie.
    inside = f"(from_at - {axis.begin}) / {axis.bucket}"
    pixel = f"CASE WHEN from_at < {axis.begin} THEN 0 ELSE {inside} END"
    statement = (
        f"SELECT lane, space, {pixel} AS pixel, min(least), max(greatest), sum(count) {where} "
        f"AND to_at >= {axis.begin} AND least IS NOT NULL "
        "GROUP BY lane, space, pixel ORDER BY lane, space, pixel"
    )
    return _by_pixel(statement, _bounds(project_id, lanes, axis, below), axis.begin, axis.bucket)


def _minutes(project_id: int, lanes: Sequence[str], axis: Axis) -> dict[Space, list[Point]]:
    begin = axis.begin - axis.begin % (60 * SECOND)
    statement = (
        f"SELECT lane, space, (minute - {begin}) / {axis.bucket} AS pixel, "
        f"min(least), max(greatest), sum(count) {_MINUTES.format(lanes=rows.marks(lanes))} "
        "AND least IS NOT NULL GROUP BY lane, space, pixel ORDER BY lane, space, pixel"
    )
    return _by_pixel(statement, [project_id, *lanes, begin, axis.end], begin, axis.bucket)


def _by_pixel(
    statement: str, parameters: Sequence[Any], begin: int, bucket: int
) -> dict[Space, list[Point]]:
    found = bulk.select_rows(statement, parameters)
    return _grouped(
        (lane, space, Point(begin + int(pixel) * bucket, low, high, int(count)))
        for lane, space, pixel, low, high, count in found
    )


def _grouped(points: Iterable[tuple[str, int, Point]]) -> dict[Space, list[Point]]:
    by_space: dict[Space, list[Point]] = defaultdict(list)
    for lane, space, point in points:
        by_space[lane, space].append(point)
    return dict(by_space)
