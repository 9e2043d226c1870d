"""Jobs: invocations by scope and generation, why each was skipped, and other keys tried on."""

from __future__ import annotations

from django.apps import AppConfig


class JobsConfig(AppConfig):
    """Fills the registry with what this app adds."""

    name = "jobs"

    def ready(self) -> None:
        from jobs import registrations

        registrations.register()
