"""Findings as they are opened, changed and dropped: one row for each form, in force by leaf."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from events.domain.findings import Finding
from events.domain.told import names
from events.domain.told.names import EARLIEST, LATEST
from events.projectors.book import Book
from events.projectors.rows import FindingRow
from kit import ids
from ledger.domain.names import column
from ledger.domain.plain import printable

AT_ONCE = 500
STREAM, CROSS, RESUME, KEY = "stream", "cross", "resume", "key"


@dataclass(slots=True)
class Findings:
    """The findings of a batch, over those that are stored."""

    project_id: int
    rows: Book[FindingRow] = field(init=False)
    _standing: dict[str, FindingRow | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Start with nothing loaded."""
        self.rows = Book(self.project_id, "bus_finding", FindingRow, 2)

    def expect(self, keys: Iterable[str]) -> None:
        """Load the findings of some keys at once, as far as they are stored."""
        wanted = sorted({ids.public_id("f", key) for key in keys} - self._standing.keys())
        for start in range(0, len(wanted), AT_ONCE):
            part = wanted[start : start + AT_ONCE]
            self._standing.update(dict.fromkeys(part))
            marks = ", ".join(["%s"] * len(part))
            found = self.rows.load(f"finding IN ({marks}) AND until_leaf IS NULL", part)
            self._standing.update((row.finding, row) for row in found)

    def note(self, finding: Finding, leaf: int, origin: str, space: int = -1) -> FindingRow | None:
        """Take a finding as a receipt left it, and give its row; None if it can never hold."""
        name = ids.public_id("f", finding.key)
        if finding.closed_at is not None and finding.closed_at <= finding.due_at:
            self._end(name, leaf)
            return None
        before = self._find(name)
        row = _row(name, finding, leaf, origin, space)
        if before is not None:
            row.space = before.space if space < 0 else space
            row.opened_leaf = before.opened_leaf
            if replace(row, leaf_index=before.leaf_index) == before:
                return before
        return self._change(row, leaf)

    def close(self, row: FindingRow, at: int, leaf: int) -> None:
        """Say until when a finding held that is over."""
        self._standing.setdefault(row.finding, row)
        self._change(replace(row, closed_at=max(at, row.due_at + 1), leaf_index=leaf), leaf)

    def _change(self, row: FindingRow, leaf: int) -> FindingRow:
        self._end(row.finding, leaf)
        self._standing[row.finding] = self.rows.put(row)
        return row

    def drop(self, key: str, leaf: int) -> None:
        """Take back a finding, by its key, that turned out to be none."""
        self._end(ids.public_id("f", key), leaf)

    def _end(self, name: str, leaf: int) -> None:
        before = self._find(name)
        self._standing[name] = None
        if before is None:
            return
        if before.leaf_index == leaf:
            self.rows.drop(before)
        else:
            before.until_leaf = leaf
            self.rows.put(before)

    def _find(self, name: str) -> FindingRow | None:
        """Give the form of a finding that stands."""
        if name not in self._standing:
            found = self.rows.load("finding = %s AND until_leaf IS NULL", [name])
            self._standing[name] = found[0] if found else None
        return self._standing[name]

    def write(self) -> None:
        """Write what the batch came to."""
        self.rows.write()


def _row(name: str, finding: Finding, leaf: int, origin: str, space: int) -> FindingRow:
    bus = names.bus_id(finding.installation, finding.bus)
    lane = names.lane_id(finding.installation, finding.bus, finding.replica)
    facts = {key: _plain(value) for key, value in finding.facts.items()}
    closed_at = None if finding.closed_at is None else _bounded(finding.closed_at)
    return FindingRow(
        name, leaf, origin, finding.code, finding.severity, _bounded(finding.at),
        _bounded(finding.due_at), closed_at,
        bus, lane if finding.replica else "", column(finding.installation), column(finding.bus),
        column(finding.replica), column(finding.scope), space,
        None if finding.epoch is None else column(finding.epoch),
        None if finding.id is None else str(finding.id), finding.rule,
        json.dumps(facts, sort_keys=True), None, leaf,
    )  # fmt: skip


def _plain(value: str | int) -> str | int:
    """Keep a text readable, and a whole number exact: JSON for browsers has 53 bits."""
    return printable(value) if isinstance(value, str) else value


def _bounded(at: int) -> int:
    return min(max(at, EARLIEST), LATEST)
