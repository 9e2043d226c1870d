"""Answers to resumes that were really given, and buffers as their instances dumped them.

Source: contract section 2, observe `resume` and `buffer`.
"""

from __future__ import annotations

from dataclasses import dataclass

from events.domain.told import names
from events.domain.told.names import BusName
from ledger.domain import plain
from ledger.domain.statement import Statement

MOST_IDS = 2_048
"""The ids of a dump that are kept, the last ones: a ring of Pad holds 1,024."""


@dataclass(frozen=True, slots=True)
class ResumeTold:
    """One answer; ids as the texts that came, None where nothing was said."""

    bus: BusName
    replica: str
    channel: str
    at: int
    cursor: str | None
    epoch: str | None
    given: str
    served: int | None
    first: str | None
    last: str | None


@dataclass(frozen=True, slots=True)
class BufferTold:
    """One dump; `ids` are the last of them in the order of the buffer, `count` counts all."""

    bus: BusName
    replica: str
    channel: str
    at: int
    epoch: str | None
    floor: str | None
    high_water: str | None
    capacity: int | None
    count: int
    ids: list[str]


def read_resume(statement: Statement) -> ResumeTold | None:
    """Read an answer; None for a receipt that is none, or names no bus."""
    bus = _bus(statement, "resume")
    if bus is None:
        return None
    body = statement.body
    return ResumeTold(
        bus,
        names.replica_of(statement),
        plain.name_of(body.get("channel")),
        names.moment_of(statement, "at"),
        names.text_or_none(body.get("cursor")),
        names.text_or_none(body.get("epoch")),
        plain.name_of(body.get("answer")),
        names.int64_of(body.get("served")),
        names.text_or_none(body.get("first")),
        names.text_or_none(body.get("last")),
    )


def read_buffer(statement: Statement) -> BufferTold | None:
    """Read a dump; None for a receipt that is none, or names no bus."""
    bus = _bus(statement, "buffer")
    if bus is None:
        return None
    body = statement.body
    listed = plain.list_of(body.get("ids"))
    return BufferTold(
        bus,
        names.replica_of(statement),
        plain.name_of(body.get("channel")),
        names.moment_of(statement, "at", "sampled_at"),
        names.text_or_none(body.get("epoch")),
        names.text_or_none(body.get("floor")),
        names.text_or_none(body.get("high_water")),
        names.int64_of(body.get("capacity")),
        len(listed),
        [plain.name_of(one) for one in listed[-MOST_IDS:]],
    )


def _bus(statement: Statement, what: str) -> BusName | None:
    is_told = statement.kind == "observe" and statement.what == what and statement.is_readable
    return names.bus_of(statement) if is_told else None
