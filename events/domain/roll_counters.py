"""Counters of replicas during a roll: how they grew, and what they may show in which phase.

Source: reference/pad.md section 4. Counters rise and start again at 0 with their process.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from events.domain.profiles import ACTIVITY_PROFILES, BARE, OPAQUE, find_profile
from events.domain.records import SECOND
from events.domain.replicas.resets import (
    COUNTER_BACKWARD,
    EPOCH_CHANGE,
    EPOCH_REGRESSED,
    RESUMED,
    UNDECODABLE,
)
from events.domain.resets import REASONS, reason_of
from events.domain.roll_phases import ALL_0, ALL_1, ALL_2, ILLEGAL, NOT_KNOWN, ROLL_1, ROLL_2

GAPS = "resume_gaps"
COUNTERS = (EPOCH_CHANGE, COUNTER_BACKWARD, GAPS, EPOCH_REGRESSED, UNDECODABLE, RESUMED)
OK, UNUSUAL, WRONG, NOTHING = "ok", "unusual", "illegal", "unknown"

HANDFUL, ABOUT_NONE, TRICKLE = 5, 2, 3
"""How many are a handful, how many are about none, and how many rises apart are a trickle."""
SETTLES = 600 * SECOND
"""A rise that pauses no longer than this, and goes on for longer, does not settle."""

_RESETS, _GAPS = "pad_event_sequence_resets_total", "pad_event_resume_gaps_total"
_REASON = re.compile(r'[{,]\s*reason="([^"]*)"')


class Sample(NamedTuple):
    """A counter's value at a time, in microseconds since 1970."""

    at: int
    value: float


@dataclass(frozen=True, slots=True)
class Growth:
    """How a counter grew over its samples: by how much, in how many rises, how often from 0.

    `is_lasting` tells that it goes on rising and does not settle.
    """

    total: int
    rises: int
    restarts: int
    last: int
    is_lasting: bool = False


