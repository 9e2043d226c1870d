"""Settings by environment, declared in one table that feeds the documentation too.

Each setting may also be given as `NAME_FILE`, the path of a file that holds the value, so that a
secret need not stand in the environment. A bad value stops the start with one sentence.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


class BadSetting(ValueError):
    """A setting has a value that cannot be used."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One declared setting: its name, its kind, its default and what it is for."""

    name: str
    kind: str
    default: str
    doc: str


SETTINGS: tuple[Setting, ...] = (
    Setting("DATABASE_URL", "url", "", "PostgreSQL address; empty means SQLite in `DATA_DIR`."),
    Setting("REDIS_URL", "url", "", "Redis for fan-out, throttles and Celery; empty means none."),
    Setting("DATA_DIR", "path", "var", "Folder of the embedded database, keys and lock files."),
    Setting(
        "SECRET_KEY",
        "secret",
        "",
        "Signs sessions; empty means one is made in `DATA_DIR/secret_key` at first start.",
    ),
    Setting(
        "ALLOWED_HOSTS",
        "list",
        "localhost,127.0.0.1,[::1]",
        "Host names that this server answers to, with commas between.",
    ),
    Setting("BASE_URL", "text", "", "Public address, used in links that leave the server."),
    Setting(
        "LOG_ORIGIN",
        "text",
        "",
        "First part of every log's origin; empty means `counterfoil.invalid/` and a random id.",
    ),
    Setting("LOG_KEY_DIR", "path", "", "Folder of signing keys; empty means `DATA_DIR/keys`."),
    Setting("WITNESS_POLICY", "path", "", "Policy file that names the witnesses to ask."),
    Setting("TIME_ZONE", "text", "UTC", "Zone that pages show beside UTC."),
    Setting("TRACE_URL", "text", "", "Where trace ids lead; `{trace_id}` stands for the id."),
    Setting("SMTP_URL", "url", "", "Mail server for alerts; empty means no mail is sent."),
    Setting("OIDC_ISSUER", "text", "", "OpenID Connect provider; empty means none."),
    Setting("OIDC_CLIENT_ID", "text", "", "Client id at the OpenID Connect provider."),
    Setting("OIDC_CLIENT_SECRET", "secret", "", "Client secret at the OpenID Connect provider."),
    Setting("RETENTION_DAYS", "number", "0", "Age after which payloads go; 0 keeps them."),
    Setting(
        "INGEST_QUOTA_PER_MINUTE",
        "number",
        "0",
        "Receipts that one token may send a minute; 0 means no limit.",
    ),
    Setting("DEBUG", "flag", "false", "Django's debug pages; never on a machine others reach."),
)
_BY_NAME = {setting.name: setting for setting in SETTINGS}
_TRUE, _FALSE = frozenset({"1", "true", "yes", "on"}), frozenset({"0", "false", "no", "off", ""})


def text(name: str, environ: Mapping[str, str] | None = None) -> str:
    """Give a declared setting's text: from `NAME_FILE`, else `NAME`, else its default."""
    source = os.environ if environ is None else environ
    setting = _BY_NAME[name]
    file_name = source.get(f"{name}_FILE", "")
    if file_name:
        return _read_file(name, Path(file_name))
    return source.get(name, setting.default)


def number(name: str, environ: Mapping[str, str] | None = None) -> int:
    """Give a setting that is a whole number of at least 0."""
    value = text(name, environ)
    if not value.isascii() or not value.isdigit():
        raise BadSetting(f"{name} must be a whole number of at least 0, not {value!r}.")
    return int(value)


def flag(name: str, environ: Mapping[str, str] | None = None) -> bool:
    """Give a setting that is yes or no."""
    value = text(name, environ).lower()
    if value not in _TRUE | _FALSE:
        raise BadSetting(f"{name} must be true or false, not {value!r}.")
    return value in _TRUE


def address_with(name: str, place: str, environ: Mapping[str, str] | None = None) -> str:
    """Give a setting that is a web address in which `{place}` stands for something, or empty."""
    value = text(name, environ)
    if not value:
        return ""
    rest = value.replace(f"{{{place}}}", "", 1)
    is_web = value.startswith(("https://", "http://")) and not any(c.isspace() for c in value)
    if not is_web or rest == value or "{" in rest or "}" in rest:
        raise BadSetting(
            f"{name} must be a web address in which {{{place}}} stands once, such as "
            f"https://traces.example/trace/{{{place}}}."
        )
    return value


def words(name: str, environ: Mapping[str, str] | None = None) -> list[str]:
    """Give a setting that is a list with commas between."""
    return [word.strip() for word in text(name, environ).split(",") if word.strip()]


def _read_file(name: str, path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise BadSetting(f"{name}_FILE: {path} cannot be read: {error.strerror}.") from error
