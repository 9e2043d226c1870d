"""Findings: what a detector saw, by its code, with the rule that spoke.

The codes are those of reference/events-and-loops.md section 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

CRITICAL, WARNING, NOTE = "critical", "warning", "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding; times in microseconds since 1970, texts empty where they do not apply.

    It holds from `due_at` on, unless `closed_at` came before: so a hole that fills in time is none.
    `facts` are what its sentence tells, as texts and whole numbers.
    """

    code: str
    severity: str
    at: int
    installation: str
    bus: str
    rule: str
    replica: str = ""
    scope: str = ""
    epoch: str | None = None
    id: int | None = None
    due_at: int = 0
    closed_at: int | None = None
    facts: Mapping[str, str | int] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Name it among the findings of its project: the same in every rebuild."""
        parts = (self.code, self.installation, self.bus, self.replica, self.scope)
        return "\n".join((*parts, str(self.epoch), str(self.id), str(self.at)))

    def holds(self, now: int) -> bool:
        """Tell whether it holds at a time."""
        return self.due_at <= now and (self.closed_at is None or self.closed_at > self.due_at)
