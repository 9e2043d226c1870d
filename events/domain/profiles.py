"""Profiles: what a bus writes on the wire, by the version of Pad, or named paths in any JSON.

`watch+hb` is the watch bus of the version that sends liveness frames on it as well.
Source: reference/pad.md sections 0, 2 and 5; contract section 8.
"""

from __future__ import annotations

BARE, OPAQUE, GENERATION, HEARTBEAT = "bare", "opaque", "generation", "generation+hb"
WATCH, WATCH_HEARTBEAT, GENERIC = "watch", "watch+hb", "generic"
ACTIVITY_PROFILES = (BARE, OPAQUE, GENERATION, HEARTBEAT)
WATCH_PROFILES = (WATCH, WATCH_HEARTBEAT)
PAD_PROFILES = (*ACTIVITY_PROFILES, *WATCH_PROFILES)
PROFILES = (*PAD_PROFILES, GENERIC)
_VERSIONS = dict(zip(("v0", "v1", "v2", "v3"), ACTIVITY_PROFILES, strict=True))
_ORDERED = frozenset({GENERATION, HEARTBEAT})
_BY_BUS = {"activity": HEARTBEAT, "watch": WATCH}

DENSE, SPARSE = "dense", "sparse"


def find_profile(name: object) -> str | None:
    """Return the second name of a profile (`v2` is `generation`), or None where there is none."""
    if not isinstance(name, str):
        return None
    profile = _VERSIONS.get(name, name)
    return profile if profile in PROFILES else None


def profile_of(name: object) -> str:
    """Return the second name of a profile; ValueError says which names there are."""
    profile = find_profile(name)
    if profile is None:
        raise ValueError(f"no profile is named {name!r}; write one of {', '.join(PROFILES)}")
    return profile


def default_profile(bus: str) -> str:
    """Return the profile of a bus of which nothing else is said."""
    return _BY_BUS.get(bus, GENERIC)


def default_density(profile: str) -> str:
    """Tell whether ids of a profile follow one another as an observer of a channel sees them.

    Pad's activity bus has one counter for all workspaces, so that holes are normal in each.
    """
    return SPARSE if profile in ACTIVITY_PROFILES else DENSE


def is_ordered(profile: str) -> bool:
    """Tell whether epochs are generation numbers, which have an order, and not mere tokens."""
    return profile in _ORDERED
