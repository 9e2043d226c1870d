"""What the jobs app puts into the registry."""

from __future__ import annotations

from jobs.domain.evaluate import evaluate
from jobs.domain.oban_backup import backup_receipt
from jobs.judge import CallsJudge
from jobs.projectors.attempts import AttemptsProjector
from jobs.projectors.contradictions import ContradictionsProjector
from jobs.projectors.keys import KeysProjector
from jobs.queries import contradictions
from jobs.queries.sections import call_section
from jobs.watched import WATCHED
from ledger.registry import NavigationEntry, registry

NAVIGATION = (
    NavigationEntry("Jobs", "jobs", 15, also=("scopes",)),
    NavigationEntry("Keys", "keys", 45, under="Jobs"),
    NavigationEntry("Key lab", "simulate", 50, under="Jobs"),
    NavigationEntry("Contradictions", "contradictions", 60, under="Jobs"),
)


def register() -> None:
    """Register the app's judge, projectors, pages and attention items."""
    registry.add_judge(CallsJudge())
    for entry in NAVIGATION:
        registry.add_navigation(entry)
    registry.add_projector(AttemptsProjector())
    registry.add_projector(KeysProjector())
    registry.add_projector(ContradictionsProjector())
    registry.add_section(call_section)
    registry.add_contradictions(contradictions.of_receipt)
    registry.add_attention(contradictions.attention_items)
    registry.add_watched(*WATCHED)
    registry.add_evaluation("jobs", evaluate)
    registry.add_row_reader("oban_jobs", backup_receipt)
