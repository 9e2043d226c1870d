"""The settings in force for a bus: what a person set, and the defaults for the rest.

Source: design section 2 (bus density and profile are receipts), contract section 10.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from events.domain import profiles
from events.domain.told import names
from ledger.domain import plain

BUFFER = 1_024
"""Events that a replay buffer of Pad holds (reference/pad.md section 3.1)."""
KEEP = 1_000_000
MOST_KEPT = 100_000_000


@dataclass(frozen=True, slots=True)
class InForce:
    """What holds for a bus. `keep` counts messages of a lane, `windows` are maintenances."""

    profile: str
    density: str
    buffer: int
    keep: int
    windows: tuple[tuple[int, int], ...]
    document: Mapping[str, Any]


def settings_of(
    bus: str, told: str, data: Mapping[str, object], windows: Sequence[tuple[int, int]]
) -> InForce:
    """Work out what holds for a bus.

    `told` is the profile that its newest segment names, `data` what a person set, empty where
    nobody did.
    """
    named = profiles.find_profile(data.get("profile")) or profiles.find_profile(told)
    profile = named or profiles.default_profile(bus)
    density = data.get("density")
    if density not in (profiles.DENSE, profiles.SPARSE):
        density = profiles.default_density(profile)
    buffer = _count(plain.object_of(data.get("buffer")).get("events"), BUFFER)
    keep = _count(plain.object_of(data.get("keep")).get("messages"), KEEP)
    given = plain.plain(dict(data))
    document = {
        **(given if isinstance(given, dict) else {}),
        "profile": profile,
        "density": density,
        "buffer": {**plain.object_of(plain.plain(data.get("buffer"))), "events": buffer},
        "keep": {"messages": keep},
    }
    return InForce(profile, str(density), buffer, keep, tuple(windows), document)


def _count(value: object, usual: int) -> int:
    number = names.int64_of(value)
    return usual if number is None or not 0 < number <= MOST_KEPT else number
