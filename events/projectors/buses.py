"""Buses as segments come in: their rows, the state of their detectors, and installations."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import partial

from events.domain.in_force import InForce
from events.domain.records import FRAME, JUNK, Record
from events.domain.stream import Stream
from events.domain.stream_settings import StreamSettings
from events.domain.told import names
from events.domain.told.names import EARLIEST, BusName
from events.domain.told.segments import SegmentTold
from events.domain.told.settings import ALIAS, SettingTold
from events.projectors import folds
from events.projectors.book import Book
from events.projectors.rows import BusRow, InstallationRow, StateRow
from events.projectors.settings import Settings
from kit import bulk
from ledger.domain import plain

_WATCHED = "SELECT DISTINCT installation FROM bus WHERE project_id = %s"


@dataclass(slots=True)
class Buses:
    """The buses of a batch."""

    project_id: int
    settings: Settings
    rows: Book[BusRow] = field(init=False)
    installations: Book[InstallationRow] = field(init=False)
    states: Book[StateRow] = field(init=False)
    _streams: dict[str, tuple[StreamSettings, Stream]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Start with nothing loaded."""
        self.rows = Book(self.project_id, "bus", BusRow, 1)
        self.installations = Book(self.project_id, "bus_installation", InstallationRow, 1)
        self.states = Book(self.project_id, "bus_state", StateRow, 1)

    def note_installation(self, name: str, leaf: int) -> InstallationRow:
        """Note that a receipt told of an installation."""
        key = names.installation_id(name)
        row = self.installations.find(key) or InstallationRow(key, name, "", None, leaf, leaf)
        row.last_leaf = leaf
        return self.installations.put(row)

    def take_act(self, told: SettingTold, profile: str, leaf: int) -> None:
        """Let an act change what is in force from here on, for a bus that says its profile."""
        row = self.note_installation(told.installation, leaf)
        if told.verb == ALIAS:
            row.alias_of, row.alias_leaf = plain.name_of(told.data.get("alias")), leaf
            return
        bus = self.rows.find(told.subject)
        if bus is not None:
            self._configure(bus, BusName(told.installation, told.bus), profile)

    def open(self, told: SegmentTold, leaf: int) -> tuple[BusRow, InForce]:
        """Give the bus of a segment, with what is in force for it now."""
        self.note_installation(told.bus.installation, leaf)
        row = self.rows.find(told.bus.id) or BusRow(
            told.bus.id, names.installation_id(told.bus.installation), told.bus.installation,
            told.bus.bus, told.profile, "", "", None, leaf, leaf, told.from_at, told.to_at,
        )  # fmt: skip
        row.last_leaf = leaf
        row.from_at, row.to_at = min(row.from_at, told.from_at), max(row.to_at, told.to_at)
        row.refused += told.refused
        return row, self._configure(row, told.bus, told.profile)

    def _configure(self, row: BusRow, bus: BusName, told: str) -> InForce:
        """Put what is in force into a bus's row, and give its detectors the same."""
        in_force, leaf = self.settings.of(bus, told)
        row.profile, row.density = in_force.profile, in_force.density
        row.settings = json.dumps(in_force.document, sort_keys=True)
        row.settings_leaf = leaf
        self.rows.put(row)
        wanted = StreamSettings(
            row.installation, row.name, in_force.profile, in_force.density, in_force.windows
        )
        known = self._streams.get(row.bus)
        if known is None:
            text = self._state(row.bus)
            begun = folds.take_up(self._name(wanted), text, partial(Stream, wanted))
            self._streams[row.bus] = (wanted, begun)
        elif known[0] != wanted:
            self._streams[row.bus] = (wanted, Stream(wanted, known[1].state()))
        return in_force

    def in_force(self, bus: BusName) -> InForce:
        """Give what is in force for a bus, also before a segment of it came."""
        row = self.rows.find(bus.id)
        return self.settings.of(bus, "" if row is None else row.profile)[0]

    def stream(self, row: BusRow) -> Stream:
        """Give the detectors of a bus."""
        if row.bus not in self._streams:
            self._configure(row, BusName(row.installation, row.name), row.profile)
        return self._streams[row.bus][1]

    def watched(self) -> list[str]:
        """Give the names of the installations that have a bus, as the batch left them so far."""
        stored = bulk.select_rows(_WATCHED, [self.project_id])
        fresh = {row.installation for row in self.rows.fresh()}
        return sorted({name for (name,) in stored} | fresh)

    def aliases(self) -> list[tuple[str, str]]:
        """Give the pairs of names that are one installation, in the order in which it was said."""
        found = [*self.installations.load("since_leaf >= %s", [0]), *self.installations.fresh()]
        said = [(one.alias_leaf, one.name, one.alias_of) for one in found if one.alias_of]
        return [(name, other) for _, name, other in sorted(said)]

    def _state(self, bus: str) -> str | None:
        row = self.states.find(bus)
        return None if row is None else row.state

    def _name(self, about: object) -> str:
        return f"{self.project_id}\n{about!r}"

    def close(self) -> None:
        """Work out the states to be written, so that no lock is held for it."""
        for bus, (settings, stream) in self._streams.items():
            self.states.put(StateRow(bus, folds.leave(self._name(settings), stream)))

    def write(self) -> None:
        """Write what the batch came to."""
        self.rows.write()
        self.installations.write()
        self.states.write()


def count(row: BusRow, record: Record) -> None:
    """Count a message, a frame or junk of a bus."""
    row.messages += 1
    row.frames += record.form == FRAME
    row.junk += record.form == JUNK
    row.last_at = max(record.at, EARLIEST if row.last_at is None else row.last_at)
