"""What tells the versions of Pad's activity bus apart.

Source: reference/pad.md sections 0 and 3.
"""

from __future__ import annotations

from dataclasses import dataclass

from events.domain.profiles import (
    ACTIVITY_PROFILES,
    BARE,
    GENERATION,
    HEARTBEAT,
    OPAQUE,
    profile_of,
)

NONE, TOKENS, NUMBERS = "none", "tokens", "numbers"
"""What a version knows of epochs: nothing, tokens that are equal or not, numbers in an order."""


@dataclass(frozen=True, slots=True)
class Version:
    """One version's habits.

    `checks_ids`: an id at or below the high-water mark is a reset; `needs_epoch`: only once an
    epoch was adopted. `ends_on_junk`: a message that cannot be read ends its workspace's coverage.
    `refuses_peak`: the greatest id that was discarded is refused too, and not only those below.
    `confirms`: it waits for Redis to acknowledge a subscription. `signals`: open subscribers are
    told mid-stream that they missed something.
    """

    profile: str
    epochs: str = NONE
    checks_ids: bool = False
    needs_epoch: bool = False
    ends_on_junk: bool = False
    reads_frames: bool = False
    refuses_peak: bool = False
    confirms: bool = False
    signals: bool = False


_VERSIONS = {
    BARE: Version(BARE),
    OPAQUE: Version(OPAQUE, TOKENS, checks_ids=True),
    GENERATION: Version(
        GENERATION, NUMBERS, checks_ids=True, needs_epoch=True, ends_on_junk=True
    ),
    HEARTBEAT: Version(
        HEARTBEAT, NUMBERS, checks_ids=True, needs_epoch=True, ends_on_junk=True,
        reads_frames=True, refuses_peak=True, confirms=True, signals=True,
    ),
}  # fmt: skip


def version_of(name: str) -> Version:
    """Return a version by either name of its profile; ValueError says which there are."""
    found = _VERSIONS.get(profile_of(name))
    if found is None:
        raise ValueError(
            f"no replica is modelled for {name!r}; write {', '.join(ACTIVITY_PROFILES)}"
        )
    return found
