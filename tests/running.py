"""Counterfoil itself, started as its users start it, that tests may kill and start again."""

from __future__ import annotations

import http.client
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Self

from tests.architecture import ROOT
from tests.servers import PATIENCE, end, find_free_port, wait_until_ready


class Counterfoil:
    """`manage.py up` on a port and a data folder of its own.

    With a PostgreSQL address that is its database, else a file in the folder. It keeps its port,
    so a client that waits for it finds it again after a start.
    """

    def __init__(self, data_dir: Path, database_url: str = "", *options: str) -> None:
        self.data_dir = data_dir
        self.port = find_free_port()
        self.options = options or ("--no-demo",)
        self.environment = {
            **os.environ,
            "DATA_DIR": str(data_dir),
            "DATABASE_URL": database_url,
            "PYTHONUNBUFFERED": "1",
        }
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> Path:
        """What the server printed, over all its starts."""
        return self.data_dir.with_name(self.data_dir.name + ".log")

    @property
    def login_link(self) -> str:
        """Return the one-time log-in link that the last start printed."""
        return re.findall(r"Log in once with (\S+)", self.log.read_text())[-1]

    def start(self) -> Self:
        command = [sys.executable, "manage.py", "up", "--port", str(self.port), *self.options]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                command, cwd=ROOT, env=self.environment, stdout=log, stderr=log
            )
        wait_until_ready(self._process, self.is_ready, self.log)
        return self

    def is_ready(self) -> bool:
        """Ask `/readyz`."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()

    def stop(self) -> int | None:
        """Press Ctrl-C and return the exit code."""
        end(self._process, signal.SIGINT)
        return self._process.returncode if self._process else None

    def kill(self) -> None:
        end(self._process, signal.SIGKILL)

    def close(self) -> None:
        self.stop()

    def manage(self, *arguments: str) -> str:
        """Run another command on the same data and return what it printed."""
        command = [sys.executable, "manage.py", *arguments]
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
            # A scenario of the demo waits for the ledger to read what it told.
            timeout=3 * PATIENCE,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout
