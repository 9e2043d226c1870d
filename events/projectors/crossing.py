"""What looks at all installations of a project together, once there are two.

As long as one alone is watched nothing is held against another, and nothing is paid for it; with
the second one the newest messages of the first are taken in from their table.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

from events.domain.changes import Changes
from events.domain.cross import WINDOW, CrossWatch
from events.domain.records import BARE, PREFIXED, Record
from events.domain.told.segments import SegmentTold
from events.domain.told.settings import ALIAS, SettingTold
from events.projectors import folds
from events.projectors.buses import Buses
from events.projectors.lanes import Lanes
from events.projectors.rows import LaneRow, StateRow
from kit import bulk
from ledger.domain import plain

ALL = ""
"""The name under which its state is kept."""
_FORMS = {one[0]: one for one in (BARE, PREFIXED)}
_NEWEST = (
    "SELECT at, scope, form, id, fingerprint, space, leaf_index, place FROM bus_message "
    "WHERE project_id = %s AND lane = %s AND ordinal >= %s ORDER BY ordinal"
)


@dataclass(slots=True)
class Crossing:
    """The watch over all installations, for one batch."""

    project_id: int
    buses: Buses
    lanes: Lanes
    _watch: CrossWatch | None = None
    _installations: set[str] = field(default_factory=set)

    def open(self, told: SegmentTold) -> None:
        """Begin to watch with the first segment of a second installation."""
        if not self._installations:
            self._installations = set(self.buses.watched())
        self._installations.add(told.bus.installation)
        if self._watch is None and len(self._installations) > 1:
            self._watch = self._begin()

    def take(self, record: Record) -> None:
        """Hold a record against what other installations received."""
        if self._watch is not None:
            self._watch.take(record)

    def take_act(self, told: SettingTold) -> None:
        """Take two names for one installation from here on."""
        if told.verb == ALIAS and self._find() is not None:
            self._alias(told.installation, plain.name_of(told.data.get("alias")))

    def _alias(self, installation: str, other: str) -> None:
        if self._watch is not None and other:
            self._watch.alias(installation, other)

    def drain(self) -> Changes:
        """Hand out what came of the records since the last time."""
        return Changes() if self._watch is None else self._watch.drain()

    def _find(self) -> CrossWatch | None:
        """Give the watch where it was begun."""
        row = None if self._watch is not None else self.buses.states.find(ALL)
        if row is not None:
            self._watch = folds.take_up(self._name, row.state, CrossWatch)
        return self._watch

    def _begin(self) -> CrossWatch:
        found = self._find()
        if found is not None:
            return found
        self._watch = CrossWatch()
        for name, other in self.buses.aliases():
            self._alias(name, other)
        for lane in self.lanes.all():
            self._warm(lane)
        # What is among messages of one installation was never between two.
        self._watch.drain()
        return self._watch

    def _warm(self, lane: LaneRow) -> None:
        """Take in the newest messages of a lane."""
        epochs = {one.ordinal: one.epoch for one in self.lanes.spaces_of(lane.lane)}
        first = max(lane.kept_from, lane.messages - WINDOW)
        stored = bulk.select_rows(_NEWEST, [self.project_id, lane.lane, first])
        fresh = (
            (row[3], row[6], row[7], row[5], row[9], row[4], row[10], row[11])
            for row in self.lanes.messages.get(lane.lane, ())
            if row[2] >= first
        )
        make = partial(Record, installation=lane.installation, bus=lane.bus_name)
        for at, scope, form, number, printed, space, leaf, place in (*stored, *fresh):
            if number is not None and form in _FORMS:
                record = make(
                    at=at, replica=lane.replica, scope=scope, form=_FORMS[form],
                    epoch=epochs.get(space), id=number, fingerprint=printed, place=(leaf, place),
                )  # fmt: skip
                self.take(record)

    @property
    def _name(self) -> str:
        return f"{self.project_id}\ncross"

    def close(self) -> None:
        """Work out the state to be written."""
        if self._watch is not None:
            self.buses.states.put(StateRow(ALL, folds.leave(self._name, self._watch)))
