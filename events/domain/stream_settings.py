"""What the detectors must know of a bus: its physics, and when its people were at work on it."""

from __future__ import annotations

from dataclasses import dataclass

from events.domain import profiles

_NUMBER_LENGTH = 19


@dataclass(frozen=True, slots=True)
class StreamSettings:
    """One bus of one installation; maintenance windows in microseconds, both ends included.

    On a `dense` bus a missing id is a loss, on a `sparse` one it says nothing (section 0.2).
    """

    installation: str
    bus: str
    profile: str = profiles.GENERIC
    density: str = profiles.DENSE
    maintenance: tuple[tuple[int, int], ...] = ()

    @property
    def is_dense(self) -> bool:
        """Tell whether a missing id is a loss."""
        return self.density == profiles.DENSE

    @property
    def has_one_counter(self) -> bool:
        """Tell whether all channels are known to share one counter, as in Pad."""
        return self.profile in profiles.PAD_PROFILES

    def is_planned(self, at: int) -> bool:
        """Tell whether a maintenance window covers a time."""
        return any(first <= at <= last for first, last in self.maintenance)

    def is_lower(self, epoch: str, than: str) -> bool:
        """Tell whether an epoch is a lower generation number; opaque tokens have no order."""
        if self.profile in (profiles.OPAQUE, *profiles.WATCH_PROFILES):
            return False
        return is_number(epoch) and is_number(than) and int(epoch) < int(than)


def is_number(epoch: str) -> bool:
    """Tell whether an epoch is a generation number: ASCII digits that fit 64 bits."""
    return epoch.isascii() and epoch.isdigit() and len(epoch) <= _NUMBER_LENGTH
