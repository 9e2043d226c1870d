"""Lanes, their ID spaces, their messages and the roll-ups of these, as segments come in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, NamedTuple

from events.domain.holes import SETTLE
from events.domain.records import FRAME, HOLE, JUNK, Record
from events.domain.spaces import Space
from events.domain.told import names
from events.domain.told.names import EARLIEST, LATEST
from events.domain.told.segments import SegmentTold, Taken
from events.projectors.book import Book
from events.projectors.rows import STEP, BusRow, LaneRow, MinuteRow, SegmentRow, SpaceRow
from kit import bulk
from ledger.domain.names import column

MINUTE = 60_000_000
NOWHERE = -1
"""The space of what belongs to none."""
PRUNED_AT_ONCE = 4_000
"""Old messages that one segment takes away at most, so that a smaller keep is no long write."""
_MESSAGE = (
    "project_id", "lane", "ordinal", "at", "space", "id", "scope", "form", "length",
    "fingerprint", "leaf_index", "place",
)  # fmt: skip
_SEGMENT = tuple(SegmentRow.__dataclass_fields__)
_HOLE = ("project_id", "lane", "leaf_index", "place", "bus", "from_at", "to_at", "why")
_PRUNE = "DELETE FROM bus_message WHERE project_id = %s AND lane = %s AND ordinal < %s"
_step_of = attrgetter(*STEP)
_segment_of = attrgetter(*_SEGMENT)
LEAST, GREATEST = -(2**63), 2**63 - 1


class Opened(NamedTuple):
    """A lane with one more segment: whether that came late, and which of its messages did.

    Those before `late_before` are of before messages that the lane already has.
    """

    lane: LaneRow
    is_late: bool
    late_before: int


@dataclass(slots=True)
class Lanes:
    """The lanes of a batch; messages are kept as rows to insert, in the order of their ordinals."""

    project_id: int
    rows: Book[LaneRow] = field(init=False)
    spaces: Book[SpaceRow] = field(init=False)
    minutes: Book[MinuteRow] = field(init=False)
    messages: dict[str, list[tuple[Any, ...]]] = field(default_factory=dict)
    _pruned: dict[str, int] = field(default_factory=dict)
    _steps: list[tuple[Any, ...]] = field(default_factory=list)
    _segments: list[SegmentRow] = field(default_factory=list)
    _holes: list[tuple[Any, ...]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Start with nothing loaded."""
        self.rows = Book(self.project_id, "bus_lane", LaneRow, 1)
        self.spaces = Book(self.project_id, "bus_space", SpaceRow, 2)
        self.minutes = Book(self.project_id, "bus_minute", MinuteRow, 3)

    def is_of_another_tail(self, told: SegmentTold) -> bool:
        """Tell whether a segment comes from another tail than the one before it in its lane."""
        lane = self.rows.find(told.lane_id)
        return lane is not None and lane.incarnation != told.incarnation

    def open(self, told: SegmentTold, leaf: int) -> Opened:
        """Note where and when a segment lies, and what of it came late.

        An older recording and a segment that was overtaken are kept, and would look like a restart
        to the detectors.
        """
        lane = self.rows.find(told.lane_id) or LaneRow(
            told.lane_id, told.bus.id, told.bus.installation, told.bus.bus, told.replica,
            told.profile, leaf, leaf, told.from_at, told.to_at,
        )  # fmt: skip
        late_before = _late_before(told, lane)
        is_late = _is_overtaken(told, lane) or told.from_at < late_before
        lane.late += is_late
        if not is_late:
            lane.incarnation, lane.n = told.incarnation, told.n
        lane.profile, lane.last_leaf = told.profile, leaf
        lane.from_at = min(lane.from_at, told.from_at)
        lane.to_at = max(lane.to_at, told.to_at)
        lane.segments += 1
        lane.refused += told.refused
        return Opened(self.rows.put(lane), is_late, late_before)

    def add(self, lane: LaneRow, taken: Taken, space: int, slices: dict[int, SegmentRow]) -> None:
        """Take a message, a frame or junk into its lane, its space and its roll-ups."""
        record = taken.record
        number = _stored(record.id)
        ordinal, lane.messages = lane.messages, lane.messages + 1
        lane.last_at = max(record.at, EARLIEST if lane.last_at is None else lane.last_at)
        if record.form == FRAME:
            lane.frames += 1
            lane.frame_at = max(record.at, EARLIEST if lane.frame_at is None else lane.frame_at)
        elif record.form == JUNK:
            lane.junk += 1
        else:
            lane.form = record.form
            lane.space = space if space >= 0 else lane.space
        _slice(slices, lane.lane, record, space, ordinal, number)
        self._minute(lane, record.at, space).add(number)
        self.messages.setdefault(lane.lane, []).append(
            (
                self.project_id, lane.lane, ordinal, record.at, space, number,
                column(record.scope), record.form[0], taken.length, column(record.fingerprint)[:16],
                *record.place,
            )
        )  # fmt: skip

    def _minute(self, lane: LaneRow, at: int, space: int) -> MinuteRow:
        key = (lane.lane, at - at % MINUTE, space)
        # A bus whose epoch changes with every message would cost a statement for each of them.
        is_new = space >= lane.spaces
        known = self.minutes.known(*key) if is_new else self.minutes.find(*key)
        return self.minutes.put(known or MinuteRow(*key))

    def add_hole(self, lane: LaneRow, taken: Taken) -> None:
        """Take a time in which we did not watch."""
        record = taken.record
        lane.holes += 1
        until = min(record.until, LATEST)
        place = (self.project_id, lane.lane, *record.place, lane.bus)
        self._holes.append((*place, record.at, until, column(taken.note)))

    def watched_since(self, lane: str, at: int) -> int | None:
        """Give when the last hole of the batch in a lane ended, of those begun by a time."""
        ends = (row[6] for row in self._holes if row[1] == lane and row[5] <= at)
        return max(ends, default=None)

    def last_junk(self, lane: str, channel: str) -> int:
        """Give the ordinal of the batch's last message of a channel that could not be read."""
        found = (
            row[2]
            for row in reversed(self.messages.get(lane, ()))
            if row[7] == JUNK[0] and (not channel or row[6] in ("", channel))
        )
        return next(found, NOWHERE)

    def close(self, lane: LaneRow, told: SegmentTold, slices: dict[int, SegmentRow]) -> None:
        """Note what a segment added and how it left its lane."""
        self._segments += slices.values()
        leaf = lane.last_leaf
        self._steps.append(
            (self.project_id, lane.lane, leaf, told.from_at, told.to_at, *_step_of(lane))
        )

    def prune(self, lane: LaneRow, keep: int) -> None:
        """Let go of the oldest messages beyond so many, before the step is noted."""
        wanted = lane.messages - keep
        if wanted > lane.kept_from:
            lane.kept_from = min(wanted, lane.kept_from + PRUNED_AT_ONCE)
            self._pruned[lane.lane] = lane.kept_from

    def note_space(self, lane: LaneRow) -> None:
        """Say in a lane which space it is in: that of its newest message that has one."""
        space = None if lane.space is None else self.spaces.find(lane.lane, lane.space)
        if space is not None:
            lane.epoch, lane.high_water = space.epoch, space.greatest

    def note_spaces(self, spaces: Iterable[Space], bus: BusRow, leaf: int) -> None:
        """Take ID spaces as the detectors left them."""
        for one in spaces:
            lane = names.lane_id(bus.installation, bus.name, one.replica)
            before = self._space(lane, one.ordinal)
            fresh = SpaceRow(
                lane, one.ordinal, bus.bus, None if one.epoch is None else column(one.epoch),
                one.kind, one.born_at, one.last_at, _stored(one.first), _stored(one.last),
                _stored(one.least), _stored(one.greatest), one.count, one.parent,
                _stored(one.switch_id), leaf if before is None else before.born_leaf, leaf,
            )  # fmt: skip
            if before is not None:
                fresh.turn_from(before, leaf)
            self.spaces.put(fresh)

    def _space(self, lane: str, ordinal: int) -> SpaceRow | None:
        """Give a space as it was before, and count it in its lane where it is new."""
        row = self.rows.find(lane)
        if row is None or ordinal < row.spaces:
            return self.spaces.find(lane, ordinal)
        row.spaces = ordinal + 1
        self.rows.put(row)
        return None

    def spaces_of(self, lane: str) -> list[SpaceRow]:
        """Give the ID spaces of a lane as the batch left them so far, in the order of birth."""
        stored = self.spaces.load("lane = %s", [lane])
        fresh = [one for one in self.spaces.fresh() if one.lane == lane]
        return sorted([*stored, *fresh], key=lambda one: one.ordinal)

    def all(self) -> list[LaneRow]:
        """Give all lanes as the batch left them so far, in the order in which they were heard."""
        found = [*self.rows.load("first_leaf >= %s", [0]), *self.rows.fresh()]
        return sorted(found, key=lambda one: (one.first_leaf, one.lane))

    def told_profile(self, bus: str) -> str:
        """Give the profile that the newest segment of a bus names."""
        newest = max(self.of_bus(bus), key=lambda one: one.last_leaf, default=None)
        return "" if newest is None else newest.profile

    def of_bus(self, bus: str) -> list[LaneRow]:
        """Give the lanes of a bus as the batch left them so far."""
        stored = self.rows.load("bus = %s", [bus])
        fresh = [one for one in self.rows.fresh() if one.bus == bus]
        return sorted([*stored, *fresh], key=lambda one: (one.first_leaf, one.lane))

    def write(self) -> None:
        """Write what the batch came to."""
        self.rows.write()
        self.spaces.write()
        self.minutes.write()
        bulk.insert_rows(
            "bus_lane_step",
            ("project_id", "lane", "leaf_index", "segment_from", "segment_to", *STEP),
            self._steps,
        )
        bulk.insert_rows(
            "bus_segment",
            ("project_id", *_SEGMENT),
            [(self.project_id, *_segment_of(one)) for one in self._segments],
        )
        bulk.insert_rows("bus_hole", _HOLE, self._holes)
        bulk.insert_rows("bus_message", _MESSAGE, self._kept())
        bulk.update_rows(_PRUNE, [(self.project_id, *one) for one in self._pruned.items()])

    def _kept(self) -> Sequence[tuple[Any, ...]]:
        """Give the messages that were not let go within the batch."""
        if not self._pruned:
            return [row for rows in self.messages.values() for row in rows]
        return [
            row
            for lane, rows in self.messages.items()
            for row in _from(rows, self._pruned.get(lane, 0))
        ]


