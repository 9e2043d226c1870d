"""Events: installations and their buses, epochs and ID spaces, replay buffers and resumes."""

from __future__ import annotations

from django.apps import AppConfig


class EventsConfig(AppConfig):
    """Fills the registry with what this app adds."""

    name = "events"

    def ready(self) -> None:
        from events import registrations

        registrations.register()
