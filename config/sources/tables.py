"""The tables of the sources file, one reader for each kind: settings as acts hold them.

A secret stands in no table: addresses with a password are given as the names of variables.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from access.domain import names
from events.domain import bus_settings
from jobs.domain.oban_table import check_identifier
from kit import redact

DEFAULT = "default"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_NAMESPACE = re.compile(r"[a-z0-9_-]{1,64}")

Read = tuple[str, dict[str, Any]]
"""What acts call a source, and its settings."""


def read_bus(name: str, table: Mapping[str, Any]) -> Read:
    """Read `[bus.NAME]`; raises ValueError, which names each fault."""
    where = f"bus.{name}"
    check_name(where, name)
    settings = bus_settings.read_table(name, table)
    beside: dict[str, Any] = {}
    for member, check in _BESIDE.items():
        if member in table:
            beside[member] = check(f"{where}.{member}", table[member])
    installation = beside.pop("installation", DEFAULT)
    return f"bus:{installation}/{name}", {**settings.as_json(), **beside}


def read_oban(name: str, table: Mapping[str, Any]) -> Read:
    """Read `[oban.NAME]`; raises ValueError, which names the first fault."""
    where = f"oban.{name}"
    try:
        names.parse_source(f"oban/{name}")
    except names.BadName as error:
        raise ValueError(f"{where}: {error}") from error
    if "dsn" in table:
        raise ValueError(
            f'{where}.dsn: an address is not for a file; write dsn_env = "OBAN_DSN", the name of '
            "the variable that holds it"
        )
    unknown = sorted(table.keys() - {"dsn_env", "schema", "table"})
    if unknown:
        raise ValueError(f"{where}.{unknown[0]}: is no setting of an Oban table; leave it out")
    if "dsn_env" not in table:
        raise ValueError(f'{where}.dsn_env: is missing; write dsn_env = "OBAN_DSN"')
    settings = {"dsn_env": _variable(f"{where}.dsn_env", table["dsn_env"])}
    for member in ("schema", "table"):
        if member in table:
            settings[member] = _identifier(f"{where}.{member}", table[member])
    return f"source:oban/{name}", settings


def check_name(where: str, value: object) -> str:
    """Check a name of a bus, an installation or a replica; raises ValueError."""
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise ValueError(
            f"{where}: a name has 1 to 64 letters, digits, dots, dashes or underscores, "
            "and begins with a letter or a digit"
        )
    return value


def _variable(where: str, value: object) -> str:
    if not isinstance(value, str) or not _VARIABLE.fullmatch(value):
        raise ValueError(f'{where}: takes the name of a variable, such as "BUS_REDIS"')
    return value


def _identifier(where: str, value: object) -> str:
    try:
        return check_identifier(str(value))
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error


def _namespace(where: str, value: object) -> str:
    if not isinstance(value, str) or not _NAMESPACE.fullmatch(value):
        raise ValueError(f"{where}: takes lower-case letters, digits, dashes and underscores")
    return value


def _address(where: str, value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError(f'{where}: takes an address, such as "redis://cache:6379/0"')
    if redact.has_password(value):
        raise ValueError(
            f'{where}: has a password in it, which is not for a file; write redis_env = "BUS_REDIS"'
        )
    return value


def _places(where: str, value: object) -> list[str]:
    places = value if isinstance(value, list) else [value]
    if not all(isinstance(one, str) and one for one in places) or len(places) > 100:
        raise ValueError(f'{where}: takes a list of texts such as "PLACE=replica"')
    if any(redact.has_password(str(one)) for one in places):
        raise ValueError(f"{where}: has a secret in it, which is not for a file")
    return list(places)


_BESIDE = {
    "installation": check_name,
    "replica": check_name,
    "redis": _address,
    "redis_env": _variable,
    "namespace": _namespace,
    "metrics": _places,
    "log": _places,
}
"""What a table of a bus says of where it is and who watches."""
