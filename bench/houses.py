"""The servers that are measured, each in a folder of its own, and a second database beside them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from bench.bare import Ledger
from tests.architecture import ROOT
from tests.running import Counterfoil
from tests.servers import Postgres, wait_until_ready

PROJECT = "main"


class Web(Counterfoil):
    """One web process without a follower, as production has it."""

    def start(self) -> Self:
        command = [
            sys.executable, "-m", "uvicorn", "config.asgi:application", "--port", str(self.port),
            "--log-level", "warning", "--no-access-log",
        ]  # fmt: skip
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                command, cwd=ROOT, env=self.environment, stdout=log, stderr=log
            )
        wait_until_ready(self._process, self.is_ready, self.log)
        return self

    def processor_s(self) -> float:
        """Return the processor time that the process has taken."""
        assert self._process is not None
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Embedded(Counterfoil):
    """`manage.py up`: web and follower in one process."""

    def memory(self) -> tuple[float, float]:
        """Return the resident memory in MB, now and at its highest."""
        assert self._process is not None
        lines = Path(f"/proc/{self._process.pid}/status").read_text().splitlines()
        sizes = dict(line.split(":", 1) for line in lines)
        now, highest = (int(sizes[name].split()[0]) / 1024 for name in ("VmRSS", "VmHWM"))
        return now, highest


@dataclass(frozen=True, slots=True)
class House:
    """A migrated ledger with a token, in forms to be started, and the bare tables beside it."""

    web: Web
    embedded: Embedded
    ledger: Ledger
    bare: Ledger

    def token(self, project: str = PROJECT, scope: str = "ingest") -> str:
        """Make a token of a project, which is made too if there is none."""
        return self.web.manage(
            "token", "create", "--project", project, "--scope", scope, "--name", "bench",
            "--create-project",
        ).strip()  # fmt: skip

    def catch_up(self, seconds: float) -> tuple[int, float]:
        """Sequence and derive what waits, for some seconds at most; gives receipts and seconds."""
        done = subprocess.run(
            [sys.executable, str(ROOT / "bench" / "catching_up.py"), str(seconds)],
            cwd=ROOT,
            env=self.web.environment,
            capture_output=True,
            text=True,
            check=True,
        )
        count, spent = done.stdout.split()
        return int(count), float(spent)


@contextmanager
def build(database: str) -> Iterator[House]:
    """Build a house on `sqlite` or `postgresql`, and pull it down at the end."""
    folder = Path(tempfile.mkdtemp(prefix="counterfoil-bench-"))
    postgres = Postgres(is_durable=True).start() if database == "postgresql" else None
    try:
        yield _build(folder, postgres)
    finally:
        if postgres is not None:
            postgres.close()
        shutil.rmtree(folder, ignore_errors=True)


def _build(folder: Path, postgres: Postgres | None) -> House:
    addresses = ["", ""]
    if postgres is not None:
        for name in ("ledger", "bare"):
            postgres.execute(f"CREATE DATABASE {name}")
        addresses = [postgres.url_of("ledger"), postgres.url_of("bare")]
    web, embedded = Web(folder / "ledger", addresses[0]), Embedded(folder / "ledger", addresses[0])
    # A first start makes the project and the person who reads its pages.
    with closing(embedded.start()):
        pass
    beside = Web(folder / "bare", addresses[1])
    beside.data_dir.mkdir()
    beside.manage("migrate", "--verbosity", "0")
    files = [folder / name / "counterfoil.sqlite3" for name in ("ledger", "bare")]
    ledger, bare = (Ledger(address or file) for address, file in zip(addresses, files, strict=True))
    return House(web, embedded, ledger, bare)
