"""The examples of deploy/: they start, and name, what is there."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from counterfoil import options

from tests.architecture import ROOT

DEPLOY = ROOT / "deploy"
UNIT = DEPLOY / "counterfoil-forward.service"
COMPOSE = DEPLOY / "compose.forward.yml"
SETTINGS = (ROOT / "client" / "src" / "counterfoil" / "settings.py").read_text()


def commands() -> list[str]:
    """Return the `counterfoil` commands that the examples run."""
    unit = re.findall(r"^ExecStart=\S*/counterfoil (.+)$", UNIT.read_text(), re.MULTILINE)
    service = yaml.safe_load(COMPOSE.read_text())["services"]["forward"]
    started = service["command"].removeprefix("counterfoil ")
    checked = " ".join(service["healthcheck"]["test"][2:])
    return [*unit, started, checked]


@pytest.mark.parametrize("command", commands())
def test_a_command_of_an_example_is_one_that_there_is(command: str) -> None:
    assert options.build().parse_args(command.split()).command == "forward"


@pytest.mark.parametrize("path", [UNIT, COMPOSE], ids=lambda path: path.name)
def test_a_variable_of_an_example_is_one_that_the_client_reads(path: Path) -> None:
    named = set(re.findall(r"COUNTERFOIL_[A-Z_]+", path.read_text()))

    assert named
    assert {name for name in named if f'"{name}"' not in SETTINGS} == set()


@pytest.mark.parametrize("path", [UNIT, COMPOSE], ids=lambda path: path.name)
def test_an_example_holds_no_secret(path: Path) -> None:
    assert "COUNTERFOIL_TOKEN=" not in path.read_text()
    assert "COUNTERFOIL_TOKEN:" not in path.read_text()


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not here")
def test_systemd_can_read_the_unit() -> None:
    said = subprocess.run(
        ["systemd-analyze", "verify", str(UNIT)], capture_output=True, text=True, check=False
    )

    # The program itself is not installed where the example says.
    assert [line for line in said.stderr.splitlines() if "not executable" not in line] == []
