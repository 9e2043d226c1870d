"""The two databases that Counterfoil runs on, as Django wants them described."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from config import private
from config.env import BadSetting

# FULL, since NORMAL may lose the last acknowledged receipts at power loss
# (reference style-and-libraries, section 3.6, measured).
_SQLITE_START = (
    "PRAGMA journal_mode=WAL;"
    "PRAGMA synchronous=FULL;"
    "PRAGMA foreign_keys=ON;"
    "PRAGMA journal_size_limit=67108864;"
    "PRAGMA cache_size=-16384;"
)

# The pool's own tries to reconnect come at growing intervals, up to minutes; given up after
# seconds, the next request tries anew.
_POOL = {"min_size": 1, "max_size": 16, "timeout": 5, "reconnect_timeout": 3}


def sqlite(path: Path) -> dict[str, Any]:
    """Describe the embedded database; writes take the lock at BEGIN, reads run in autocommit."""
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(path),
        "CONN_MAX_AGE": 0,
        "OPTIONS": {
            "init_command": _SQLITE_START,
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
        },
        "TEST": {"NAME": str(path.with_name(f"test-{path.name}"))},
    }


def postgresql(url: str) -> dict[str, Any]:
    """Describe a PostgreSQL database by its URL; options of the query string are passed on."""
    parts = urlsplit(url)
    if parts.scheme not in {"postgres", "postgresql"}:
        raise BadSetting("DATABASE_URL must begin with postgresql://, or be empty for SQLite.")
    options: dict[str, Any] = dict(parse_qsl(parts.query))
    host = options.pop("host", "") or unquote(parts.hostname or "")
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": host,
        "PORT": str(parts.port or ""),
        "CONN_MAX_AGE": 0,
        # Ask before use whether a pooled connection still stands: a restart breaks them all.
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {"pool": dict(_POOL), **options},
    }


def database(url: str, data_dir: Path) -> dict[str, Any]:
    """Choose by `DATABASE_URL`: PostgreSQL, or SQLite in the data directory, made if need be."""
    if url:
        return postgresql(url)
    path = data_dir / "counterfoil.sqlite3"
    private.make_file(path)
    return sqlite(path)
