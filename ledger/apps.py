"""The ledger: receipts, pointers, what was set aside, and why each skip happened."""

from __future__ import annotations

from django.apps import AppConfig


class LedgerConfig(AppConfig):
    """Fills the registry with the ledger's own projectors and attention items."""

    name = "ledger"

    def ready(self) -> None:
        from ledger import registrations

        registrations.register()
