"""What some tests need beside Python, and what happens where a machine lacks it.

Such a test is skipped and listed by name at the end of the run; with `bootstrap.py test --strict`
(COUNTERFOIL_STRICT=1) it fails instead, so that a green strict run has left nothing out.
"""

from __future__ import annotations

import os
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

PREFIX = "needs "


def find_postgresql() -> Path | None:
    """Return the folder of PostgreSQL's server programs, which Debian keeps off the PATH."""
    if found := shutil.which("initdb"):
        return Path(found).resolve().parent
    versions = Path("/usr/lib/postgresql").glob("*/bin/initdb")
    newest = max(versions, key=lambda path: int(path.parts[-3]), default=None)
    return newest.parent if newest else None


def find_redis() -> Path | None:
    return _find("redis-server")


def find_chromium() -> Path | None:
    """Return the browser: the one that CHROMIUM names, or the system's."""
    return _find(os.environ.get("CHROMIUM") or "chromium")


def find_git() -> Path | None:
    return _find("git")


FINDERS: dict[str, Callable[[], Path | None]] = {
    "postgresql": find_postgresql,
    "redis-server": find_redis,
    "chromium": find_chromium,
    "git": find_git,
}


def require(name: str) -> Path:
    """Return where a needed program is; without it skip the test, or fail it in a strict run."""
    if found := FINDERS[name]():
        return found
    message = f"{PREFIX}{name}"
    if is_strict():
        pytest.fail(f"{message}, which is not installed (apt install {name})", pytrace=False)
    pytest.skip(message)


def is_strict() -> bool:
    return os.environ.get("COUNTERFOIL_STRICT") == "1"


def group_missed(skipped: Iterable[pytest.TestReport]) -> dict[str, list[str]]:
    """Return the tests that were skipped for want of each program."""
    missed = defaultdict(list)
    for report in skipped:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
        wanted = reason.removeprefix("Skipped: ")
        if wanted.startswith(PREFIX):
            missed[wanted.removeprefix(PREFIX)].append(report.nodeid)
    return dict(missed)


def _find(program: str) -> Path | None:
    found = shutil.which(program)
    return Path(found) if found else None
