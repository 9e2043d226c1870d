"""The shared, model-free kit."""

from __future__ import annotations

from django.apps import AppConfig


class KitConfig(AppConfig):
    """Makes the kit's template tags known to Django."""

    name = "kit"
