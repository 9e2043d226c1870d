"""The head of a replay buffer: how far it reaches, by whose word, and the regions of its ids.

Source: reference/events-and-loops.md section 5.3.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from events.domain.profiles import DENSE
from events.domain.records import SECOND
from events.domain.resume import Lane
from events.domain.times import moment
from events.domain.vouching import Bounds
from events.queries import moments, rows, vouching
from events.queries.lane_state import LaneCut
from events.queries.ring import Held, Ring, Wanted, ring_of
from events.queries.rows import Document
from kit import bulk

CAPACITY = 1_024
NOW = 2**63 - 1
"""The first leaf that is not seen, where all are: of heads, the newest sample alone is kept."""
DUMPS = 5
_DUMP = "leaf_index, channel, at, epoch, floor, high_water, capacity, count, ids"
_BORN = {"epoch": "epoch_change", "reset": "counter_backward", "incarnation": "new_incarnation"}


@dataclass(frozen=True)
class View:
    """A buffer that is looked at: a lane of a bus, a channel, a moment in microseconds.

    `lanes` and `spaces` are those of the whole bus, `end` is the first leaf that is not seen.
    """

    project_id: int
    lane: Document
    settings: Document
    lanes: Sequence[Document]
    spaces: Sequence[Document]
    channel: str
    at: int
    end: int

    @property
    def capacity(self) -> int:
        """Give how many messages the buffer of a channel holds."""
        events = self._buffer.get("events")
        return events if isinstance(events, int) and events > 0 else CAPACITY

    @property
    def max_age_s(self) -> float | None:
        """Give how long a message is kept, None where no bound is configured."""
        seconds = self._buffer.get("seconds")
        return float(seconds) if isinstance(seconds, int | float) and seconds > 0 else None

    @property
    def _buffer(self) -> Mapping[str, Any]:
        told = self.settings.get("buffer")
        return told if isinstance(told, dict) else {}

    @property
    def moment(self) -> datetime:
        """Give the moment as a time."""
        return moment(self.at)

    @property
    def wanted(self) -> Wanted:
        """Give what of a lane's messages makes its buffer."""
        age = None if self.max_age_s is None else int(self.max_age_s * SECOND)
        return Wanted(self.channel, self.at, self.end, self.capacity, age)

    @cached_property
    def ring(self) -> Ring:
        """Give what the lane held, as far as its messages tell."""
        return ring_of(self.project_id, self.lane, self.cut, self.wanted)

    @property
    def bounds(self) -> Bounds:
        """Give what bounds the buffer of a channel."""
        is_dense = self.settings.get("density") == DENSE
        return Bounds(self.capacity, is_dense, self.wanted.max_age)

    @cached_property
    def vouched(self) -> Lane:
        """Give what the lane could vouch for: by it the buffer, resumes and probes are judged."""
        return vouching.vouched_of(self)

    def ring_beside(self, lane: Document) -> Ring:
        """Give what another lane of the bus held of the channel then."""
        cut = moments.cut_at(self.project_id, lane, self.at, self.end)
        return ring_of(self.project_id, lane, cut, self.wanted)

    @cached_property
    def cut(self) -> LaneCut | None:
        """Give the lane as it stood, None where nothing had come."""
        return moments.cut_at(self.project_id, self.lane, self.at, self.end)

    @cached_property
    def epochs(self) -> Mapping[tuple[str, int], str | None]:
        """Give the epoch of each ID space of the bus, by lane and ordinal."""
        return {(one["lane"], one["ordinal"]): one["epoch"] for one in self.spaces}

    @cached_property
    def space(self) -> Document | None:
        """Give the ID space that the lane was in."""
        own = (one for one in self.spaces if one["lane"] == self.lane["source"])
        return next((one for one in own if one["ordinal"] == self.ring.space), None)

    @cached_property
    def dumps(self) -> list[Document]:
        """Give the newest dumps of the buffer up to the moment, the newest first."""
        where = (
            "FROM bus_buffer WHERE project_id = %s AND lane = %s AND channel IN (%s, '') "
            "AND at <= %s AND leaf_index < %s ORDER BY at DESC, leaf_index DESC LIMIT %s"
        )
        given = [self.project_id, self.lane["lane"], self.channel, self.at, self.end, DUMPS]
        return rows.select(_DUMP, where, given)

    @property
    def dump(self) -> Document | None:
        """Give the dump that shows the buffer as it is: one that no message came after."""
        last = max((one.at for one in self.ring.held), default=0)
        return self.dumps[0] if self.dumps and self.dumps[0]["at"] >= last else None

    @cached_property
    def ordered(self) -> list[Held]:
        """Give what the buffer held in the order of ids: by the dump where one tells."""
        held = list(self.ring.held) if self.dump is None else self._by_dump(self.dump)
        return sorted(held, key=lambda one: (one.id, one.ordinal))

    def _by_dump(self, dump: Document) -> list[Held]:
        told = (rows.as_number(str(one)) for one in json.loads(dump["ids"]))
        listed = {one for one in told if one is not None}
        # A dump may list the newest alone; below those, what was seen is all that is known.
        low = min(listed, default=0) if dump["count"] > len(listed) else None
        known = {one.id for one in self.ring.held}
        seen = [one for one in self.ring.held
                if one.id in listed or (low is not None and one.id < low)]  # fmt: skip
        space = -1 if self.ring.space is None else self.ring.space
        unseen = [
            Held(-1, dump["at"], space, one, self.channel, "", 0, "", dump["leaf_index"], -1)
            for one in listed - known
        ]
        return seen + unseen

    @cached_property
    def authority(self) -> Document | None:
        """Give the newest head that was sampled of the bus."""
        where = (
            "FROM bus_head WHERE project_id = %s AND bus = %s AND channel IN (%s, '') "
            "AND at <= %s AND leaf_index < %s AND head IS NOT NULL ORDER BY at DESC, node LIMIT 1"
        )
        given = [self.project_id, self.lane["bus"], self.channel, self.at, self.end]
        found = rows.select("node, epoch, head, at", where, given)
        return found[0] if found else None


