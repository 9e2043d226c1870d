"""The secret that signs sessions: given, or made once and kept beside the data."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from config import private
from config.env import BadSetting


def secret_key(given: str, data_dir: Path) -> str:
    """Return the given key, else the one in the data directory, made at first start.

    Two processes may start at once, so the file is created exclusively and the loser reads it.
    """
    if given:
        return given
    try:
        return _kept(data_dir)
    except OSError as error:
        raise BadSetting(
            f"DATA_DIR: {data_dir} cannot be written: {error.strerror}. Name another folder."
        ) from error


def _kept(data_dir: Path) -> str:
    path = data_dir / "secret_key"
    private.make_folder(data_dir)
    fresh = path.with_name(f"secret_key.{os.getpid()}")
    if not path.exists():
        fresh.touch(mode=0o600)
        fresh.write_text(secrets.token_urlsafe(48), encoding="ascii")
        try:
            os.link(fresh, path)
        except FileExistsError:
            pass
        finally:
            fresh.unlink()
    return path.read_text(encoding="ascii").strip()
