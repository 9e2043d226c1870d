"""What people set of buses, and what was in force for a bus as of a leaf."""

from __future__ import annotations

import json
from collections.abc import Mapping

from events.domain import in_force
from events.domain.in_force import InForce
from events.domain.told import settings as told_settings
from events.domain.told.names import BusName
from events.domain.told.settings import CONFIGURE, MAINTAIN
from kit import bulk
from ledger.domain import plain

WINDOWS = 100
"""The newest maintenances that are looked at."""
_NEWEST = (
    "SELECT leaf_index, data FROM bus_setting WHERE project_id = %s AND subject = %s "
    "AND verb = %s AND leaf_index < %s ORDER BY leaf_index DESC LIMIT %s"
)
_TOLD = (
    "SELECT s.profile FROM bus_lane l JOIN bus_lane_step s ON s.project_id = l.project_id "
    "AND s.lane = l.lane AND s.leaf_index = (SELECT max(x.leaf_index) FROM bus_lane_step x "
    "WHERE x.project_id = l.project_id AND x.lane = l.lane AND x.leaf_index < %s) "
    "WHERE l.project_id = %s AND l.bus = %s ORDER BY s.leaf_index DESC LIMIT 1"
)
Data = Mapping[str, object]


def configured(project_id: int, bus: str, end: int) -> tuple[Data, int | None]:
    """Give what was set last of a bus, by its public id, below a leaf, and at which leaf."""
    for leaf, data in _stored(project_id, bus, CONFIGURE, end, 1):
        return plain.object_of(data.get("settings")), leaf
    return {}, None


def maintenances(project_id: int, bus: str, end: int) -> list[tuple[int, int]]:
    """Give the newest maintenances of a bus that were announced below a leaf."""
    found = _stored(project_id, bus, MAINTAIN, end, WINDOWS)[::-1]
    windows = [told_settings.window_of(data) for _, data in found]
    return [one for one in windows if one is not None]


def settings_at(project_id: int, bus: BusName, end: int) -> tuple[InForce, int | None]:
    """Give what was in force for a bus as of the leaves below `end`, and the act that set it."""
    told = bulk.select_rows(_TOLD, [end, project_id, bus.id])
    data, leaf = configured(project_id, bus.id, end)
    profile = told[0][0] if told else ""
    windows = maintenances(project_id, bus.id, end)
    return in_force.settings_of(bus.bus, profile, data, windows), leaf


def _stored(project_id: int, bus: str, verb: str, end: int, most: int) -> list[tuple[int, Data]]:
    rows = bulk.select_rows(_NEWEST, [project_id, bus, verb, end, most])
    return [(leaf, plain.object_of(json.loads(data))) for leaf, data in rows]
