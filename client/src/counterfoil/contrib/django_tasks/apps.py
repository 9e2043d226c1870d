"""The application, under a label of its own: `django_tasks` is the backport's."""

from __future__ import annotations

from django.apps import AppConfig


class CounterfoilConfig(AppConfig):
    """Makes `counterfoil.contrib.django_tasks` an entry of INSTALLED_APPS."""

    name = "counterfoil.contrib.django_tasks"
    label = "counterfoil_django_tasks"
    verbose_name = "Counterfoil"