def _from(rows: Sequence[tuple[Any, ...]], ordinal: int) -> Iterable[tuple[Any, ...]]:
    return (row for row in rows if row[2] >= ordinal)


def _is_overtaken(told: SegmentTold, lane: LaneRow) -> bool:
    """Tell whether a segment came after a later one of its tail."""
    is_own = bool(told.incarnation) and told.incarnation == lane.incarnation
    return is_own and told.n is not None and lane.n is not None and told.n <= lane.n


def _late_before(told: SegmentTold, lane: LaneRow) -> int:
    """Give the time before which messages come too late; a tail that goes on is never late.

    Its clock may have been set back.
    """
    is_own = bool(told.incarnation) and told.incarnation == lane.incarnation
    goes_on = is_own and told.n is not None and lane.n is not None and told.n > lane.n
    return EARLIEST if lane.last_at is None or goes_on else lane.last_at - SETTLE


def _slice(
    slices: dict[int, SegmentRow],
    lane: str,
    record: Record,
    space: int,
    ordinal: int,
    number: int | None,
) -> None:
    """Add a message to what its segment adds to its space."""
    one = slices.get(space)
    if one is None:
        at, leaf = record.at, record.place[0]
        slices[space] = SegmentRow(
            lane, leaf, space, at, at, number, number, number, number, 1, ordinal, ordinal
        )
        return
    one.count += 1
    one.last_ordinal = ordinal
    one.from_at, one.to_at = min(one.from_at, record.at), max(one.to_at, record.at)
    if number is not None:
        if one.first is None or one.least is None or one.greatest is None:
            one.first = one.least = one.greatest = number
        one.last = number
        one.least, one.greatest = min(one.least, number), max(one.greatest, number)


def _stored(number: int | None) -> int | None:
    """Give an id that a column of 64 bits holds, or None."""
    return number if number is not None and LEAST <= number <= GREATEST else None


def is_hole(taken: Taken) -> bool:
    """Tell whether a row is a time in which we did not watch."""
    return taken.record.form == HOLE
