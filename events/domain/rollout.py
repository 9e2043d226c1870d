"""The rollout board: each replica with its phase, and each counter beside what to expect of it.

Source: reference/pad.md sections 4 and 7.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from events.domain.profiles import HEARTBEAT, find_profile
from events.domain.replicas.resets import EPOCH_CHANGE
from events.domain.roll_counters import (
    COUNTERS,
    NEVER,
    NOTHING,
    OK,
    UNUSUAL,
    WRONG,
    Around,
    Growth,
    Judged,
    Sample,
    absent_of,
    growths_of,
    judge,
)
from events.domain.roll_phases import (
    ILLEGAL,
    MIXES,
    S0,
    S2,
    S2A,
    STATES,
    is_armed,
    mix_of,
    state_of,
    version_of,
)

_WORST = (WRONG, UNUSUAL, NOTHING, OK)
_FRAMES_ON = "2"


@dataclass(frozen=True, slots=True)
class ReplicaFacts:
    """What is known of one replica; whatever is not known is empty.

    `metrics` are samples by the metric's name with its labels, oldest first. `knows_epoch` tells
    that a message with an epoch was published since it started.
    """

    replica: str
    phase: str = ""
    heartbeat_phase: str = ""
    version: str | None = None
    forms: frozenset[str] = frozenset()
    knows_epoch: bool = False
    metrics: Mapping[str, Sequence[Sample]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Cell:
    """One counter of one replica; `growth` is None where no sample was taken.

    `is_absent` tells that its series is not there beside others of the process: it never rose.
    """

    counter: str
    growth: Growth | None
    judged: Judged
    is_absent: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """One replica: its state, the rule that told it, its counters, and the worst verdict."""

    replica: str
    state: str
    label: str
    rule: str
    heartbeat_phase: str
    cells: tuple[Cell, ...]
    verdict: str
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class Board:
    """All replicas of an installation, with the mix of their phases."""

    mix: str
    sentence: str
    is_illegal: bool
    rows: tuple[Row, ...]


def board(replicas: Sequence[ReplicaFacts], *, is_prefixed_seen: bool = False) -> Board:
    """Make the board; `is_prefixed_seen` tells that messages with an epoch are on the bus now."""
    states = {
        one.replica: state_of(one.phase, one.version, one.forms, one.knows_epoch)
        for one in replicas
    }
    mix = mix_of((state for state, _ in states.values()), is_prefixed_seen=is_prefixed_seen)
    sends_frames = any(one.heartbeat_phase.strip() == _FRAMES_ON for one in replicas)
    rows = tuple(_row(one, states[one.replica], mix, sends_frames) for one in replicas)
    return Board(mix, MIXES[mix], mix == ILLEGAL, rows)


def _row(facts: ReplicaFacts, told: tuple[str, str], mix: str, sends_frames: bool) -> Row:
    state, rule = told
    version = facts.version or version_of(facts.phase, facts.heartbeat_phase)
    growths = growths_of(facts.metrics)
    absent = absent_of(growths, version)
    changes = growths.get(EPOCH_CHANGE)
    around = Around(
        mix=mix,
        version=version,
        is_armed=is_armed(state, version),
        changes=0 if changes is None else changes.total,
        has_early_frames=sends_frames and not _reads_frames(facts),
    )
    grown = {**growths, **dict.fromkeys(absent, NEVER)}
    cells = tuple(
        Cell(one, grown.get(one), judge(one, grown.get(one), around), one in absent)
        for one in COUNTERS
    )
    sentence = _illegal(state) if mix == ILLEGAL else ""
    verdict = WRONG if sentence else _worst(cells)
    return Row(
        facts.replica, state, STATES[state], rule, facts.heartbeat_phase, cells, verdict, sentence
    )


def _reads_frames(facts: ReplicaFacts) -> bool:
    return bool(facts.heartbeat_phase.strip()) or find_profile(facts.version) == HEARTBEAT


def _illegal(state: str) -> str:
    if state == S0:
        return "Its clients lose every message with an epoch."
    return "It writes messages that a replica beside it cannot read." if state in (S2, S2A) else ""


def _worst(cells: Sequence[Cell]) -> str:
    """Give the worst verdict of those that were reached; without any it is not known."""
    reached = {one.judged.verdict for one in cells if one.growth is not None}
    return next((one for one in _WORST if one in reached), NOTHING)
