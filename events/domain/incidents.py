"""Incidents: what many lanes or many messages show, told once and counted.

Four replicas that see one epoch end are one incident, and so is a publisher left behind that goes
on for hours: messages of the same kind within an hour of the last belong together.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from events.domain.changes import Journal, is_round, pack, unpack
from events.domain.findings import Finding
from events.domain.records import SECOND, Record

ROLL = 3_600 * SECOND
KEPT = 64


class Incidents:
    """The newest incidents of a bus by a name: finding, last time, and the count of each lane.

    One message that four lanes saw is one message, so the lane that saw most of them counts.
    """

    def __init__(self, journal: Journal, state: list[Any] | None = None) -> None:
        self._journal = journal
        self._rows: dict[str, list[Any]] = {}
        for name, packed, last_at, lanes in state or []:
            self._rows[name] = [unpack(packed), last_at, dict(lanes)]

    def note(
        self,
        name: str,
        code: str,
        record: Record,
        rule: str,
        facts: Mapping[str, str | int],
        once_a_lane: bool = False,
    ) -> Finding | None:
        """Tell of a message: open an incident, or add it to the one that is open."""
        row = self._rows.pop(name, None)
        if row is None or record.at - row[1] > ROLL:
            finding = self._journal.open(code, record.at, rule, record, facts=facts)
            row = [finding, record.at, {record.replica: 1}]
        else:
            self._add(row, record, once_a_lane)
        self._rows[name] = row
        if len(self._rows) > KEPT:
            del self._rows[next(iter(self._rows))]
        known: Finding | None = row[0]
        return known

    def _add(self, row: list[Any], record: Record, once_a_lane: bool) -> None:
        lanes, before = row[2], max(row[2].values())
        is_new_lane = record.replica not in lanes
        row[1] = max(row[1], record.at)
        if is_new_lane or not once_a_lane:
            lanes[record.replica] = lanes.get(record.replica, 0) + 1
        count = max(lanes.values())
        if row[0] is not None and (is_new_lane or (count > before and is_round(count))):
            facts: dict[str, str | int] = {"replicas": ", ".join(lanes)}
            if count > 1:
                facts["count"] = count
            row[0] = self._journal.change(row[0], facts=facts)

    def amend(self, finding: Finding, facts: Mapping[str, str | int]) -> None:
        """Add a fact to a finding once, whether or not it is one of an incident."""
        row = next((one for one in self._rows.values() if _is(one[0], finding)), None)
        if row is None:
            self._journal.change(finding, facts=facts)
        elif not facts.keys() <= row[0].facts.keys():
            row[0] = self._journal.change(row[0], facts=facts)

    def state(self) -> list[Any]:
        """Give them as JSON."""
        return [
            [name, pack(finding), last_at, list(lanes.items())]
            for name, (finding, last_at, lanes) in self._rows.items()
        ]


def _is(one: Finding | None, other: Finding) -> bool:
    return one is not None and one.key == other.key
