"""The phases of Pad's two-phase roll, and which of them may run side by side.

Source: reference/pad.md section 4.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from events.domain.profiles import (
    ACTIVITY_PROFILES,
    BARE,
    GENERATION,
    HEARTBEAT,
    OPAQUE,
    find_profile,
)
from events.domain.records import PREFIXED

S0, S1, S1A, S2, S2A, UNKNOWN = "S0", "S1", "S1a", "S2", "S2a", ""
STATES = {
    S0: "older than the roll: writes and reads bare messages alone",
    S1: "phase 1: writes bare, reads both, knows no epoch yet",
    S1A: "phase 1 and knows an epoch: writes bare, reads both",
    S2: "phase 2: writes epochs, knows none yet",
    S2A: "phase 2 and knows an epoch: writes epochs, reads both",
    UNKNOWN: "not known: no startup line was seen",
}
_TOLD = {"0": S0, "1": S1, "2": S2, **{one.lower(): one for one in (S0, S1, S1A, S2, S2A)}}
_KNOWING = {S1: S1A, S2: S2A}
_LOGGED = frozenset({"1", "2"})

ALL_0, ROLL_1, ALL_1, ROLL_2, ALL_2 = "all_s0", "s0_s1", "all_s1", "s1_s2", "all_s2"
ILLEGAL, NOT_KNOWN = "s0_s2", "unknown"
MIXES = {
    ALL_0: "Before the roll: every replica writes and reads bare messages.",
    ROLL_1: "First roll: nothing is lost, since all that is written is bare.",
    ALL_1: "Phase 1: nothing is lost; a counter that restarts goes unseen.",
    ROLL_2: "Second roll: nothing is lost, since every replica reads both forms.",
    ALL_2: "Phase 2: every replica writes epochs.",
    ILLEGAL: (
        "Not allowed: a replica that reads bare messages alone runs beside one that writes epochs."
        " Its clients lose every message with an epoch, and nothing but an error in its log tells."
    ),
    NOT_KNOWN: "Not known: no replica told its phase.",
}
_OF = {S0: 0, S1: 1, S1A: 1, S2: 2, S2A: 2}
_MIX_OF = {
    frozenset({0}): ALL_0,
    frozenset({0, 1}): ROLL_1,
    frozenset({1}): ALL_1,
    frozenset({1, 2}): ROLL_2,
    frozenset({2}): ALL_2,
}

_TRUE = frozenset({"1", "t", "T", "true", "TRUE", "True"})
_FALSE = frozenset({"0", "f", "F", "false", "FALSE", "False"})


@dataclass(frozen=True, slots=True)
class Flag:
    """The flag of phase 2 as it takes effect, where from, and what is worth a warning."""

    value: bool
    source: str
    warning: str = ""


def effective_flag(env: str | None, file: bool = False) -> Flag:
    """Give the effective flag: the environment beats the file, unless it cannot be read.

    An unset or empty variable says nothing. Clearing it is not enough to go back where the file
    says true.
    """
    if not env:
        return Flag(file, "file")
    if env in _TRUE or env in _FALSE:
        return Flag(env in _TRUE, "environment")
    warning = f"{env[:40]!r} is neither true nor false, so the file's value holds"
    return Flag(file, "file", warning)


def state_of(
    phase: str = "",
    version: str | None = None,
    forms: Iterable[str] = (),
    knows_epoch: bool = False,
) -> tuple[str, str]:
    """Give the state of a replica and the rule that told it.

    In this order: its phase as it told it (`1`, `2`, or the state itself), its version, and the
    forms that it was seen to write. It knows an epoch once a message with one reached it.
    """
    told = _TOLD.get(phase.strip().lower())
    if told is not None:
        return _knowing(told, knows_epoch), "startup_line"
    profile = find_profile(version)
    if profile == BARE:
        return S0, "version"
    written = frozenset(forms)
    if PREFIXED in written:
        return _knowing(S2, knows_epoch), "writes_epochs"
    if written and profile is not None:
        return _knowing(S1, knows_epoch), "writes_bare"
    return UNKNOWN, "no_startup_line"


def version_of(phase: str, heartbeat_phase: str = "", profile: object = None) -> str | None:
    """Give the version of a replica as a profile, or None where nothing tells.

    A startup line tells more with each version: the last alone has a phase of heartbeats, and none
    before `generation` has a phase of the roll. Without one, `profile` is what it is said to read.
    """
    if heartbeat_phase.strip():
        return HEARTBEAT
    if phase.strip() in _LOGGED:
        return GENERATION
    if phase.strip().upper() == S0:
        return BARE
    found = find_profile(profile)
    return found if found in ACTIVITY_PROFILES else None


def mix_of(states: Iterable[str], *, is_prefixed_seen: bool = False) -> str:
    """Name the mix of states; a message with an epoch beside an S0 is the illegal one already."""
    phases = frozenset(_OF[one] for one in states if one in _OF)
    if 0 in phases and (2 in phases or is_prefixed_seen):
        return ILLEGAL
    return _MIX_OF.get(phases, NOT_KNOWN)


def is_armed(state: str, version: str | None) -> bool:
    """Tell whether a replica checks ids against its high-water mark."""
    return state in (S1A, S2A) or (find_profile(version) == OPAQUE and state != S0)


def _knowing(state: str, knows_epoch: bool) -> str:
    return _KNOWING.get(state, state) if knows_epoch else state
