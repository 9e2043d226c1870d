"""`/healthz` says that the process answers, `/readyz` that it can do its work."""

from __future__ import annotations

import shutil

from django.conf import settings
from django.db import Error as DatabaseError
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_safe

from kit import http
from ledger import derive

LEAST_DISK = 256 * 1024 * 1024
MOST_LAG = 100_000


@require_safe
def healthz(request: HttpRequest) -> HttpResponseBase:
    """Answer, whatever else is the matter."""
    return http.json_response({"status": "ok"})


@require_safe
def readyz(request: HttpRequest) -> HttpResponseBase:
    """Check database, migrations, lag and disk; 503 names what is not ready."""
    checks = {"disk": _disk()}
    try:
        checks |= {"database": "ok", "migrations": _migrations(), "lag": _lag()}
    except DatabaseError:
        checks["database"] = "cannot be reached"
    is_ready = all(word == "ok" for word in checks.values())
    document = {"status": "ready" if is_ready else "not_ready", "checks": checks}
    return http.json_response(document, status=200 if is_ready else 503)


def _disk() -> str:
    free = shutil.disk_usage(settings.DATA_DIR).free
    return "ok" if free >= LEAST_DISK else "less than 256 MiB are free in the data directory"


def _migrations() -> str:
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return f"{len(plan)} are not applied" if plan else "ok"


def _lag() -> str:
    behind = max((one.lag for one in derive.status()), default=0)
    return "ok" if behind <= MOST_LAG else f"the lists are {behind:,} receipts behind"
