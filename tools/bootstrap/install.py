"""Packages from a lock: each one checked against its hash, none compiled here."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tools.bootstrap.steps import Stop, child_environment, complain, step

LOCKED = ["--require-hashes", "--only-binary", ":all:"]

OLDEST_PIP = (22, 3)
"""The first pip that can install into another Python's environment (`--python`)."""


def install(python: Path, lock: Path, offline: Path | None) -> None:
    """Install a lock into the environment of `python`, from an index or from a folder.

    uv is quicker and is used when it is there. It does not read pip's settings, in which a
    mirror may be named, so where it fails pip has the last word.
    """
    name = f"Installing {count_pins(lock)} packages of {lock.name}, each by its hash"
    outputs = []
    with step(name):
        for command in iter_installers(python):
            done = run_installer([*command, *LOCKED, *source(offline), "-r", str(lock)])
            if done.returncode == 0:
                return
            outputs.append(done.stdout + done.stderr)
        if not outputs:
            raise Stop(
                "This Python has neither ensurepip nor a pip of 22.3 or newer; "
                "install them with: apt install python3-venv"
            )
        complain("\n" + outputs[-1].strip())
        raise Stop(advice(offline))


def advice(offline: Path | None) -> str:
    if offline:
        return f"The packages of the lock are not all in {offline}; the lines above name the first."
    return (
        "The packages could not be installed, for the reason above; "
        "run the same command again, or give a folder of wheels with --offline DIR."
    )


def run_installer(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, capture_output=True, text=True, env=child_environment(), check=False
    )


def source(offline: Path | None) -> list[str]:
    return ["--no-index", "--find-links", str(offline)] if offline else []


def iter_installers(python: Path) -> Iterator[list[str]]:
    """Yield the beginnings of install commands that can work here, the best one first."""
    if uv := shutil.which("uv"):
        yield [uv, "pip", "install", "--quiet", "--python", str(python)]
    if find_pip([str(python)]):
        yield [str(python), "-m", "pip", "install", "--quiet"]
    elif (find_pip([sys.executable]) or (0,)) >= OLDEST_PIP:
        yield [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]


def find_pip(python: list[str]) -> tuple[int, ...] | None:
    """Return the version of a Python's pip, or None where it has none."""
    answer = run_installer([*python, "-m", "pip", "--version"])
    found = re.match(r"pip (\d+)\.(\d+)", answer.stdout)
    return tuple(int(part) for part in found.groups()) if found else None


def count_pins(lock: Path) -> int:
    return sum("==" in line for line in lock.read_text().splitlines() if line[:1].isalnum())
