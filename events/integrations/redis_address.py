"""Where a Redis is, read from an address such as `rediss://user:password@host:6380/0`."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

PORT = 6379
_SCHEMES = ("redis", "rediss", "unix")
_TLS = ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile", "ssl_cert_reqs")


class BadAddress(ValueError):
    """The text is no address of a Redis: redis://HOST:PORT/DB, rediss://… or unix:///PATH?db=0."""


@dataclass(frozen=True, slots=True)
class Address:
    """A Redis and how to get in; `path` is set instead of a host for a socket of this machine.

    `authority`, `certificate` and `key` are files of TLS. What is secret is not shown.
    """

    host: str = ""
    port: int = PORT
    path: str = ""
    user: str = ""
    password: str = field(default="", repr=False)
    database: int = 0
    is_encrypted: bool = False
    is_checked: bool = True
    authority: str = ""
    certificate: str = ""
    key: str = ""

    @property
    def shown(self) -> str:
        """Name the place without user and password."""
        return self.path or f"{self.host}:{self.port}"


def read_address(text: str) -> Address:
    """Read an address; raises BadAddress, which repeats nothing of it."""
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise BadAddress(BadAddress.__doc__) from None
    if parts.scheme not in _SCHEMES:
        raise BadAddress(BadAddress.__doc__)
    options = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    unknown = options.keys() - {"db", *_TLS}
    if unknown:
        raise BadAddress(f"The address has options that are not known; known are {_known()}.")
    is_local = parts.scheme == "unix"
    return Address(
        host="" if is_local else parts.hostname or "127.0.0.1",
        port=port or PORT,
        path=unquote(parts.path) if is_local else "",
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        database=_database(parts, options),
        is_encrypted=parts.scheme == "rediss",
        is_checked=options.get("ssl_cert_reqs", "required") != "none",
        authority=options.get("ssl_ca_certs", ""),
        certificate=options.get("ssl_certfile", ""),
        key=options.get("ssl_keyfile", ""),
    )


def _known() -> str:
    return ", ".join(("db", *_TLS))


def _database(parts: SplitResult, options: dict[str, str]) -> int:
    number = "" if parts.scheme == "unix" else parts.path.strip("/")
    number = options.get("db", number) or "0"
    if not number.isascii() or not number.isdecimal() or len(number) > 4:
        raise BadAddress(BadAddress.__doc__)
    return int(number)
