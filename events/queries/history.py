"""What was sent to a lane up to a moment, as the replica models and the resume rule take it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from events.domain.lane_facts import SpaceFacts
from events.domain.records import BARE, FRAME, HOLE, JUNK, PREFIXED, Record
from events.domain.true_lanes import Seen
from events.domain.true_spaces import TrueSpaces, seen_of
from events.domain.vouching import CLOCKS
from events.queries import rows
from events.queries.buffer_view import View
from events.queries.vouching import bands_of
from kit import bulk

OF_CHANNEL, OF_ALL = 4_000, 8_000
CAP = OF_CHANNEL + OF_ALL
"""Messages that a simulation plays: the newest of the channel, and the newest of all.

Four models take a second for them; a buffer holds 1,024, and what came before it is told by the ID
spaces.
"""
OF_OTHERS = 10 * OF_CHANNEL
"""Messages of other lanes: with more than ten of these, fewer are read of each."""
_FORMS = {"b": BARE, "p": PREFIXED, "f": FRAME, "j": JUNK}
_COLUMNS = "ordinal, at, space, id, scope, form, fingerprint, leaf_index, place"
_WHERE = "FROM bus_message WHERE project_id = %s AND lane = %s"
_OWN = (
    f"SELECT {_COLUMNS} FROM (SELECT {_COLUMNS} {_WHERE} AND ordinal >= %s AND ordinal < %s "  # noqa: S608
    f"AND at <= %s ORDER BY ordinal DESC LIMIT {OF_ALL}) AS newest UNION SELECT {_COLUMNS} FROM "
    f"(SELECT {_COLUMNS} {_WHERE} AND scope = %s AND ordinal >= %s AND ordinal < %s AND at <= %s "
    f"ORDER BY ordinal DESC LIMIT {OF_CHANNEL}) AS own ORDER BY ordinal"
)
_OTHER = (
    f"SELECT * FROM (SELECT lane, {_COLUMNS} {_WHERE} AND scope = %s AND ordinal < %s AND at <= %s "  # noqa: S608
    "ORDER BY ordinal DESC LIMIT %s) AS other{place}"
)


@dataclass(frozen=True, slots=True)
class History:
    """What a lane and others of its bus received, in the order of arrival.

    `is_capped` says that there was more, `first_at` and `last_at` bound what is here.
    """

    own: Sequence[Seen]
    others: Sequence[Seen]
    count: int
    is_capped: bool
    first_at: int | None
    last_at: int | None


def history_of(view: View) -> History:
    """Load what was sent to the lane of a view up to its moment."""
    bands = bands_of(view, view.lane["source"])
    spaces = TrueSpaces(bands)
    found = _own(view)
    first = found[0][1] if found else None
    told = [_record(row, view.lane["source"], view) for row in found]
    own = seen_of([*_before(view, bands, first), *told], spaces)
    breaks = [*_holes(view, first), *_dropped(view, first)]
    played = sorted([*breaks, *own], key=lambda one: one.record.at)
    return History(
        own=played,
        others=_others(view, spaces),
        count=len(found),
        is_capped=view.cut is not None and len(found) < view.cut.span.end - view.cut.span.first,
        first_at=first,
        last_at=found[-1][1] if found else None,
    )


def _own(view: View) -> list[tuple[Any, ...]]:
    cut = view.cut
    if cut is None:
        return []
    span = [cut.span.first, cut.span.end, view.at]
    lane = [view.project_id, cut.span.lane]
    return bulk.select_rows(_OWN, [*lane, *span, *lane, view.channel, *span])


def _record(row: Sequence[Any], lane: str, view: View) -> tuple[Record, int]:
    """Give a message with the ordinal of its ID space in its lane."""
    _, at, space, number, scope, form, fingerprint, leaf, place = row
    word = _FORMS.get(form, JUNK)
    record = Record(
        at=at,
        installation=view.lane["installation"],
        bus=view.lane["bus_name"],
        replica=lane,
        scope=scope,
        # An id beyond 64 bits is one that no version can read.
        form=JUNK if word in (BARE, PREFIXED) and number is None else word,
        epoch=view.epochs.get((lane, space)),
        id=number,
        fingerprint=fingerprint,
        place=(leaf, place),
    )
    return record, space


def _before(
    view: View, bands: Sequence[SpaceFacts], first: int | None
) -> Iterator[tuple[Record, int]]:
    """Stand in for spaces before what is loaded: the first message of each and its greatest.

    Each has a channel of its own, so that no model sees a channel's ids fall by them.
    """
    for band in bands:
        ends = [(band.born_at, band.first), (band.last_at, band.greatest)]
        for place, (at, id) in enumerate(ends):
            if id is not None and first is not None and at < first:
                yield _stand_in(view, band, at, id, f"\0{band.ordinal}.{place}"), band.ordinal


def _stand_in(view: View, band: SpaceFacts, at: int, id: int, channel: str) -> Record:
    form = BARE if band.epoch is None else PREFIXED
    names = (view.lane["installation"], view.lane["bus_name"], view.lane["source"])
    return Record(at, *names, channel, form, band.epoch, id)


def _holes(view: View, first: int | None) -> list[Seen]:
    """Give our own holes in watching the lane: after one nobody can vouch for what was before.

    A replica that we know by its words alone was not cut when our tail was.
    """
    if first is None or view.lane.get("is_told"):
        return []
    where = (
        "FROM bus_hole WHERE project_id = %s AND bus = %s AND lane = %s AND from_at >= %s "
        "AND from_at <= %s AND leaf_index < %s ORDER BY from_at LIMIT 1000"
    )
    given = [view.project_id, view.lane["bus"], view.lane["source"], first, view.at, view.end]
    found = rows.select("from_at, to_at", where, given)
    return [_break(view, one["from_at"], one["to_at"]) for one in found]


def _dropped(view: View, first: int | None) -> list[Seen]:
    """Give the last reset that the replica told of: its buffers began anew there.

    Those that its messages tell of the models find by themselves, each as its version would.
    """
    at = view.ring.dropped_at if view.ring.told_by == "replica" else None
    if at is None or first is None or at - CLOCKS < first:
        return []
    return [_break(view, at - CLOCKS, at - CLOCKS)]


def _break(view: View, at: int, until: int) -> Seen:
    names = (view.lane["installation"], view.lane["bus_name"], view.lane["source"])
    return Seen(Record(at, *names, "", HOLE, until=until))


def _others(view: View, spaces: TrueSpaces) -> list[Seen]:
    """Give what other lanes received in the channel, in the spaces of ours."""
    others = [one for one in view.lanes if one["lane"] != view.lane["source"]]
    lanes = [one["lane"] for one in others]
    if not lanes:
        return []
    statement = " UNION ALL ".join(_OTHER.format(place=place) for place in range(len(lanes)))
    most = min(OF_CHANNEL, OF_OTHERS // len(lanes))
    given = [
        value
        for one in others
        for value in (view.project_id, one["lane"], view.channel, one["messages"], view.at, most)
    ]
    told: dict[str, list[tuple[Record, int]]] = {lane: [] for lane in lanes}
    for lane, *row in bulk.select_rows(f"{statement} ORDER BY 1, 2", given):
        told[lane].append(_record(row, lane, view))
    return [
        one
        for lane in lanes
        for one in seen_of(
            told[lane],
            TrueSpaces(bands_of(view, lane)),
            spaces.aligned(bands_of(view, lane)),
        )
    ]
