"""The commands that the documentation prints, run against a server of their own."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.architecture import ROOT, documents
from tests.architecture.walkthrough import Terminal, iter_steps
from tests.running import Counterfoil

pytestmark = pytest.mark.slow

WALKTHROUGHS = (
    "README.md",
    "docs/tutorial/first-ten-minutes.md",
    "docs/how-to/forward.md",
    "docs/how-to/back-up-and-restore.md",
    "docs/how-to/import-history.md",
    "docs/how-to/reconcile.md",
)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Counterfoil]:
    with closing(Counterfoil(tmp_path / "data")) as server:
        yield server.start()


@pytest.fixture
def terminal(server: Counterfoil, tmp_path: Path) -> Terminal:
    programs = tmp_path / "bin"
    programs.mkdir()
    client = programs / "counterfoil"
    python, source = shlex.quote(sys.executable), shlex.quote(str(ROOT / "client" / "src"))
    client.write_text(f'#!/bin/sh\nPYTHONPATH={source} exec {python} -m counterfoil "$@"\n')
    client.chmod(0o755)
    environment = {
        **server.environment,
        "PATH": f"{programs}:{server.environment['PATH']}",
        "HOME": str(tmp_path),
    }
    words = {
        "http://127.0.0.1:8000": server.url,
        ".venv/bin/python": python,
        "var/": f"{server.data_dir}/",
        "/tmp/": f"{tmp_path}/",
    }
    return Terminal(tmp_path, environment, words)


@pytest.mark.parametrize("page", WALKTHROUGHS)
def test_a_page_can_be_followed_to_its_end(page: str, terminal: Terminal) -> None:
    for step in iter_steps(documents.read(page)):
        terminal.follow(step)
