"""A replica's own log, read for its phase and its resets.

Lines are those of Go's slog, as JSON or as `name=value`. Which message goes with which reset is
not fixed, so a reset is known by the fields that it carries. Source: reference/pad.md 3.4 and 4.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from events.domain.resets import reason_of

STARTED = "Event bus using Redis pub/sub"
NOT_READ = "failed to unmarshal Redis event"
"""What the oldest version says of a message with a prefix, which it cannot read."""

LOUD = frozenset({"WARN", "ERROR"})
_PAIR = re.compile(r'(?:^|\s)([A-Za-z_][\w.]*)=("(?:\\.|[^"\\])*"|\S*)')
_OWN = frozenset({"time", "level", "msg", "source"})
_BY_FIELDS: tuple[tuple[frozenset[str], str], ...] = (
    (frozenset({"message_epoch", "current_epoch"}), "epoch_regressed"),
    (frozenset({"previous_epoch", "new_epoch"}), "epoch_change"),
    (frozenset({"high_water_mark", "id"}), "counter_backward"),
    (frozenset({"channel_workspace", "event_workspace"}), "undecodable_message"),
)
_PHASES = ("1", "2")
_LONGEST = 200

Fields = dict[str, str]


def read_line(line: str) -> Fields | None:
    """Read a line into its fields as texts; None where it is no line of slog."""
    fields = _read_json(line) if line.lstrip().startswith("{") else _read_pairs(line)
    return fields if fields and "msg" in fields and "level" in fields else None


def started_of(fields: Mapping[str, str]) -> dict[str, Any] | None:
    """Give what a replica says of itself when it starts; None for any other line."""
    if fields["msg"] != STARTED:
        return None
    phases = {
        ours: int(fields[theirs])
        for ours, theirs in (("phase", "id_space_phase"), ("heartbeat_phase", "heartbeat_phase"))
        if fields.get(theirs, "") in _PHASES
    }
    at = {"started_at": fields["time"]} if "time" in fields else {}
    return {**phases, "namespace": fields.get("namespace", ""), **at}


def reset_of(fields: Mapping[str, str]) -> dict[str, Any] | None:
    """Give the reset that a line tells of; None for any other line."""
    reason = _reason(fields)
    if reason is None or fields["level"] not in LOUD:
        return None
    kept = {n: v[:_LONGEST] for n, v in fields.items() if n not in _OWN and n != "error"}
    reset = {"reason": reason, "at": fields.get("time"), "fields": kept}
    return {**reset, "workspace": fields["workspace"]} if "workspace" in fields else reset


def _reason(fields: Mapping[str, str]) -> str | None:
    if "reason" in fields:
        return reason_of(fields["reason"])[:_LONGEST]
    for names, reason in _BY_FIELDS:
        if names <= fields.keys():
            return _regressed(fields) or reason
    message = fields["msg"].lower()
    if fields["msg"] == NOT_READ or ("channel" in fields and "error" in fields):
        return "undecodable_message"
    if "timeout" in fields and "workspace" in fields:
        return "subscription_unconfirmed"
    is_resumed = {"workspace", "channel"} <= fields.keys() and "subscri" in message
    return "subscription_resumed" if is_resumed else None


def _regressed(fields: Mapping[str, str]) -> str | None:
    """After the window a lower epoch is told with the fields of a change."""
    old, new = fields.get("previous_epoch", ""), fields.get("new_epoch", "")
    is_lower = old.isdecimal() and new.isdecimal() and int(new) < int(old)
    return "epoch_regressed" if is_lower else None


def _read_json(line: str) -> Fields | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    return {name: _text(one) for name, one in value.items() if not isinstance(one, dict | list)}


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _read_pairs(line: str) -> Fields | None:
    found = {name: _unquoted(value) for name, value in _PAIR.findall(line)}
    return found or None


def _unquoted(value: str) -> str:
    if not value.startswith('"'):
        return value
    try:
        return str(json.loads(value))
    except ValueError:
        return value.strip('"')
