"""A segment as projectors take it: its lane, its time, and its records with their lengths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from events.domain import profiles, rows, segments
from events.domain.records import Record
from events.domain.told import names
from events.domain.told.names import EARLIEST, LATEST, BusName
from ledger.domain import plain
from ledger.domain.statement import Statement


@dataclass(frozen=True, slots=True)
class Taken:
    """One row of a segment: its record, the length of the message in bytes, and its note."""

    record: Record
    length: int
    note: str


@dataclass(frozen=True, slots=True)
class SegmentTold:
    """One segment. `n` is its number within its incarnation, None where it has none."""

    bus: BusName
    replica: str
    profile: str
    incarnation: str
    n: int | None
    from_at: int
    to_at: int
    rows: list[Taken]
    refused: int

    @property
    def lane_id(self) -> str:
        """Give the public id of its lane."""
        return self.bus.lane_id(self.replica)


def read(statement: Statement, messages: Sequence[object]) -> SegmentTold | None:
    """Read a segment; None for a receipt that is none, or names no bus."""
    if statement.kind != "observe" or statement.what != "segment" or not statement.is_readable:
        return None
    bus = names.bus_of(statement)
    if bus is None:
        return None
    body, replica = statement.body, names.replica_of(statement)
    taken = _rows(statement, bus, replica, messages)
    from_at = names.moment_of(statement, "from")
    return SegmentTold(
        bus,
        replica,
        profiles.find_profile(body.get("profile")) or "",
        plain.name_of(body.get("incarnation"))[:64],
        names.int64_of(body.get("n")),
        from_at,
        max(from_at, names.moment_of(statement, "to")),
        taken,
        len(messages) - len(taken),
    )


def _rows(
    statement: Statement, bus: BusName, replica: str, messages: Sequence[object]
) -> list[Taken]:
    start = segments.start_of(statement.body)
    if start is None:
        return []
    found = []
    for index, members in enumerate(messages):
        row = rows.read(members, start)
        if row is not None and EARLIEST <= row.at <= LATEST and 0 <= row.length < LATEST:
            place = (statement.leaf, index)
            record = segments.record_of(row, bus.installation, bus.bus, replica, place)
            found.append(Taken(record, row.length, row.note))
    return found
