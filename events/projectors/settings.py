"""What people set of buses and installations, and what is in force for a bus at a receipt."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from events.domain import in_force
from events.domain.in_force import InForce
from events.domain.told import settings as told_settings
from events.domain.told.names import BusName, moment_of
from events.domain.told.settings import CONFIGURE, MAINTAIN, SettingTold
from events.projectors.book import Book
from events.projectors.rows import SettingRow
from events.queries import bus_settings
from ledger.domain import plain
from ledger.domain.names import column
from ledger.domain.statement import Statement
from ledger.queries.as_of import LAST_LEAF


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
        """Note an act; a maintenance whose time cannot be read is none."""
        window = told_settings.window_of(told.data) if told.verb == MAINTAIN else None
        if told.verb == MAINTAIN and window is None:
            return
        self.rows.put(
            SettingRow(
                told.subject,
                statement.leaf,
                told.verb,
                column(statement.act_target),
                json.dumps(plain.plain(dict(told.data)), sort_keys=True),
                moment_of(statement),
                told.actor,
            )
        )
        if told.verb == CONFIGURE:
            known = self._of(told.subject)
            known.data, known.leaf = plain.object_of(told.data.get("settings")), statement.leaf
        elif window is not None:
            known = self._of(told.subject)
            known.windows = [*known.windows, window][-bus_settings.WINDOWS :]

    def of(self, bus: BusName, profile: str) -> tuple[InForce, int | None]:
        """Give what is in force for a bus of which a segment names the profile, and since when."""
        known = self._of(bus.id)
        return in_force.settings_of(bus.bus, profile, known.data, known.windows), known.leaf

    def _of(self, subject: str) -> _Known:
        if subject not in self._known:
            self._known[subject] = self._load(subject)
        return self._known[subject]

    def _load(self, subject: str) -> _Known:
        data, leaf = bus_settings.configured(self.project_id, subject, LAST_LEAF)
        windows = bus_settings.maintenances(self.project_id, subject, LAST_LEAF)
        return _Known(data, leaf, windows)

    def write(self) -> None:
        """Write the acts."""
        self.rows.write()
