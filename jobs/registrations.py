"""What the jobs app puts into the registry."""

from __future__ import annotations

from jobs.domain.evaluate import evaluate
from jobs.judge import CallsJudge
from jobs.projectors.attempts import AttemptsProjector
from jobs.projectors.keys import KeysProjector
from ledger.registry import registry


def register() -> None:
    """Register the app's judge, projectors, pages and attention items."""
    registry.add_judge(CallsJudge())
    registry.add_projector(AttemptsProjector())
    registry.add_projector(KeysProjector())
    registry.add_evaluation("jobs", evaluate)
