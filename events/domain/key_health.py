"""What is wrong with a bus's keys in Redis: each fault with the rule that speaks.

The counter, the epoch and the source of epoch numbers must be plain strings that never expire and
are never evicted; losing one restarts ids, or uses an epoch number twice.
Source: reference/pad.md sections 1.2, 1.4, 4 (residual 7) and 7 (point 6).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from events.domain import profiles
from events.domain.findings import CRITICAL, WARNING, Finding
from events.domain.key_values import (
    ABSENT,
    EMPTY,
    EPOCH,
    GENERATION,
    INTEGER,
    NOT_POSITIVE,
    SEQ,
    TEXT,
    TOO_LARGE,
    UUID,
    WRONG_TYPE,
)
from events.domain.told.surroundings import KeysTold, KeyTold

KEY_TTL, KEY_WRONG_TYPE, KEY_BAD_VALUE = "KEY_TTL", "KEY_WRONG_TYPE", "KEY_BAD_VALUE"
KEY_EVICTABLE, KEY_MISSING = "KEY_EVICTABLE", "KEY_MISSING"


class Kind(NamedTuple):
    """What a code of keys stands for: how serious it is, the rule that speaks, and a sentence."""

    severity: str
    rule: str
    sentence: str


CODES: Mapping[str, Kind] = {
    KEY_TTL: Kind(
        WARNING, "key_expires", "The key expires by itself; then ids or epochs begin again."
    ),
    KEY_WRONG_TYPE: Kind(
        CRITICAL,
        "key_is_no_string",
        "The key is no plain string, so that publishing fails or repairs.",
    ),
    KEY_BAD_VALUE: Kind(
        CRITICAL, "value_of_no_use", "The key holds what cannot be counted on from."
    ),
    KEY_EVICTABLE: Kind(
        WARNING, "policy_takes_any_key", "Redis may evict the key when its memory is full."
    ),
    KEY_MISSING: Kind(
        WARNING,
        "source_of_epochs_absent",
        "The source of epoch numbers is gone, so a number can come again.",
    ),
}

LASTING = (SEQ, EPOCH, GENERATION)
_EVERYTHING = "allkeys-"
_ANY_BAD = frozenset({EMPTY, NOT_POSITIVE, TOO_LARGE})


class Fault(NamedTuple):
    """One fault of a key; the policy of eviction is a fault of no key in particular."""

    code: str
    key: str
    facts: Mapping[str, str | int]


def faults_of(told: KeysTold, profile: str) -> list[Fault]:
    """Give what is wrong in one sample of a bus's keys."""
    found = [fault for key in told.keys for fault in _faults_of_key(key, profile)]
    return [*found, *_missing(told.keys), *_evictable(told)]


def _faults_of_key(key: KeyTold, profile: str) -> Iterator[Fault]:
    if key.role not in LASTING or key.value_class == ABSENT:
        return
    about: dict[str, str | int] = {"key": key.name, "role": key.role}
    if key.value_class == WRONG_TYPE:
        yield Fault(KEY_WRONG_TYPE, key.name, {**about, "type": key.type})
    elif key.value_class in _bad_values(key.role, profile):
        yield Fault(KEY_BAD_VALUE, key.name, {**about, "value_class": key.value_class})
    if key.ttl_s is not None and key.ttl_s >= 0:
        yield Fault(KEY_TTL, key.name, {**about, "ttl_s": key.ttl_s})


def _bad_values(role: str, profile: str) -> frozenset[str]:
    """Give the kinds of value that a key must not hold; a text may be an opaque epoch."""
    if role != EPOCH:
        return _ANY_BAD | {TEXT, UUID}
    if profiles.is_ordered(profile):
        return _ANY_BAD | {TEXT, UUID}
    return frozenset({EMPTY})


def _missing(keys: Sequence[KeyTold]) -> Iterator[Fault]:
    by_role = {one.role: one for one in keys}
    source, epoch = by_role.get(GENERATION), by_role.get(EPOCH)
    is_numbered = epoch is not None and epoch.value_class == INTEGER
    if source is not None and source.value_class == ABSENT and is_numbered:
        yield Fault(KEY_MISSING, source.name, {"key": source.name, "role": source.role})


def _evictable(told: KeysTold) -> Iterator[Fault]:
    """A policy over the keys that expire cannot take a key that does not."""
    if told.policy.startswith(_EVERYTHING):
        yield Fault(KEY_EVICTABLE, "", {"policy": told.policy})


def findings_of(told: KeysTold, faults: Iterable[Fault]) -> list[Finding]:
    """Give the findings of a sample's faults, as of its time."""
    return [
        Finding(
            one.code,
            CODES[one.code].severity,
            told.at,
            told.bus.installation,
            told.bus.bus,
            CODES[one.code].rule,
            scope=one.key,
            due_at=told.at,
            facts=one.facts,
        )
        for one in faults
    ]
