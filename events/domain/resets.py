"""Resets of replay buffers as replicas count and log them: the reset ledger's rows.

Source: reference/pad.md sections 3.4 and 4. One reason has been spelled in two ways.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from events.domain.replicas.resets import (
    COUNTER_BACKWARD,
    EPOCH_CHANGE,
    EPOCH_REGRESSED,
    IDLE,
    RESUMED,
    UNCONFIRMED,
    UNDECODABLE,
)
from events.domain.whole_numbers import int64_of

ALL_CHANNELS, ONE_CHANNEL, UNKNOWN = "all channels", "one channel", "unknown"
ALIASES = {"counter_backwards": COUNTER_BACKWARD}
_OLD_EPOCH = ("previous_epoch", "current_epoch")
_NEW_EPOCH = ("new_epoch", "message_epoch")


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason for a reset: the version that brought it, whom it hits, what becomes of the floor.

    `expected` says in which number it may come without anybody worrying.
    """

    name: str
    since: str
    scope: str
    floor: str
    meaning: str
    expected: str


_REASONS = (
    Reason(
        RESUMED, "bare", ONE_CHANNEL, "none",
        "The connection was cut and came back; what was published between is unknown.",
        "One for each channel with a replay buffer whenever a connection is cut.",
    ),
    Reason(
        EPOCH_CHANGE, "opaque", ALL_CHANNELS, "cleared",
        "A message came with another epoch, so the ids begin a new ID space.",
        "A handful for each cutover or restart of Redis; a trickle is an epoch key evicted.",
    ),
    Reason(
        COUNTER_BACKWARD, "opaque", ALL_CHANNELS, "raised",
        "An id came at or below one that the buffer already had in the same epoch.",
        "None, but while publishers of both phases run; one that stays is an anomaly.",
    ),
    Reason(
        EPOCH_REGRESSED, "generation", ALL_CHANNELS,
        "kept for 30 s after the epoch was adopted, cleared later",
        "A message came with a lower epoch number than the one in force.",
        "One beside a change of epoch was in flight; a run means that Redis lost writes.",
    ),
    Reason(
        UNDECODABLE, "generation", ONE_CHANNEL, "none",
        "A message could not be read, or names another workspace than its channel.",
        "None.",
    ),
    Reason(
        UNCONFIRMED, "generation+hb", ONE_CHANNEL, "none",
        "Redis did not acknowledge a subscription in time.",
        "None while Redis answers.",
    ),
    Reason(
        IDLE, "generation+hb", ONE_CHANNEL, "none",
        "Neither a message nor a liveness frame came for 90 s, so the subscription was replaced.",
        "None while liveness frames are sent.",
    ),
)  # fmt: skip
REASONS = {one.name: one for one in _REASONS}


@dataclass(frozen=True, slots=True)
class ResetRow:
    """One reset with what its log line tells; unknown parts are None, other fields are kept."""

    reason: str
    is_known: bool
    scope: str
    floor: str
    meaning: str
    expected: str
    workspace: str | None
    old_epoch: str | None
    new_epoch: str | None
    id: int | None
    high_water: int | None


def reason_of(word: str) -> str:
    """Return the one spelling of a reason; a word that nobody told us of stays as it is."""
    return ALIASES.get(word, word)


def reset_row(
    word: str, fields: Mapping[str, object] | None = None, workspace: str | None = None
) -> ResetRow:
    """Put a reset beside what is known of its reason; `fields` are those of the log line."""
    told = {} if fields is None else fields
    reason = REASONS.get(reason_of(word))
    return ResetRow(
        reason=reason_of(word),
        is_known=reason is not None,
        scope=UNKNOWN if reason is None else reason.scope,
        floor=UNKNOWN if reason is None else _floor(reason, told),
        meaning="" if reason is None else reason.meaning,
        expected="" if reason is None else reason.expected,
        workspace=workspace or _text(told, "workspace", "channel_workspace"),
        old_epoch=_text(told, *_OLD_EPOCH),
        new_epoch=_text(told, *_NEW_EPOCH),
        id=int64_of(told.get("id")),
        high_water=int64_of(told.get("high_water_mark")),
    )


def _floor(reason: Reason, told: Mapping[str, object]) -> str:
    """Tell the floor's fate; the fields of a regression tell whether it was inside the window."""
    if reason.name != EPOCH_REGRESSED:
        return reason.floor
    if "message_epoch" in told:
        return "kept"
    return "cleared" if "new_epoch" in told else reason.floor


def _text(told: Mapping[str, object], *names: str) -> str | None:
    for name in names:
        if told.get(name) not in (None, ""):
            return str(told[name])
    return None
