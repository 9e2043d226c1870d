"""Record what Celery does and declines to do, without touching a task.

    import counterfoil.contrib.celery  # in the module that makes the app

or `celery -A shop worker -I counterfoil.contrib.celery` for the workers alone. The import connects
Celery's signals and wraps the two lock libraries, where they are installed. Everything else comes
from COUNTERFOIL_… variables; COUNTERFOIL_OFF=1 connects nothing. Importing twice changes nothing.

Nothing here raises into a task, waits for the server, or decides whether a task runs.
"""

from __future__ import annotations

from counterfoil.contrib.celery.connecting import connect, is_off

if not is_off():
    connect()
