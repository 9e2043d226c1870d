"""The settings in force for a bus: what a person set, and the defaults for the rest.

Source: design section 2 (bus density and profile are receipts), contract section 10.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from events.domain import bus_settings
from events.domain.bus_members import READERS
from events.domain.records import SECOND
from ledger.domain import plain


@dataclass(frozen=True, slots=True)
class InForce:
    """What holds for a bus. `keep` counts messages of a lane, `windows` are maintenances.

    `max_age` bounds a buffer in microseconds, None without a bound.
    """

    profile: str
    density: str
    buffer: int
    keep: int
    windows: tuple[tuple[int, int], ...]
    document: Mapping[str, Any]
    max_age: int | None = None


def settings_of(
    bus: str, told: str, data: Mapping[str, object], windows: Sequence[tuple[int, int]]
) -> InForce:
    """Work out what holds for a bus.

    `told` is the profile that its newest segment names, `data` what a person set, empty where
    nobody did. It is read as the tail of the bus reads it; what is of no bus stands beside it.
    """
    given = plain.object_of(plain.plain(dict(data)))
    found = bus_settings.settings_of(bus, given, told)
    beside = {name: value for name, value in given.items() if name not in READERS}
    return InForce(
        found.profile,
        found.density,
        found.buffer_events,
        found.keep_messages,
        tuple(windows),
        {**beside, **found.as_json()},
        None if found.buffer_seconds is None else found.buffer_seconds * SECOND,
    )
