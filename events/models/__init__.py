"""Tables of the events app; all but the tails' notes are derived from the log alone."""

from __future__ import annotations

from events.models.buses import Bus, BusInstallation, BusSetting, BusSpace, BusState, Lane, LaneStep
from events.models.findings import BusBuffer, BusFinding, BusResume
from events.models.health import (
    BusHead,
    BusKey,
    BusMetric,
    BusPhase,
    BusReplica,
    BusReset,
    BusSample,
)
from events.models.messages import BusHole, BusMessage, BusMinute, BusSegment
from events.models.tails import BusTail

__all__ = [
    "Bus",
    "BusBuffer",
    "BusFinding",
    "BusHead",
    "BusHole",
    "BusInstallation",
    "BusKey",
    "BusMessage",
    "BusMetric",
    "BusMinute",
    "BusPhase",
    "BusReplica",
    "BusReset",
    "BusResume",
    "BusSample",
    "BusSegment",
    "BusSetting",
    "BusSpace",
    "BusState",
    "BusTail",
    "Lane",
    "LaneStep",
]
