"""Messages of a lane by their ordinals, and what their segments keep of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from events.domain import segments
from events.domain.records import JUNK
from events.domain.rows import Row
from kit import bulk
from ledger import statements

NONE = -1
_NEWEST = (
    "SELECT ordinal, at, space, id FROM bus_message WHERE project_id = %s AND lane = %s "
    "{scope}AND ordinal >= %s AND ordinal < %s AND space IN ({spaces}) AND id IS NOT NULL "
    "ORDER BY ordinal DESC LIMIT %s"
)
_ABOVE = (
    "SELECT id FROM bus_message WHERE project_id = %s AND lane = %s {scope}AND ordinal >= %s "
    "AND ordinal < %s AND space IN ({spaces}) AND id > %s ORDER BY ordinal DESC LIMIT %s"
)
_BROKEN = (
    "SELECT max(ordinal) FROM bus_message WHERE project_id = %s AND lane = %s {scope}"
    "AND ordinal >= %s AND ordinal < %s AND form = %s"
)
_WATCHED = (
    "SELECT max(to_at) FROM bus_hole WHERE project_id = %s AND lane = %s AND leaf_index < %s "
    "AND from_at <= %s"
)


class Place(NamedTuple):
    """Where a message lies: the leaf of its segment and its row there."""

    leaf: int
    row: int


class Numbered(NamedTuple):
    """A message that has an id, by its ordinal in its lane."""

    ordinal: int
    at: int
    space: int
    id: int


class Span(NamedTuple):
    """The messages of a lane that are looked at: ordinals from `first` on and below `end`."""

    lane: str
    first: int
    end: int


def newest(
    project_id: int, span: Span, channel: str, spaces: Sequence[int], limit: int
) -> list[Numbered]:
    """Give the newest messages with an id of some ID spaces, of a channel or all, newest first."""
    if not spaces or limit <= 0:
        return []
    scope, named = _scope(channel)
    rows = bulk.select_rows(
        _NEWEST.format(scope=scope, spaces=_marks(spaces)),
        [project_id, span.lane, *named, span.first, span.end, *spaces, limit],
    )
    return [Numbered(*row) for row in rows]


def ids_above(
    project_id: int, span: Span, channel: str, spaces: Sequence[int], above: int, limit: int
) -> list[int]:
    """Give ids above a number in some ID spaces of a lane, the newest first."""
    if not spaces or limit <= 0:
        return []
    scope, named = _scope(channel)
    rows = bulk.select_rows(
        _ABOVE.format(scope=scope, spaces=_marks(spaces)),
        [project_id, span.lane, *named, span.first, span.end, *spaces, above, limit],
    )
    return [number for (number,) in rows]


def last_junk(project_id: int, span: Span, channel: str) -> int:
    """Give the ordinal of the last message of a channel that could not be read, -1 for none."""
    scope, named = ("AND scope IN (%s, %s) ", [channel, ""]) if channel else ("", [])
    given = [project_id, span.lane, *named, span.first, span.end, JUNK[0]]
    ((found,),) = bulk.select_rows(_BROKEN.format(scope=scope), given)
    return NONE if found is None else int(found)


def last_junk_at(project_id: int, span: Span, channel: str, at: int) -> tuple[int, int | None]:
    """Give ordinal and time of the last message of a channel by then that could not be read."""
    found = bulk.select_rows(
        "SELECT ordinal, at FROM bus_message WHERE project_id = %s AND lane = %s AND scope IN "
        "(%s, %s) AND ordinal >= %s AND ordinal < %s AND form = %s AND at <= %s "
        "ORDER BY ordinal DESC LIMIT 1",
        [project_id, span.lane, channel, "", span.first, span.end, JUNK[0], at],
    )
    return found[0] if found else (NONE, None)


def watched_since(project_id: int, lane: str, end: int, at: int) -> int | None:
    """Give when the last hole in our watching of a lane ended, of those that had begun by then.

    It is as of the leaves below `end`.
    """
    ((found,),) = bulk.select_rows(_WATCHED, [project_id, lane, end, at])
    return None if found is None else int(found)


def _marks(values: Sequence[Any]) -> str:
    return ", ".join(["%s"] * len(values))


def _scope(channel: str) -> tuple[str, list[Any]]:
    return ("AND scope = %s ", [channel]) if channel else ("", [])


def rows_at(project_id: int, places: Iterable[Place]) -> Mapping[Place, Row]:
    """Give what segments keep of some messages; one whose body is gone or faulty is left out."""
    wanted = sorted(set(places))
    items = statements.load_items(project_id, {place.leaf for place in wanted})
    found: dict[Place, Row] = {}
    for place in wanted:
        item = items.get(place.leaf)
        if item is None or not 0 <= place.row < len(item.messages):
            continue
        row = segments.row_of(item.statement.body, item.messages[place.row])
        if row is not None:
            found[place] = row
    return found
