"""What the jobs app puts into the registry."""

from __future__ import annotations


def register() -> None:
    """Register the app's judge, projectors, pages and attention items."""
