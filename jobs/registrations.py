"""What the jobs app puts into the registry."""

from __future__ import annotations

from jobs.domain.evaluate import evaluate
from jobs.judge import CallsJudge
from ledger.registry import registry


def register() -> None:
    """Register the app's judge, projectors, pages and attention items."""
    registry.add_judge(CallsJudge())
    registry.add_evaluation("jobs", evaluate)
