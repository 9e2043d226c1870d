"""What samples tell of a bus beside its messages: heads, keys, and replicas' own words.

Source: contract section 2, observe `heads`; reference/pad.md sections 1.2, 3.4, 4 and 7.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from events.domain.resets import reason_of
from events.domain.told import names
from events.domain.told.names import BusName
from ledger.domain import plain
from ledger.domain.statement import Statement

MOST_LISTED = 1_000
"""Heads, keys, counters or resets of one receipt that are read."""


@dataclass(frozen=True, slots=True)
class HeadTold:
    """The newest id at the authority, as one node of it told."""

    channel: str
    node: str
    epoch: str | None
    head: int


@dataclass(frozen=True, slots=True)
class KeyTold:
    """One key; `ttl_s` is -1 for a key that does not expire."""

    name: str
    role: str
    type: str
    value_class: str
    ttl_s: int | None
    value: str | None


@dataclass(frozen=True, slots=True)
class KeysTold:
    """One sample of a bus's keys; a channel's subscribers are None where nobody counted."""

    bus: BusName
    at: int
    keys: list[KeyTold]
    policy: str
    channels: list[tuple[str, int | None]]


@dataclass(frozen=True, slots=True)
class ResetTold:
    """One reset that a replica told of."""

    word: str
    at: int
    workspace: str
    fields: str

    @property
    def reason(self) -> str:
        """Give the one name that all spellings of the reason have (the reference's finding 6)."""
        return reason_of(self.word)


@dataclass(frozen=True, slots=True)
class ReplicaTold:
    """What a replica told of itself at once; phases are None where it said nothing of them."""

    installation: str
    replica: str
    at: int
    phase: str | None
    heartbeat_phase: str | None
    namespace: str | None
    started_at: int | None
    metrics: Mapping[str, float]
    resets: list[ResetTold]


def read_heads(statement: Statement) -> tuple[BusName, int, list[HeadTold]] | None:
    """Read a sample of heads with its bus and time; None for another, or one that names no bus.

    Heads of loops name no bus.
    """
    bus = names.bus_of(statement) if _is_told(statement, "heads") else None
    if bus is None:
        return None
    found = []
    for given in plain.list_of(statement.body.get("heads"))[:MOST_LISTED]:
        one = plain.object_of(given)
        head = names.int64_of(one.get("head"))
        if head is not None:
            channel, node = plain.name_of(one.get("channel")), plain.name_of(one.get("node"))
            found.append(HeadTold(channel, node, names.text_or_none(one.get("epoch")), head))
    return bus, names.moment_of(statement, "sampled_at"), found


def read_keys(statement: Statement) -> KeysTold | None:
    """Read a sample of keys; None for another, or one that names no bus."""
    bus = names.bus_of(statement) if _is_told(statement, "keys") else None
    if bus is None:
        return None
    body = statement.body
    listed = [plain.object_of(one) for one in plain.list_of(body.get("keys"))[:MOST_LISTED]]
    heard = [plain.object_of(one) for one in plain.list_of(body.get("channels"))[:MOST_LISTED]]
    return KeysTold(
        bus,
        names.moment_of(statement, "sampled_at"),
        [_key(one) for one in listed if plain.name_of(one.get("name"))],
        plain.name_of(body.get("policy")),
        [(plain.name_of(one.get("channel")), _count(one.get("subscribers"))) for one in heard],
    )


def _key(one: Mapping[str, object]) -> KeyTold:
    return KeyTold(
        plain.name_of(one.get("name")),
        plain.name_of(one.get("role")),
        plain.name_of(one.get("type")),
        plain.name_of(one.get("value_class")),
        names.int64_of(one.get("ttl_s")),
        names.text_or_none(one.get("value")),
    )


def read_replica(statement: Statement) -> ReplicaTold | None:
    """Read what a replica told of itself; None for another receipt, or one that names none."""
    if not _is_told(statement, "replica"):
        return None
    body = statement.body
    replica = plain.name_of(body.get("replica"))
    if not replica:
        return None
    at = names.moment_of(statement, "sampled_at")
    return ReplicaTold(
        names.installation_of(statement),
        replica,
        at,
        names.text_or_none(body.get("phase")),
        names.text_or_none(body.get("heartbeat_phase")),
        names.text_or_none(body.get("namespace")),
        names.time_or_none(body.get("started_at")),
        _metrics(body.get("metrics")),
        [_reset(plain.object_of(one), at) for one in _listed(body.get("resets"))],
    )


def _metrics(given: object) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, value in sorted(plain.object_of(given).items())[:MOST_LISTED]:
        token = plain.number_token(value)
        number = math.nan if token is None or len(token) > 40 else float(token)
        if math.isfinite(number):
            found[plain.name_of(name)] = number
    return found


def _reset(one: Mapping[str, object], at: int) -> ResetTold:
    told_at = names.time_or_none(one.get("at"))
    return ResetTold(
        plain.name_of(one.get("reason")),
        at if told_at is None else told_at,
        plain.name_of(one.get("workspace")),
        plain.json_text(plain.plain(plain.object_of(one.get("fields")))),
    )


def _listed(given: object) -> list[object]:
    return plain.list_of(given)[:MOST_LISTED]


def _count(given: object) -> int | None:
    number = names.int64_of(given)
    return None if number is None or number < 0 else number


def _is_told(statement: Statement, what: str) -> bool:
    return statement.kind == "observe" and statement.what == what and statement.is_readable
