"""Keys of buses as samples show them: each from one sample on until another shows it otherwise."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace

from events.domain import key_health
from events.domain.key_values import SEQ
from events.domain.told import names
from events.domain.told.surroundings import KeysTold, KeyTold
from events.projectors.book import Book
from events.projectors.buses import Buses
from events.projectors.findings import KEY, Findings
from events.projectors.rows import FindingRow, KeyRow, SampleRow

_STANDING = "bus = %s AND origin = %s AND until_leaf IS NULL AND closed_at IS NULL"


@dataclass(slots=True)
class Keys:
    """The samples of a batch."""

    project_id: int
    findings: Findings
    buses: Buses
    rows: Book[KeyRow] = field(init=False)
    samples: Book[SampleRow] = field(init=False)
    _standing: dict[tuple[str, str, str], KeyRow | None] = field(default_factory=dict)
    _faults: dict[str, dict[tuple[str, str], FindingRow]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Start with nothing loaded."""
        self.rows = Book(self.project_id, "bus_key", KeyRow, 4)
        self.samples = Book(self.project_id, "bus_sample", SampleRow, 2)

    def take(self, told: KeysTold, leaf: int) -> None:
        """Take a sample; one that was taken before the newest changes nothing."""
        where = (names.installation_id(told.bus.installation), told.bus.bus)
        before = self.samples.find(*where)
        if before is not None and before.sampled_at > told.at:
            return
        channels = json.dumps(sorted(told.channels, key=lambda pair: pair[0]))
        self.samples.put(
            SampleRow(*where, told.bus.installation, told.policy, channels, told.at, leaf)
        )
        for key in {one.name: one for one in told.keys}.values():
            self._take_key(where, told, key, leaf)
        self._judge(told, leaf)

    def _take_key(self, where: tuple[str, str], told: KeysTold, key: KeyTold, leaf: int) -> None:
        before = self._find(*where, key.name)
        if before is not None and _is_same(before, key):
            before.seen_at, before.seen_leaf = told.at, leaf
            before.value = key.value
            self.rows.put(before)
            return
        if before is not None:
            before.until_leaf = leaf
            self.rows.put(before)
        self._standing[*where, key.name] = self.rows.put(
            KeyRow(
                *where, key.name, leaf, None, told.bus.installation, key.role, key.type,
                key.value_class, key.ttl_s, key.value, told.at, told.at, leaf,
            )
        )  # fmt: skip

    def _find(self, *key: str) -> KeyRow | None:
        if key not in self._standing:
            found = self.rows.load(
                "installation_id = %s AND bus_name = %s AND name = %s AND until_leaf IS NULL", key
            )
            self._standing[key] = found[0] if found else None  # type: ignore[index]
        return self._standing[key]  # type: ignore[index]

    def _judge(self, told: KeysTold, leaf: int) -> None:
        """Open a finding for each new fault, and close those whose fault is gone."""
        standing = self._standing_faults(told.bus.id)
        faults = {
            (one.code, one.key): one
            for one in key_health.faults_of(told, self.buses.in_force(told.bus).profile)
        }
        fresh = [one for at, one in faults.items() if at not in standing]
        for finding in key_health.findings_of(told, fresh):
            row = self.findings.note(finding, leaf, KEY)
            if row is not None:
                standing[finding.code, finding.scope] = row
        for at in standing.keys() - faults.keys():
            self.findings.close(standing.pop(at), told.at, leaf)

    def _standing_faults(self, bus: str) -> dict[tuple[str, str], FindingRow]:
        if bus not in self._faults:
            found = self.findings.rows.load(_STANDING, [bus, KEY])
            self._faults[bus] = {(one.code, one.scope): one for one in found}
        return self._faults[bus]

    def write(self) -> None:
        """Write what the batch came to."""
        self.rows.write()
        self.samples.write()


def _is_same(row: KeyRow, key: KeyTold) -> bool:
    """Tell whether a sample shows a key as it was; a counter goes on, and a term runs down."""
    told = replace(
        row, role=key.role, type=key.type, value_class=key.value_class,
        value=row.value if key.role == SEQ else key.value,
    )  # fmt: skip
    return told == row and _lasts(row.ttl_s) == _lasts(key.ttl_s)


def _lasts(ttl_s: int | None) -> bool | None:
    return None if ttl_s is None else ttl_s < 0
