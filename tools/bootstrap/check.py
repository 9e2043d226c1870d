"""`bootstrap.py check`: every check runs, one line each."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.bootstrap import locks
from tools.bootstrap.environment import Environment
from tools.bootstrap.steps import child_environment, say

PACKAGES = ("config", "kit", "access", "ledger", "jobs", "events", "adr", "client/src")
"""What is type-checked, as far as it is there."""


@dataclass(frozen=True)
class Check:
    """A name and the command that must exit 0."""

    name: str
    command: list[str]


def run(environment: Environment) -> int:
    """Run all checks, print a line each and what failed, and return 0 or 1."""
    failed = [check.name for check in iter_checks(environment) if not passes(check, environment)]
    requirements = environment.root / "requirements"
    faults = list(locks.iter_faults(requirements)) or list(locks.iter_stale(requirements))
    report("locks", not faults, 0.0, "\n".join(faults))
    failed += ["locks"] if faults else []
    say("All checks passed." if not failed else "Failed: " + ", ".join(failed))
    return 1 if failed else 0


def iter_checks(environment: Environment) -> Iterator[Check]:
    root, programs = environment.root, environment.folder / "bin"
    python = str(environment.python)
    packages = [name for name in PACKAGES if (root / name).is_dir()]
    yield Check("ruff check", [python, "-m", "ruff", "check", "--quiet", "."])
    yield Check("ruff format", [python, "-m", "ruff", "format", "--check", "."])
    yield Check("mypy", [python, "-m", "mypy", "bootstrap.py", "tools", *packages])
    # Run by its path as a script: its first line names the folder in which it was installed.
    yield Check("import-linter", [python, str(programs / "lint-imports"), "--no-logo"])
    if templates := find_templates(root):
        yield Check("djade", [str(programs / "djade"), "--check", *templates])
    yield Check("migrations", [python, "manage.py", "makemigrations", "--check", "--dry-run"])


def find_templates(root: Path) -> list[str]:
    """Return every template of the checkout, of the common folder and of the apps."""
    found = [*root.glob("templates/**/*.html"), *root.glob("*/templates/**/*.html")]
    return sorted(str(path.relative_to(root)) for path in found)


def passes(check: Check, environment: Environment) -> bool:
    started = time.monotonic()
    done = subprocess.run(
        check.command,
        cwd=environment.root,
        env=child_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    ok = done.returncode == 0
    report(check.name, ok, time.monotonic() - started, done.stdout)
    return ok


def report(name: str, ok: bool, seconds: float, output: str) -> None:
    say(f"{'ok    ' if ok else 'failed'}  {name:<14} {seconds:5.1f} s")
    if not ok:
        say("\n".join("        " + line for line in output.strip().splitlines()))
