"""What people set of buses and installations, and what is in force for a bus at a receipt."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from events.domain import in_force
from events.domain.in_force import InForce
from events.domain.times import micros
from events.domain.told import settings as told_settings
from events.domain.told.names import BusName
from events.domain.told.settings import CONFIGURE, MAINTAIN, SettingTold
from events.projectors.book import Book
from events.projectors.rows import SettingRow
from kit import bulk
from ledger.domain import plain
from ledger.domain.names import column
from ledger.domain.statement import Statement

WINDOWS = 100
"""The newest maintenances that are looked at."""
_NEWEST = (
    "SELECT leaf_index, data FROM bus_setting WHERE project_id = %s AND subject = %s "
    "AND verb = %s ORDER BY leaf_index DESC LIMIT %s"
)


@dataclass(slots=True)
class _Known:
    data: Mapping[str, object]
    leaf: int | None
    windows: list[tuple[int, int]]


@dataclass(slots=True)
class Settings:
    """The acts of a batch, over those that are stored."""

    project_id: int
    rows: Book[SettingRow] = field(init=False)
    _known: dict[str, _Known] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Start with nothing loaded."""
        self.rows = Book(self.project_id, "bus_setting", SettingRow, 2)

    def take(self, told: SettingTold, statement: Statement) -> None:
        """Note an act."""
        self.rows.put(
            SettingRow(
                told.subject,
                statement.leaf,
                told.verb,
                column(statement.act_target),
                json.dumps(plain.plain(dict(told.data)), sort_keys=True),
                micros(statement.happened_at),
                told.actor,
            )
        )
        if told.bus:
            known = self._of(told.subject)
            if told.verb == CONFIGURE:
                known.data, known.leaf = plain.object_of(told.data.get("settings")), statement.leaf
            elif (window := told_settings.window_of(told.data)) is not None:
                known.windows = [*known.windows, window][-WINDOWS:]

    def of(self, bus: BusName, profile: str) -> tuple[InForce, int | None]:
        """Give what is in force for a bus of which a segment names the profile, and since when."""
        known = self._of(bus.id)
        return in_force.settings_of(bus.bus, profile, known.data, known.windows), known.leaf

    def _of(self, subject: str) -> _Known:
        if subject not in self._known:
            self._known[subject] = self._load(subject)
        return self._known[subject]

    def _load(self, subject: str) -> _Known:
        known = _Known({}, None, [])
        for leaf, data in self._stored(subject, CONFIGURE, 1):
            known.data, known.leaf = plain.object_of(data.get("settings")), leaf
        for _, data in reversed(self._stored(subject, MAINTAIN, WINDOWS)):
            window = told_settings.window_of(data)
            known.windows += [] if window is None else [window]
        return known

    def _stored(self, subject: str, verb: str, most: int) -> list[tuple[int, Mapping[str, object]]]:
        rows = bulk.select_rows(_NEWEST, [self.project_id, subject, verb, most])
        return [(leaf, plain.object_of(json.loads(data))) for leaf, data in rows]

    def write(self) -> None:
        """Write the acts."""
        self.rows.write()
