"""Contradictions: what cannot both be true, as receipts arrive, until a later one settles it."""

from __future__ import annotations

from collections.abc import Sequence

from jobs.projectors.checks.desk import Check, Desk
from jobs.projectors.checks.dones import Acts, Dones
from jobs.projectors.checks.numbers import Numbers
from jobs.projectors.checks.rows import Rows
from jobs.projectors.checks.skips import Skips
from jobs.projectors.checks.starts import Starts
from ledger.registry import Write, registry
from ledger.statements import Item

RULES_VERSION = 5
RESTS_ON = "receipts"
"""The projector whose events of pointers are read."""


class ContradictionsProjector:
    """Holds every receipt against the invariants of `jobs.domain.invariants`."""

    name = "contradictions"
    tables: tuple[str, ...] = ("contradiction", "contradiction_watch", "contradiction_note")

    @property
    def rules_version(self) -> int:
        """Give the version of our own rules and of those that find originals."""
        below = [one.rules_version for one in registry.projectors if one.name == RESTS_ON]
        return RULES_VERSION + sum(below)

    def plan(self, project_id: int, items: Sequence[Item]) -> Write:
        """Work out what the batch contradicts, and what it settles."""
        desk = Desk(project_id, items)
        checks: tuple[Check, ...] = (
            Skips(desk), Dones(desk), Acts(desk), Starts(desk), Numbers(desk), Rows(desk),
        )  # fmt: skip
        for item in items:
            for check in checks:
                check.take(item)
        return desk.write
