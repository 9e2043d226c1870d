"""What other channels and replicas saw of the ids that a buffer lacks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from events.domain.missing import Around
from events.domain.records import SECOND
from events.queries import rows
from events.queries.ring import Held, Ring
from events.queries.rows import Document
from kit import bulk

MOST = 20_000
"""Messages of others that are looked at; beyond them nobody is said to lack an id."""
APART = 60 * SECOND
"""How far apart in time two replicas may have received one id."""
_OTHERS = (
    "SELECT lane, space, id FROM bus_message WHERE project_id = %s AND lane = %s AND ordinal >= %s "
    "AND ordinal <= %s AND id > %s AND id < %s"
)


def around(
    project_id: int,
    lane: Document,
    others: Sequence[Document],
    spaces: Sequence[Document],
    held: Sequence[Held],
    ring: Ring,
    end: int,
) -> Around:
    """Look around some messages of a buffer, given in the order of their ids.

    `spaces` are the ID spaces of the whole bus, `end` is the first leaf that is not seen. A lane
    counts as watched where it received anything at about the same time.
    """
    if len(held) < 2:
        return Around({}, {}, 1)
    channels, is_whole = _channels(project_id, lane, held, ring)
    epochs = {one["epoch"] for one in spaces if _is_of(one, lane, ring)}
    same = {(one["lane"], one["ordinal"]) for one in spaces if one["epoch"] in epochs}
    ranges = _ranges(project_id, [one["lane"] for one in others], held, end)
    replicas, are_whole = _replicas(project_id, others, ranges, same, held)
    watched = 1 + len(ranges) if is_whole and are_whole else 1
    return Around(channels, replicas, watched, _blind(project_id, lane, held, end))


def _is_of(space: Document, lane: Document, ring: Ring) -> bool:
    return space["lane"] == lane["source"] and space["ordinal"] in ring.spaces


def _channels(
    project_id: int, lane: Document, held: Sequence[Held], ring: Ring
) -> tuple[Mapping[int, str], bool]:
    """Give the ids of other channels of the lane, by id, and whether these are all."""
    ordinals = [one.ordinal for one in held if one.ordinal >= 0]
    if not ordinals:
        return {}, True
    found = bulk.select_rows(
        "SELECT id, scope FROM bus_message WHERE project_id = %s AND lane = %s AND ordinal > %s "  # noqa: S608
        f"AND ordinal < %s AND scope <> %s AND space IN ({rows.marks(ring.spaces)}) "
        "AND id IS NOT NULL ORDER BY ordinal DESC LIMIT %s",
        [
            *(project_id, lane["source"], min(ordinals), max(ordinals), held[0].scope),
            *(*ring.spaces, MOST),
        ],
    )
    return dict(found), len(found) < MOST


def _replicas(
    project_id: int,
    others: Sequence[Document],
    ranges: Sequence[tuple[str, int, int]],
    same: Collection[tuple[str, int]],
    held: Sequence[Held],
) -> tuple[Mapping[int, set[str]], bool]:
    """Give the ids that other lanes saw in the same epoch, by id, and whether these are all."""
    names = {one["lane"]: one["replica"] for one in others}
    if not ranges:
        return {}, True
    statement = " UNION ALL ".join(_OTHERS for _ in ranges)
    low, high = held[0].id, held[-1].id
    given = [value for lane, first, last in ranges
             for value in (project_id, lane, first, last, low, high)]  # fmt: skip
    found = bulk.select_rows(f"{statement} LIMIT %s", [*given, MOST])
    seen: dict[int, set[str]] = defaultdict(set)
    for lane, space, id in found:
        if (lane, space) in same:
            seen[id].add(names[lane])
    return seen, len(found) < MOST


def _ranges(
    project_id: int, lanes: Sequence[str], held: Sequence[Held], end: int
) -> list[tuple[str, int, int]]:
    times = [one.at for one in held]
    found = bulk.select_rows(
        "SELECT lane, min(first_ordinal), max(last_ordinal) FROM bus_segment "  # noqa: S608
        f"WHERE project_id = %s AND lane IN ({rows.marks(lanes)}) AND from_at >= %s "
        "AND from_at <= %s AND leaf_index < %s GROUP BY lane ORDER BY lane",
        [project_id, *lanes, min(times) - APART, max(times) + APART, end],
    )
    return [(lane, first, last) for lane, first, last in found]


def _blind(
    project_id: int, lane: Document, held: Sequence[Held], end: int
) -> list[tuple[int, int]]:
    times = [one.at for one in held]
    return [
        (begin, end)
        for begin, end in bulk.select_rows(
            "SELECT from_at, to_at FROM bus_hole WHERE project_id = %s AND bus = %s "
            "AND lane = %s AND from_at <= %s AND to_at >= %s AND leaf_index < %s "
            "ORDER BY from_at LIMIT 1000",
            [project_id, lane["bus"], lane["source"], max(times), min(times), end],
        )
    ]
