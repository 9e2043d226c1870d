"""Where receipts go and under what name, from arguments or from the environment."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from counterfoil import names
from counterfoil.errors import SettingsError
from counterfoil.spool import DEFAULT_MAX_BYTES

_SIZE = re.compile(r"(\d+)\s*([KMG]i?B?|B)?", re.IGNORECASE)
_UNITS = {"": 1, "B": 1, "K": 1024, "M": 1024**2, "G": 1024**3}


@dataclass(frozen=True)
class Settings:
    """All settings of a client; `from_env` reads them from COUNTERFOIL_… variables."""

    # Not in the repr: an address may hold a password, although it should not.
    url: str = field(default="", repr=False)
    token: str = field(default="", repr=False)
    token_file: Path | None = None
    spool: Path = Path()
    name: str = "client"
    source: dict[str, str] | None = None
    max_bytes: int = DEFAULT_MAX_BYTES
    when_full: str = "raise"
    send: bool = True
    off: bool = False
    digest_key: bytes = field(default=b"", repr=False)
    policy: Path | None = None

    def __post_init__(self) -> None:
        if self.when_full not in ("raise", "drop"):
            raise SettingsError('when_full (COUNTERFOIL_WHEN_FULL) must be "raise" or "drop"')
        if self.max_bytes < 16 * 1024:
            raise SettingsError("The spool needs at least 16 KiB (COUNTERFOIL_SPOOL_MAX)")
        if self.url:
            _check_url(self.url)

    def read_token(self) -> str:
        """Give the token, read anew from its file so that a changed one is taken up."""
        if self.token_file is None:
            return self.token
        try:
            return self.token_file.read_text(encoding="utf-8").strip()
        except OSError as error:
            raise SettingsError(f"The token file cannot be read ({error})") from error
        except UnicodeDecodeError:
            # Its text would show a byte of the token.
            raise SettingsError("The token file cannot be read (it is not UTF-8)") from None


def from_env(env: Mapping[str, str] | None = None, **given: Any) -> Settings:
    """Make settings from the environment; arguments that are not None win over it."""
    found = os.environ if env is None else env
    settings = Settings(
        url=found.get("COUNTERFOIL_URL", ""),
        token=found.get("COUNTERFOIL_TOKEN", "").strip(),
        token_file=_path(found.get("COUNTERFOIL_TOKEN_FILE")),
        spool=_path(found.get("COUNTERFOIL_SPOOL")) or default_spool(found),
        name=found.get("COUNTERFOIL_NAME") or _program_name(),
        source=source_of(found.get("COUNTERFOIL_SOURCE", "")),
        max_bytes=size_of(found.get("COUNTERFOIL_SPOOL_MAX") or str(DEFAULT_MAX_BYTES)),
        when_full=found.get("COUNTERFOIL_WHEN_FULL") or "raise",
        send=found.get("COUNTERFOIL_SEND", "1") not in ("0", "no", "off"),
        off=found.get("COUNTERFOIL_OFF", "") not in ("", "0"),
        digest_key=_digest_key(found),
        policy=_path(found.get("COUNTERFOIL_POLICY")),
    )
    return replace(settings, **{k: _typed(k, v) for k, v in given.items() if v is not None})


def default_spool(env: Mapping[str, str]) -> Path:
    """Give the spool directory of a user who named none."""
    state = env.get("XDG_STATE_HOME") or str(Path(env.get("HOME") or "/tmp") / ".local/state")  # noqa: S108
    return Path(state) / "counterfoil" / "spool"


def size_of(text: str) -> int:
    """Read a size as "20MiB", "512K" or a number of bytes; the units are powers of 1,024."""
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise SettingsError(f"Not a size: {text!r} (COUNTERFOIL_SPOOL_MAX); write 20MiB or 512KiB")
    return int(found[1]) * _UNITS[(found[2] or "")[:1].upper()]


def source_of(text: str) -> dict[str, str] | None:
    """Read a source as SYSTEM/INSTANCE, for example oban/prod-1."""
    if not text:
        return None
    system, slash, instance = text.partition("/")
    if not (system and slash and instance):
        raise SettingsError(
            f"Not a source: {text!r} (COUNTERFOIL_SOURCE); write SYSTEM/INSTANCE, as in oban/prod-1"
        )
    return {"system": system, "instance": instance}


def _typed(name: str, value: Any) -> Any:
    if name in ("spool", "token_file", "policy"):
        return Path(value)
    if name == "source" and isinstance(value, str):
        return source_of(value)
    if name == "max_bytes" and isinstance(value, str):
        return size_of(value)
    return value


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        # Asked for because a port that is no number shows only then.
        _ = parts.port
    except ValueError:
        # Its text is left out, since an address may hold a password, although it should not.
        raise SettingsError(
            "The address (COUNTERFOIL_URL) is none: its host or port cannot be read"
        ) from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise SettingsError(
            "The address (COUNTERFOIL_URL) must begin with http:// or https:// and name a host"
        )


def _path(text: str | None) -> Path | None:
    return Path(text) if text else None


def _program_name() -> str:
    program = Path(sys.argv[0] if sys.argv else "")
    return names.clean_base(program.parent.name if program.stem == "__main__" else program.stem)


def _digest_key(env: Mapping[str, str]) -> bytes:
    path = env.get("COUNTERFOIL_DIGEST_KEY_FILE")
    if path:
        try:
            return Path(path).read_bytes().strip()
        except OSError as error:
            raise SettingsError(f"The digest key file cannot be read ({error})") from error
    return env.get("COUNTERFOIL_DIGEST_KEY", "").encode()
