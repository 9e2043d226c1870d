"""What the events app puts into the registry."""

from __future__ import annotations

from events.domain import evaluate_resume, evaluate_stream, evaluate_wire
from ledger.registry import registry


def register() -> None:
    """Register the app's projectors, pages, attention items and evaluations."""
    registry.add_evaluation("resume", evaluate_resume.evaluate)
    registry.add_evaluation("stream", evaluate_stream.evaluate)
    registry.add_evaluation("wire", evaluate_wire.evaluate)
