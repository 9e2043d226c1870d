"""What the events app puts into the registry."""

from __future__ import annotations

from events.domain import evaluate_resume, evaluate_stream, evaluate_wire
from events.projectors.streams import StreamsProjector
from events.queries import attention
from events.queries.sections import bus_section
from ledger.registry import NavigationEntry, registry

NAVIGATION = (NavigationEntry("Events", "installations", 40, also=("buses", "findings", "lanes")),)


def register() -> None:
    """Register the app's projectors, pages, attention items and evaluations."""
    for entry in NAVIGATION:
        registry.add_navigation(entry)
    registry.add_evaluation("resume", evaluate_resume.evaluate)
    registry.add_evaluation("stream", evaluate_stream.evaluate)
    registry.add_evaluation("wire", evaluate_wire.evaluate)
    registry.add_projector(StreamsProjector())
    registry.add_attention(attention.grave_items)
    registry.add_attention(attention.quiet_items)
    registry.add_attention(attention.mix_items)
    registry.add_section(bus_section)
