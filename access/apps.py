from __future__ import annotations

from django.apps import AppConfig


class AccessConfig(AppConfig):
    """Who may do what: projects, members, tokens and the record of their acts."""

    name = "access"
    label = "access"
    default_auto_field = "django.db.models.BigAutoField"
