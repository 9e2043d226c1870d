"""The virtual environment `.venv`: made, found healthy, or made again."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tools.bootstrap import install
from tools.bootstrap.steps import Stop, child_environment, say, step

INCLUDED = {"base": ["base"], "dev": ["dev", "base"]}
"""The locks that are satisfied once the named one is installed."""

PROBE = "import sys; assert sys.prefix != sys.base_prefix; print('%d.%d.%d' % sys.version_info[:3])"


@dataclass(frozen=True)
class Environment:
    """The places of one checkout's environment."""

    root: Path

    @property
    def folder(self) -> Path:
        return self.root / ".venv"

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def stamp(self) -> Path:
        """Which locks were installed completely, by which Python."""
        return self.folder / "counterfoil-stamp.json"

    @property
    def unfinished(self) -> Path:
        """Stands while packages are being installed; left behind by an interrupted install."""
        return self.folder / "counterfoil-unfinished"

    def lock(self, name: str) -> Path:
        return self.root / "requirements" / f"{name}.txt"


def prepare(root: Path, lock: str, offline: Path | None = None) -> Environment:
    """Return the checkout's environment with everything of a lock installed in it."""
    environment = Environment(root)
    # Asked before the lock is taken too, so that a finished checkout may be read-only.
    if is_finished(environment, lock):
        return environment
    try:
        with only_one(root):
            ensure(environment, lock, offline)
    except OSError as error:
        raise Stop(
            f"Cannot write {error.filename or environment.folder} ({error.strerror}); "
            "run this in a copy of the checkout that you may write to."
        ) from error
    return environment


@contextmanager
def only_one(root: Path) -> Iterator[None]:
    """Let one set-up of a checkout run at a time; the others wait for it.

    The lock is beside the environment, which may be removed while it is held, and it goes with
    the process, so a killed set-up leaves none behind.
    """
    with (root / ".venv.lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Another set-up of this checkout is running; waiting for it.")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def ensure(environment: Environment, lock: str, offline: Path | None) -> None:
    """Do what is left to do: nothing, install, or make the environment again."""
    if is_finished(environment, lock):
        return
    version = find_version(environment)
    if version is None or environment.unfinished.exists():
        rebuild(environment)
        version = find_version(environment)
    if version is None:
        raise Stop(f"{environment.python} does not run; see whether {sys.executable} is whole.")
    environment.stamp.unlink(missing_ok=True)
    environment.unfinished.touch()
    install.install(environment.python, environment.lock(lock), offline)
    write_stamp(environment, lock, version)
    environment.unfinished.unlink()


def find_version(environment: Environment) -> str | None:
    """Return the version of a healthy environment's Python, or None where it does not run."""
    try:
        answer = subprocess.run(
            [environment.python, "-c", PROBE],
            capture_output=True,
            text=True,
            env=child_environment(),
            timeout=60,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip() or None


def rebuild(environment: Environment) -> None:
    """Remove what is there and make an empty environment, with pip in it where Python can."""
    with step("Making " + str(environment.folder)):
        remove(environment.folder)
        # Inside an environment, sys.executable is a link into the folder that was just removed.
        python = getattr(sys, "_base_executable", None) or sys.executable
        made = run_venv(python, environment.folder)
        if made.returncode != 0:
            remove(environment.folder)
            made = run_venv(python, environment.folder, "--without-pip")
        if made.returncode != 0:
            remove(environment.folder)
            raise Stop(missing_venv(made.stdout + made.stderr))


def run_venv(python: str, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [python, "-m", "venv", *options, folder],
        capture_output=True,
        text=True,
        env=child_environment(),
        check=False,
    )


def missing_venv(output: str) -> str:
    """Return one sentence for a Python that cannot make an environment."""
    if "No module named" in output:
        return "This Python has no venv module; install it with: apt install python3-venv"
    last = (output.strip().splitlines() or ["it gave no reason"])[-1]
    return f"Python could not make a virtual environment: {last}"


def remove(folder: Path) -> None:
    """Remove a folder, or the link that stands in its place."""
    if folder.is_symlink() or folder.is_file():
        folder.unlink()
    elif folder.exists():
        shutil.rmtree(folder)


def is_finished(environment: Environment, lock: str) -> bool:
    """Tell whether the lock as it is now was installed completely by a Python that still runs."""
    version = find_version(environment)
    return version is not None and is_stamped(environment, lock, version)


def is_stamped(environment: Environment, lock: str, version: str) -> bool:
    """Tell whether the stamp is of this version of the lock and of Python."""
    try:
        stamp = json.loads(environment.stamp.read_text())
        stamped = (stamp["python"], stamp["locks"].get(lock))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False
    return stamped == (version, digest(environment.lock(lock)))


def write_stamp(environment: Environment, lock: str, version: str) -> None:
    locks = {name: digest(environment.lock(name)) for name in INCLUDED[lock]}
    draft = environment.stamp.with_suffix(f".{os.getpid()}")
    draft.write_text(json.dumps({"python": version, "locks": locks}, indent=1))
    draft.replace(environment.stamp)


def digest(lock: Path) -> str:
    return hashlib.sha256(lock.read_bytes()).hexdigest()
