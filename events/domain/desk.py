"""What the detectors of one lane share: settings, where findings go, and the lane's spaces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from events.domain.changes import Journal
from events.domain.findings import Finding
from events.domain.incidents import Incidents
from events.domain.records import Record
from events.domain.spaces import Spaces
from events.domain.stream_settings import StreamSettings


@dataclass(slots=True)
class Desk:
    """The desk of one lane."""

    settings: StreamSettings
    journal: Journal
    incidents: Incidents
    spaces: Spaces
    is_dense: bool

    def open(
        self,
        code: str,
        record: Record,
        rule: str,
        *,
        facts: Mapping[str, str | int],
        due_at: int = 0,
    ) -> Finding | None:
        """Open a finding about a record."""
        return self.journal.open(code, record.at, rule, record, due_at=due_at, facts=facts)
