"""Record Django's own tasks: `django.tasks` of Django 6, and its backport `django_tasks`.

    INSTALLED_APPS += ["counterfoil.contrib.django_tasks"]

The import connects the three signals that every backend sends: enqueued, started, finished.
Everything else comes from COUNTERFOIL_… variables; COUNTERFOIL_OFF=1 connects nothing. Nothing
here raises into a task, waits for the server, or decides whether a task runs.
"""

from __future__ import annotations

from counterfoil.contrib import rim
from counterfoil.contrib.django_tasks.connecting import connect

if not rim.is_off():
    connect()
