"""Buses as a person configured them, by the newest act on each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from events.domain.told.settings import CONFIGURE
from events.models import BusSetting

_PREFIX = "bus:"


def settings_of_bus(project_id: int, bus: str) -> dict[str, Mapping[str, Any]]:
    """Give the settings of the buses of a name by their installations, as far as derived."""
    acts = BusSetting.objects.filter(
        project_id=project_id,
        verb=CONFIGURE,
        target__startswith=_PREFIX,
        target__endswith=f"/{bus}",
    )
    found: dict[str, Mapping[str, Any]] = {}
    for target, data in acts.order_by("leaf_index").values_list("target", "data"):
        installation, _, name = target.removeprefix(_PREFIX).partition("/")
        if name == bus:
            found[installation] = _settings(data)
    return found


def list_configured(project_id: int) -> list[tuple[str, str]]:
    """List the buses that a person configured, as (installation, bus)."""
    targets = BusSetting.objects.filter(project_id=project_id, verb=CONFIGURE)
    named = sorted(set(targets.values_list("target", flat=True)))
    parts = [one.removeprefix(_PREFIX).partition("/") for one in named]
    return [(installation, bus) for installation, _, bus in parts]


def _settings(data: str) -> Mapping[str, Any]:
    told = json.loads(data)
    settings = told.get("settings") if isinstance(told, dict) else None
    return settings if isinstance(settings, dict) else {}
