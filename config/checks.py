"""System checks, by id, of what can be wrong at start; each says what to do about it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from config import private
from kit import clock
from ledger import queries

# A clock before this release was written is wrong, whatever else is.
BUILT_AT = datetime(2026, 11, 1, tzinfo=UTC)
# What /proc/mounts calls file systems on which SQLite's locks cannot be trusted.
NETWORK_DISKS = frozenset({"nfs", "nfs4", "cifs", "smb3", "fuse.sshfs", "9p", "afs", "ceph"})
SHORTEST_SECRET = 32


@register(Tags.files)
def check_data_directory(app_configs: Any, **kwargs: Any) -> Sequence[CheckMessage]:
    """config.E001: the data directory can be written."""
    folder = Path(settings.DATA_DIR)
    try:
        private.make_folder(folder)
        with tempfile.TemporaryFile(dir=folder):
            return []
    except OSError as error:
        return [
            Error(
                f"The data directory {folder} cannot be written: {error.strerror}.",
                hint="Set DATA_DIR to a folder that this user may write.",
                id="config.E001",
            )
        ]


@register(Tags.files)
def check_network_disk(app_configs: Any, **kwargs: Any) -> Sequence[CheckMessage]:
    """config.E002: SQLite is not on a network disk, where its locks do not hold."""
    if connection.vendor != "sqlite":
        return []
    kind = disk_kind(Path(settings.DATA_DIR), _mounts())
    if kind not in NETWORK_DISKS:
        return []
    return [
        Error(
            f"The embedded database would lie on a network disk ({kind}).",
            hint="Set DATA_DIR to a local disk, or DATABASE_URL to a PostgreSQL server.",
            id="config.E002",
        )
    ]


@register(Tags.security)
def check_secret(app_configs: Any, **kwargs: Any) -> Sequence[CheckMessage]:
    """config.E003: the key that signs sessions cannot be guessed."""
    if len(settings.SECRET_KEY) >= SHORTEST_SECRET:
        return []
    return [
        Error(
            f"SECRET_KEY has fewer than {SHORTEST_SECRET} characters.",
            hint="Leave SECRET_KEY unset, and one is made in the data directory.",
            id="config.E003",
        )
    ]


@register(Tags.database)
def check_clock(
    app_configs: Any, databases: Sequence[str] | None = None, **kwargs: Any
) -> Sequence[CheckMessage]:
    """config.W004: the clock is not behind this release, nor behind the log's newest head."""
    now = clock.now()
    if now < BUILT_AT:
        return [_clock_warning(f"The clock says {now:%Y-%m-%d}, before this release was made.")]
    if not databases or _unapplied():
        return []
    newest = queries.newest_head_at()
    if newest is None or newest <= now:
        return []
    return [_clock_warning(f"The log's newest head is of {newest.isoformat()}, after the clock.")]


@register(Tags.database)
def check_migrations(
    app_configs: Any, databases: Sequence[str] | None = None, **kwargs: Any
) -> Sequence[CheckMessage]:
    """config.W005: the database has every table that this release needs."""
    waiting = _unapplied() if databases else []
    if not waiting:
        return []
    return [
        Warning(
            f"{len(waiting)} migrations are not applied; the first is {waiting[0]}.",
            hint="Run `manage.py migrate`, or `manage.py up`, which does it.",
            id="config.W005",
        )
    ]


def disk_kind(path: Path, mounts: Sequence[tuple[str, str]]) -> str:
    """Give the kind of file system that a path is on; `mounts` are (mount point, kind)."""
    real = os.path.realpath(path)
    best = ("", "")
    for point, kind in mounts:
        inside = real == point or real.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best[0]):
            best = (point, kind)
    return best[1]


def _mounts() -> list[tuple[str, str]]:
    try:
        lines = Path("/proc/mounts").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    fields = (line.split() for line in lines)
    return [(one[1], one[2]) for one in fields if len(one) > 2]


def _clock_warning(message: str) -> Warning:
    return Warning(message, hint="Set the clock; the order of the log holds.", id="config.W004")


def _unapplied() -> list[str]:
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return [f"{migration.app_label}.{migration.name}" for migration, _ in plan]
