"""Answers really given to resumes, each beside that of the rule, and buffers as dumped."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from events.domain import codes
from events.domain.findings import Finding
from events.domain.given_answers import Judged, judge_given
from events.domain.profiles import ACTIVITY_PROFILES, DENSE
from events.domain.resume import Lane, cursor_number
from events.domain.told.answers import BufferTold, ResumeTold
from events.domain.told.names import TAIL
from events.domain.true_lanes import SETTLE
from events.domain.vouching import Bounds, Broken, is_left_behind, vouched
from events.projectors.buses import Buses
from events.projectors.cuts import Cut, Cuts
from events.projectors.findings import RESUME, Findings
from events.projectors.lanes import Lanes
from events.projectors.replicas import Replicas
from events.projectors.rows import LaneRow
from kit import bulk

LISTED = 100
_RESUME = (
    "project_id", "leaf_index", "bus", "lane", "installation", "bus_name", "replica", "channel",
    "at", "cursor", "cursor_epoch", "given", "served", "first", "last", "answer", "rule", "code",
    "missed_count", "missed", "epoch", "floor", "high_water", "is_cold", "boundaries", "is_partial",
)  # fmt: skip
_BUFFER = (
    "project_id", "leaf_index", "bus", "lane", "installation", "bus_name", "replica", "channel",
    "at", "epoch", "floor", "high_water", "capacity", "count", "ids",
)  # fmt: skip
COLD = Lane(None, 0, 0, cold=True)


@dataclass(slots=True)
class Answers:
    """The answers and dumps of a batch."""

    project_id: int
    buses: Buses
    lanes: Lanes
    findings: Findings
    replicas: Replicas
    cuts: Cuts = field(init=False)
    _resumes: list[tuple[Any, ...]] = field(default_factory=list)
    _buffers: list[tuple[Any, ...]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Look at lanes as the batch left them so far."""
        self.cuts = Cuts(self.project_id, self.lanes)

    def take_resume(self, told: ResumeTold, leaf: int) -> None:
        """Judge an answer by the lane as it is now.

        A replica that we have no lane of is judged by our own tail's, else by the oldest lane.
        """
        rows = self.lanes.of_bus(told.bus.id)
        own = _choose(rows, told.replica)
        cut = None if own is None else self.cuts.of(own)
        cuts = [self.cuts.of(row) for row in rows]
        lane = COLD if own is None or cut is None else self._vouched(cut, cuts, own.profile, told)
        judged, is_whole = self._judge(told, lane, cuts)
        is_whole = is_whole and cut is not None and not cut.is_short(lane, told.cursor)
        self._resumes.append(_resume_row(self.project_id, leaf, told, lane, judged, is_whole))
        if judged.code is not None:
            self.findings.note(_finding(told, judged, leaf), leaf, RESUME)

    def _vouched(self, cut: Cut, others: Sequence[Cut], profile: str, told: ResumeTold) -> Lane:
        """Give what the lane can vouch for, by the rule that the pages show.

        What broke our own watching is no fault of a replica that we have no lane of, and what
        others had may have reached it too.
        """
        in_force = self.buses.in_force(told.bus)
        bounds = Bounds(in_force.buffer, in_force.density == DENSE, in_force.max_age)
        is_own = cut.facts.replica == told.replica
        apart = [one for one in others if is_own and one.facts.lane != cut.facts.lane]
        found = self.cuts.newest(cut, told.channel, bounds.capacity + 1)
        broken = Broken(
            junk=self.cuts.last_junk(cut, told.channel, found),
            watched_since=self.cuts.watched_since(cut, told.at) if is_own else None,
            dropped_at=self.replicas.dropped_at(told) if profile in ACTIVITY_PROFILES else None,
            is_left_behind=is_left_behind(cut.facts, [one.facts for one in apart], told.at),
        )
        current = cut.facts.current
        epoch = None if current is None else current.epoch
        elsewhere = self.cuts.ids_before(apart, told.channel, epoch, told.at - SETTLE)
        return vouched(cut.facts, found, bounds, broken, at=told.at, elsewhere=elsewhere)

    def _judge(self, told: ResumeTold, lane: Lane, cuts: Sequence[Cut]) -> tuple[Judged, bool]:
        """Judge, and look for what was missed only where something may have been."""
        given = (told.given, told.served, told.first, told.last)
        judged = judge_given(lane, told.cursor, told.epoch, *given)
        if judged.code not in (codes.SILENT_SKIP, codes.AMBIGUOUS_RESUME):
            return judged, True
        above = -1 if judged.safe.names_no_place_here else cursor_number(told.cursor)
        union, is_whole = self.cuts.ids_above(
            cuts, told.channel, lane.epoch, -1 if above is None else above
        )
        return judge_given(lane, told.cursor, told.epoch, *given, union), is_whole

    def take_buffer(self, told: BufferTold, leaf: int) -> None:
        """Keep a dump."""
        bus = told.bus
        self._buffers.append(
            (
                self.project_id, leaf, bus.id, bus.lane_id(told.replica), bus.installation, bus.bus,
                told.replica, told.channel, told.at, told.epoch, told.floor, told.high_water,
                told.capacity, told.count, json.dumps(told.ids),
            )
        )  # fmt: skip

    def write(self) -> None:
        """Write what the batch came to."""
        bulk.insert_rows("bus_resume", _RESUME, self._resumes)
        bulk.insert_rows("bus_buffer", _BUFFER, self._buffers)


def _choose(rows: Sequence[LaneRow], replica: str) -> LaneRow | None:
    """Choose the lane that an answer is judged by."""
    by_replica = {row.replica: row for row in rows}
    first = min(rows, key=lambda row: (row.first_leaf, row.lane), default=None)
    return by_replica.get(replica) or by_replica.get(TAIL) or first


def _resume_row(
    project_id: int, leaf: int, told: ResumeTold, lane: Lane, judged: Judged, is_whole: bool
) -> tuple[Any, ...]:
    bus = told.bus
    boundaries = [
        [
            str(one.old_high_water),
            one.kind,
            one.epoch,
            None if one.first is None else str(one.first),
        ]
        for one in lane.boundaries
    ]
    held = (None, None) if lane.cold else (lane.floor, lane.high_water)
    return (
        project_id, leaf, bus.id, bus.lane_id(told.replica), bus.installation, bus.bus,
        told.replica, told.channel, told.at, told.cursor or "", told.epoch, told.given, told.served,
        told.first, told.last, judged.safe.answer, judged.safe.rule, judged.code or "",
        len(judged.missed), json.dumps([str(one) for one in judged.missed[:LISTED]]), lane.epoch,
        *held, lane.cold, json.dumps(boundaries), not is_whole,
    )  # fmt: skip


def _finding(told: ResumeTold, judged: Judged, leaf: int) -> Finding:
    code = judged.code or ""
    facts: dict[str, str | int] = {
        "cursor": told.cursor or "",
        "given": told.given,
        "answer": judged.safe.answer,
        "missed": len(judged.missed),
        "leaf": leaf,
    }
    if judged.missed:
        facts |= {"first_missed": str(judged.missed[0]), "last_missed": str(judged.missed[-1])}
    return Finding(
        code,
        codes.mark_of(code).severity,
        told.at,
        told.bus.installation,
        told.bus.bus,
        judged.safe.rule,
        replica=told.replica,
        scope=told.channel,
        epoch=told.epoch,
        id=cursor_number(told.cursor),
        due_at=told.at,
        facts=facts,
    )