def basis_of(view: View) -> str:
    """Say how the buffer is known."""
    if view.dump:
        return "The replica told what it held."
    memory = "Buffers live in the memory of a process"
    if not view.ordered:
        return f"{memory}. Nothing was seen that this lane could hold."
    seen = "the messages of another replica" if view.lane.get("is_told") else "the messages seen"
    return (
        f"{memory}, and this one was not dumped: it is made again from {seen}, "
        f"a capacity of {view.capacity:,}, and the resets known."
    )


def head_of(view: View) -> Document:
    """Give the head panel of a buffer."""
    dump, ordered = view.dump, view.ordered
    floor, high_water = _reach(view)
    return {
        "epoch": view.ring.epoch if dump is None else dump["epoch"],
        "floor": rows.as_text(floor),
        "oldest": str(ordered[0].id) if ordered else None,
        "high_water": rows.as_text(high_water),
        "count": len(ordered) if dump is None else dump["count"],
        "capacity": (dump and dump["capacity"]) or view.capacity,
        "max_age_s": view.max_age_s,
        "cold": not ordered or (dump is None and view.vouched.cold),
        "authority": _authority(view.authority, high_water),
        "authority_kept": view.authority is not None or view.end == NOW,
        "last_reset": _last_reset(view),
        "generation": None,
    }


def _reach(view: View) -> tuple[int | None, int | None]:
    """Give floor and high-water mark: as dumped, else what the lane vouches for."""
    if view.dump is not None:
        return rows.as_number(view.dump["floor"]), rows.as_number(view.dump["high_water"])
    lane = view.vouched
    if lane.cold:
        return None, view.ordered[-1].id if view.ordered else None
    return lane.floor, lane.high_water


def _authority(one: Document | None, high_water: int | None) -> Document | None:
    if one is None:
        return None
    return {
        "head": str(one["head"]),
        "node": one["node"] or None,
        "epoch": one["epoch"] or None,
        "sampled_at": moment(one["at"]),
        "difference": None if high_water is None else str(one["head"] - high_water),
    }


def _last_reset(view: View) -> Document | None:
    """Give what emptied the buffer last: a reset, junk that its version drops for, a new space."""
    ring, space = view.ring, view.space
    born = None if space is None or space["kind"] == "adopted" else space["born_at"]
    if ring.dropped_at is not None and (born is None or ring.dropped_at >= born):
        return {"reason": ring.reason, "at": moment(ring.dropped_at), "told_by": ring.told_by}
    if space is None or born is None:
        return None
    reason = _BORN.get(space["kind"], space["kind"])
    return {"reason": reason, "at": moment(born), "told_by": "messages"}


def ruler_of(view: View) -> list[Document]:
    """Give the regions of the ID space in the order of ids, each with how many ids it spans."""
    if not view.ordered:
        return []
    oldest, newest = view.ordered[0].id, view.ordered[-1].id
    first = min(_known_from(view, oldest), oldest)
    head = newest if view.authority is None else max(newest, view.authority["head"])
    regions = [
        ("unvouched", min(1, first), first - 1),
        ("evicted", first, oldest - 1),
        ("held", oldest, newest),
        ("missing", newest + 1, head),
    ]
    return [
        {"state": state, "from": str(low), "to": str(high), "count": str(high - low + 1)}
        for state, low, high in regions
        if high >= low
    ]


def _known_from(view: View, oldest: int) -> int:
    """Give the first id of this life of the channel: from there on the lane was there."""
    lane, ring = view.lane["source"], view.ring
    if ring.space is None:
        return oldest
    found = bulk.select_rows(
        "SELECT id FROM bus_message WHERE project_id = %s AND lane = %s AND scope = %s "
        "AND ordinal >= (SELECT coalesce(min(first_ordinal), 0) FROM bus_segment "
        "WHERE project_id = %s AND lane = %s AND space = %s) AND space = %s AND at >= %s "
        "AND id IS NOT NULL ORDER BY ordinal LIMIT 1",
        [
            *(view.project_id, lane, view.channel, view.project_id, lane, ring.space),
            *(ring.space, ring.dropped_at or 0),
        ],
    )
    return int(found[0][0]) if found else oldest