NEVER = Growth(0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Judged:
    """A counter beside what may be expected of it, and the rule that judged.

    `expected` is empty where nothing can be.
    """

    verdict: str
    expected: str
    rule: str
    note: str = ""


def counter_of(name: str) -> str | None:
    """Name the counter of a metric by its name with labels, or None for one we do not judge."""
    base = name.partition("{")[0]
    if base == _GAPS:
        return GAPS
    found = _REASON.search(name) if base == _RESETS else None
    reason = reason_of(found[1]) if found else None
    return reason if reason in COUNTERS else None


def growth_of(samples: Sequence[Sample], since: int, until: int) -> Growth | None:
    """Give how a counter grew between the first and the newest look at its replica.

    Samples may be of changes alone. A value below the one before is a process that started again,
    and all of it is new; so is the first value of a counter that was not there at the first look,
    since a label is shown once it has counted.
    """
    if not samples:
        return None
    start = Sample(since, 0 if samples[0].at > since else samples[0].value)
    steps = [
        (after.at, after.value - (before.value if after.value >= before.value else 0))
        for before, after in pairwise((start, *samples))
    ]
    rises = [at for at, step in steps if step > 0]
    return Growth(
        total=int(sum(step for _, step in steps)),
        rises=len(rises),
        restarts=sum(1 for before, after in pairwise(samples) if after.value < before.value),
        last=int(samples[-1].value),
        is_lasting=_is_lasting(rises, until),
    )


def _is_lasting(rises: Sequence[int], until: int) -> bool:
    """Tell whether the newest run of rises is still going and older than it takes to settle."""
    if not rises or until - rises[-1] > SETTLES:
        return False
    began = rises[-1]
    for at in reversed(rises):
        if began - at > SETTLES:
            break
        began = at
    return rises[-1] - began > SETTLES


@dataclass(frozen=True, slots=True)
class Around:
    """What a counter of one replica is judged by beside itself.

    `changes` are the epoch changes that the replica counted, `is_armed` tells that it checks ids
    against its high-water mark, `has_early_frames` that another replica sends liveness frames,
    which this one cannot read.
    """

    mix: str
    version: str | None = None
    is_armed: bool = False
    changes: int = 0
    has_early_frames: bool = False


def judge(counter: str, growth: Growth | None, around: Around) -> Judged:
    """Judge a counter's growth by what its replica's phase and the mix around it let expect."""
    if find_profile(around.version) == BARE and counter not in (GAPS, RESUMED):
        return Judged(OK if growth is None else NOTHING, "", "not_counted",
                      "This version has no such counter.")  # fmt: skip
    expected = _JUDGES[counter](growth, around)
    if growth is None:
        return Judged(NOTHING, expected.expected, "no_samples", expected.note)
    return expected


def _change(growth: Growth | None, around: Around) -> Judged:
    total, rises = (growth.total, growth.rises) if growth else (0, 0)
    if around.mix in (ALL_0, ROLL_1, ALL_1):
        note = "Nobody should write epochs yet: look for a flipped replica or a shared namespace."
        return _most(0, total, "0", "no_epochs_yet", note)
    if around.mix == ROLL_2:
        note = "It comes where bare messages were buffered before the first one with an epoch."
        return _most(1, total, "at most 1", "once_a_replica", note)
    if around.mix == ALL_2:
        is_trickle = total > HANDFUL or rises > TRICKLE
        note = "A trickle means that the epoch key is evicted."
        return Judged(
            UNUSUAL if is_trickle else OK, "a handful for each cutover or restart of Redis",
            "handful", note,
        )  # fmt: skip
    return _unread(around.mix)


def _backward(growth: Growth | None, around: Around) -> Judged:
    total, rises = (growth.total, growth.rises) if growth else (0, 0)
    if around.mix in (ALL_0, ROLL_1, ALL_1):
        if around.is_armed:
            why = "version_always_checks" if _is_opaque(around) else "knows_an_epoch"
            note = "Two publishers that take turns look like a counter that goes back."
            return Judged(OK, "may rise", why, note)
        note = "The replica should not check ids before it has seen an epoch."
        return _most(0, total, "0", "not_armed", note)
    if around.mix == ROLL_2:
        if not around.is_armed:
            return _most(0, total, "0", "not_armed", "It has seen no epoch yet.")
        note = "It ends when the last publisher is flipped."
        return Judged(OK, "rises while publishers of phase 1 remain", "both_publish", note)
    if around.mix == ALL_2:
        is_lasting = total > ABOUT_NONE or rises >= TRICKLE
        note = "One that goes on is an anomaly: two counters write to one channel."
        return Judged(UNUSUAL if is_lasting else OK, "about 0", "steady_state", note)
    return _unread(around.mix)


def _gaps(growth: Growth | None, around: Around) -> Judged:
    if around.mix in (ROLL_1, ROLL_2):
        is_lasting = growth is not None and growth.is_lasting
        note = "A rise that does not settle is a loop: clients are refused again and again."
        return Judged(
            UNUSUAL if is_lasting else OK, "a step for each restart, then it settles", "settles",
            note,
        )  # fmt: skip
    if around.mix in (ILLEGAL, NOT_KNOWN):
        return _unread(around.mix)
    return Judged(OK, "its usual rate", "baseline")


def _regressed(growth: Growth | None, around: Around) -> Judged:
    note = (
        "One beside a change of epoch was in flight. A run means that Redis lost writes, or a"
        " repaired epoch number of ten digits."
    )
    total = growth.total if growth else 0
    return _most(around.changes, total, "at most one for each epoch change", "in_flight", note)


def _undecodable(growth: Growth | None, around: Around) -> Judged:
    total = growth.total if growth else 0
    if around.has_early_frames and total > 0:
        note = "Another replica sends liveness frames, which this version cannot read."
        return Judged(UNUSUAL, "0", "frames_too_early", note)
    return _most(0, total, "0", "none_expected", "Something else publishes on these channels.")


def _resumed(growth: Growth | None, around: Around) -> Judged:
    is_lasting = growth is not None and growth.is_lasting
    note = "One for each channel with a buffer. One that goes on is a connection that flaps."
    return Judged(UNUSUAL if is_lasting else OK, "a step for each cut", "cuts", note)


_JUDGES = {
    EPOCH_CHANGE: _change,
    COUNTER_BACKWARD: _backward,
    GAPS: _gaps,
    EPOCH_REGRESSED: _regressed,
    UNDECODABLE: _undecodable,
    RESUMED: _resumed,
}


def _is_opaque(around: Around) -> bool:
    return find_profile(around.version) == OPAQUE


def _most(most: int, total: int, expected: str, rule: str, note: str) -> Judged:
    return Judged(UNUSUAL if total > most else OK, expected, rule, note)


def _unread(mix: str) -> Judged:
    if mix == ILLEGAL:
        return Judged(NOTHING, "", "events_are_lost", "It says nothing while events are lost.")
    return Judged(NOTHING, "", "phase_not_known", "The phase is not known.")


def growths_of(metrics: Mapping[str, Sequence[Sample]]) -> dict[str, Growth]:
    """Give how each counter that we judge grew; spellings of one reason are added up.

    All metrics of the replica tell when it was looked at first and last.
    """
    times = [one.at for samples in metrics.values() for one in samples]
    found: dict[str, Growth] = {}
    for name, samples in metrics.items():
        counter = counter_of(name)
        growth = growth_of(samples, min(times), max(times)) if counter and samples else None
        if counter is not None and growth is not None:
            found[counter] = _added(found[counter], growth) if counter in found else growth
    return found


def absent_of(growths: Mapping[str, Growth], version: str | None) -> frozenset[str]:
    """Give the reset reasons that never rose: a label has a series only once it has counted.

    Nothing is said of a process without any sample, and of a version that may not know a reason.
    """
    profile = find_profile(version)
    if not growths or profile not in ACTIVITY_PROFILES:
        return frozenset()
    known = ACTIVITY_PROFILES[: ACTIVITY_PROFILES.index(profile) + 1]
    counted = (one for one in COUNTERS if one in REASONS and REASONS[one].since in known)
    return frozenset(counted) - growths.keys()


def _added(one: Growth, other: Growth) -> Growth:
    return Growth(
        one.total + other.total,
        one.rises + other.rises,
        max(one.restarts, other.restarts),
        one.last + other.last,
        one.is_lasting or other.is_lasting,
    )
