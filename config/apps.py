"""The app that knows every other app: its pages, its commands and its start-up checks."""

from __future__ import annotations

from django.apps import AppConfig


class ConfigConfig(AppConfig):
    """Registers the checks of `config.checks` when Django starts."""

    name = "config"

    def ready(self) -> None:
        from config import checks  # noqa: F401 - importing it registers the checks
        from ledger.registry import NavigationEntry, registry

        registry.add_navigation(NavigationEntry("Overview", "", 0))
