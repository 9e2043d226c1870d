"""Rules about the code itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

APPS = ("config", "kit", "access", "ledger", "jobs", "events", "adr")


@cache
def list_sources(*folders: str) -> list[Path]:
    """Return the Python files below folders of the checkout, without migrations."""
    found = (path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    return sorted(path for path in found if "migrations" not in path.parts)


@cache
def parse(source: Path) -> ast.Module:
    """Return a file's syntax tree; each is asked for by several rules."""
    return ast.parse(source.read_text())


@cache
def list_imports(source: Path) -> list[str]:
    """Return the full name of each module that a file imports, wherever in it; `.` if relative."""
    return list(_iter_imports(source))


def _iter_imports(source: Path) -> Iterator[str]:
    for node in ast.walk(parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." if node.level else node.module or ""


def name_of(path: Path) -> str:
    """Return a path as the checkout's own, for a message."""
    return str(path.relative_to(ROOT))
