"""The how-to of Celery, followed to its end against a server and a Redis of its own."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from tests.architecture import ROOT, documents
from tests.architecture.walkthrough import Terminal, iter_steps
from tests.running import Counterfoil
from tests.servers import Redis

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

PROGRAMS = {"counterfoil": "-m counterfoil", "celery": "-m celery", "python": ""}


def test_the_way_by_celery_can_be_followed_to_its_end(
    counterfoil: Counterfoil, redis_server: Redis, tmp_path: Path
) -> None:
    python, source = shlex.quote(sys.executable), shlex.quote(str(ROOT / "client" / "src"))
    for name, arguments in PROGRAMS.items():
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f'#!/bin/sh\nPYTHONPATH={source} exec {python} {arguments} "$@"\n')
        program.chmod(0o755)
    words = {
        "http://127.0.0.1:8000": counterfoil.url,
        "redis://127.0.0.1:6379/0": redis_server.url,
        ".venv/bin/python": python,
        "/tmp/": f"{tmp_path}/",
    }
    # A shop is no Django project, and pytest's is not its own.
    foreign = ("COUNTERFOIL_", "DJANGO_")
    kept = {n: v for n, v in counterfoil.environment.items() if not n.startswith(foreign)}
    path = f"{tmp_path / 'bin'}:{kept['PATH']}"
    terminal = Terminal(tmp_path, {**kept, "PATH": path, "HOME": str(tmp_path)}, words)

    for step in iter_steps(documents.read("docs/how-to/celery.md")):
        terminal.follow(step)
