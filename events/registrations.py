"""What the events app puts into the registry."""

from __future__ import annotations


def register() -> None:
    """Register the app's projectors, pages, attention items and evaluations."""
