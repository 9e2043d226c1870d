"""One batch being worked through: each receipt goes to the part that it tells something to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from events.domain.changes import Changes
from events.domain.records import REPLAY
from events.domain.told import answers, segments, settings, surroundings
from events.projectors import buses as buses_of
from events.projectors.answers import Answers
from events.projectors.buses import Buses
from events.projectors.crossing import Crossing
from events.projectors.findings import CROSS, STREAM, Findings
from events.projectors.heads import Heads
from events.projectors.keys import Keys
from events.projectors.lanes import NOWHERE, Lanes, is_hole
from events.projectors.replicas import Replicas
from events.projectors.rows import BusRow, LaneRow, SegmentRow
from events.projectors.settings import Settings
from ledger.statements import Item


@dataclass(slots=True)
class Desk:
    """The parts, and who takes what."""

    project_id: int
    settings: Settings = field(init=False)
    buses: Buses = field(init=False)
    lanes: Lanes = field(init=False)
    findings: Findings = field(init=False)
    answers: Answers = field(init=False)
    heads: Heads = field(init=False)
    crossing: Crossing = field(init=False)
    keys: Keys = field(init=False)
    replicas: Replicas = field(init=False)
    _takers: dict[str, Callable[[Item], None]] = field(init=False)

    def __post_init__(self) -> None:
        """Lay out the parts, with nothing loaded."""
        self.settings = Settings(self.project_id)
        self.buses = Buses(self.project_id, self.settings)
        self.lanes = Lanes(self.project_id)
        self.findings = Findings(self.project_id)
        self.replicas = Replicas(self.project_id)
        self.answers = Answers(
            self.project_id, self.buses, self.lanes, self.findings, self.replicas
        )
        self.heads = Heads(self.project_id)
        self.crossing = Crossing(self.project_id, self.buses, self.lanes)
        self.keys = Keys(self.project_id, self.findings, self.buses)
        self._takers = {
            "segment": self._take_segment,
            "heads": self._take_heads,
            "resume": self._take_resume,
            "buffer": self._take_buffer,
            "keys": self._take_keys,
            "replica": self._take_replica,
        }

    def take(self, item: Item) -> None:
        """Take the next receipt."""
        if item.statement.kind == "act":
            self._take_act(item)
        elif (taker := self._takers.get(item.statement.what)) is not None:
            taker(item)

    def _take_act(self, item: Item) -> None:
        told = settings.read(item.statement)
        if told is not None:
            self.settings.take(told, item.statement)
            self.buses.take_act(told, self.lanes.told_profile(told.subject), item.leaf)
            self.crossing.take_act(told)
            self._note(self.crossing.drain(), item.leaf, CROSS, {})

    def _take_segment(self, item: Item) -> None:
        told = segments.read(item.statement, item.messages)
        if told is None:
            return
        bus, in_force = self.buses.open(told, item.leaf)
        if self.lanes.is_of_another_tail(told):
            self.buses.stream(bus).watch_again(told.replica, told.from_at)
        lane, is_late, late_before = self.lanes.open(told, item.leaf)
        bus.late += is_late
        slices = self._take_rows(bus, lane, told, late_before)
        self.lanes.prune(lane, in_force.keep)
        self.lanes.note_space(lane)
        self.lanes.close(lane, told, slices)

    def _take_rows(
        self, bus: BusRow, lane: LaneRow, told: segments.SegmentTold, late_before: int
    ) -> dict[int, SegmentRow]:
        """Hand each row of a segment to the detectors, and note where they put it.

        What came too late is a replay to them.
        """
        stream, cross = self.buses.stream(bus), self.crossing
        cross.open(told)
        slices: dict[int, SegmentRow] = {}
        spaces: dict[int, int] = {}
        for taken in told.rows:
            record = taken.record
            if record.at < late_before:
                record = record._replace(source=REPLAY)
            space = stream.take(record)
            cross.take(record)
            if is_hole(taken):
                self.lanes.add_hole(lane, taken)
                continue
            spaces[record.place[1]] = space
            buses_of.count(bus, record)
            self.lanes.add(lane, taken, space, slices)
        changes = stream.drain()
        self._note(changes, lane.last_leaf, STREAM, spaces)
        self.lanes.note_spaces(changes.spaces, bus, lane.last_leaf)
        self._note(cross.drain(), lane.last_leaf, CROSS, spaces)
        return slices

    def _note(self, changes: Changes, leaf: int, origin: str, spaces: dict[int, int]) -> None:
        """Note what detectors found; `spaces` are those of the rows of this segment."""
        self.findings.expect([*changes.dropped, *(one.key for one in changes.findings)])
        for key in changes.dropped:
            self.findings.drop(key, leaf)
        for finding in changes.findings:
            row = finding.facts.get("row") if finding.facts.get("leaf") == leaf else None
            space = spaces.get(row, NOWHERE) if isinstance(row, int) else NOWHERE
            self.findings.note(finding, leaf, origin, space)

    def _take_heads(self, item: Item) -> None:
        told = surroundings.read_heads(item.statement)
        if told is None:
            return
        bus, at, heads = told
        self.buses.note_installation(bus.installation, item.leaf)
        self.heads.take(bus, at, heads, item.leaf)
        row = self.buses.rows.find(bus.id)
        if row is None:
            return
        stream = self.buses.stream(row)
        for one in heads:
            stream.take_head(at, one.node, one.epoch, one.head, one.channel)
        changes = stream.drain()
        self._note(changes, item.leaf, STREAM, {})
        self.lanes.note_spaces(changes.spaces, row, item.leaf)

    def _take_resume(self, item: Item) -> None:
        told = answers.read_resume(item.statement)
        if told is not None:
            self.buses.note_installation(told.bus.installation, item.leaf)
            self.answers.take_resume(told, item.leaf)

    def _take_buffer(self, item: Item) -> None:
        told = answers.read_buffer(item.statement)
        if told is not None:
            self.buses.note_installation(told.bus.installation, item.leaf)
            self.answers.take_buffer(told, item.leaf)

    def _take_keys(self, item: Item) -> None:
        told = surroundings.read_keys(item.statement)
        if told is not None:
            self.buses.note_installation(told.bus.installation, item.leaf)
            self.keys.take(told, item.leaf)

    def _take_replica(self, item: Item) -> None:
        told = surroundings.read_replica(item.statement)
        if told is not None:
            self.buses.note_installation(told.installation, item.leaf)
            self.replicas.take(told, item.leaf)

    def close(self) -> None:
        """Work out what is still to be, before the lock for writing is taken."""
        self.buses.close()
        self.crossing.close()

    def write(self) -> None:
        """Write what the batch came to."""
        for part in (self.settings, self.buses, self.lanes, self.findings):
            part.write()
        for one in (self.answers, self.heads, self.keys, self.replicas):
            one.write()
