"""The keys of a Pad bus in its Redis, and what kind of value each holds.

Source: reference/pad.md 1.2 and 1.4.
"""

from __future__ import annotations

import re
import uuid

from events.domain import profiles

SEQ, EPOCH, GENERATION = "seq", "epoch", "gen"
"""The roles of keys: the counter of ids, the ID space in force, the source of its numbers."""

ABSENT, WRONG_TYPE, EMPTY = "absent", "wrong_type", "empty"
INTEGER, NOT_POSITIVE, TOO_LARGE = "integer", "not_positive", "too_large"
UUID, TEXT = "uuid", "text"
SHOWN = frozenset({INTEGER, NOT_POSITIVE, TOO_LARGE, UUID})
"""The kinds whose value is kept; any other may be anything."""

LONGEST = 18
"""From so many digits on a counter counts as unusable."""

_ROOTS = {SEQ: "event_seq", EPOCH: "event_epoch", GENERATION: "event_epoch_gen"}
_WATCH_ROOTS = {SEQ: "watchevents_seq", EPOCH: "watchevents_epoch"}
_NUMBER = re.compile(r"-?[0-9]{1,40}")


def prefix_of(namespace: str) -> str:
    """Give what the names of an installation's keys and channels begin with."""
    return f"pad:{namespace}:" if namespace else "pad:"


def keys_of(profile: str, namespace: str) -> dict[str, str]:
    """Give the names of a bus's keys by role; none where the profile is not Pad's."""
    if profile in profiles.ACTIVITY_PROFILES:
        roots = _ROOTS
    else:
        roots = _WATCH_ROOTS if profile in profiles.WATCH_PROFILES else {}
    return {role: prefix_of(namespace) + root for role, root in roots.items()}


def channels_of(profile: str, namespace: str) -> tuple[str, ...]:
    """Give the patterns of a bus's channels; none where the profile is not Pad's."""
    if profile in profiles.ACTIVITY_PROFILES:
        return (prefix_of(namespace) + "events:*",)
    return (prefix_of(namespace) + "watchevents",) if profile in profiles.WATCH_PROFILES else ()


def class_of(kind: str, value: str | None) -> str:
    """Say what kind of value a key holds, given its type and its value where it is a string."""
    if kind == "none":
        return ABSENT
    if kind != "string":
        return WRONG_TYPE
    if not value:
        return EMPTY
    if _NUMBER.fullmatch(value):
        return _class_of_number(value)
    return UUID if _is_uuid(value) else TEXT


def _class_of_number(value: str) -> str:
    if len(value.lstrip("-0")) >= LONGEST:
        return TOO_LARGE
    return INTEGER if int(value) > 0 else NOT_POSITIVE


def _is_uuid(value: str) -> bool:
    try:
        return str(uuid.UUID(value)) == value.lower()
    except ValueError:
        return False
