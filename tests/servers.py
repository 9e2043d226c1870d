"""Private servers on free loopback ports, which tests may stop, kill and start again.

Each has its own folder and asks nothing of a server that already runs on the machine. The fixtures
of tests/conftest.py close what they started.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, Self

from tests import needs

PATIENCE = 60.0
"""Seconds that a server may take to answer before a test gives up on it."""


class DidNotStart(RuntimeError):
    """The server did not answer in time; its log follows."""


class Server(Protocol):
    """What a test may do to a server."""

    def start(self) -> Self: ...

    def stop(self) -> None:
        """End the server in good order."""

    def kill(self) -> None:
        """End the server at once, as a crash would (SIGKILL)."""


class Postgres:
    """A PostgreSQL of our own; `url` is the address of its database `postgres`.

    Unless it `is_durable`, writes are not forced to the disk: what a test proves is that a killed
    process loses nothing, which the operating system's cache already keeps.
    """

    def __init__(self, *, is_durable: bool = False) -> None:
        self.is_durable = is_durable
        self.programs = needs.require("postgresql")
        self.owner = find_owner()
        self.folder = make_folder("postgresql", self.owner)
        self.port = find_free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._run("initdb", "--auth=trust", "--username=counterfoil", "--no-sync", "-D", self.data)

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def url(self) -> str:
        return self.url_of("postgres")

    def url_of(self, database: str) -> str:
        return f"postgresql://counterfoil@127.0.0.1:{self.port}/{database}"

    def start(self) -> Self:
        options = {
            "port": str(self.port),
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": "",
            "fsync": "on" if self.is_durable else "off",
            "full_page_writes": "on" if self.is_durable else "off",
            "max_connections": "200",
            "shared_buffers": "64MB",
        }
        given = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        log = (self.folder / "log").open("ab")
        with log:
            self._process = subprocess.Popen(
                [self.programs / "postgres", "-D", self.data, *given],
                stdout=log,
                stderr=log,
                user=self.owner,
                cwd=self.folder,
            )
        wait_until_ready(self._process, self._is_ready, self.folder / "log")
        return self

    def stop(self) -> None:
        """End in good order, without waiting for clients to leave."""
        end(self._process, signal.SIGINT)

    def kill(self) -> None:
        """End the server and each of its sessions at once.

        A session that outlives the server keeps the shared memory, and the next start refuses it.
        """
        children = list_children(self._process)
        end(self._process, signal.SIGKILL)
        for child in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        deadline = time.monotonic() + PATIENCE
        while any(map(is_alive, children)) and time.monotonic() < deadline:
            time.sleep(0.02)

    def close(self) -> None:
        """Stop, and remove the folder."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def execute(self, statement: str, database: str = "postgres") -> None:
        """Run one statement in autocommit, such as CREATE DATABASE."""
        import psycopg

        with psycopg.connect(self.url_of(database), autocommit=True) as connection:
            connection.execute(statement.encode())

    def _is_ready(self) -> bool:
        done = subprocess.run(
            [self.programs / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)],
            check=False,
        )
        return done.returncode == 0

    def _run(self, program: str, *arguments: str | Path) -> None:
        subprocess.run(
            [self.programs / program, *arguments],
            user=self.owner,
            cwd=self.folder,
            check=True,
            capture_output=True,
        )


class Redis:
    """A Redis of our own that keeps nothing on disk; `url` is the address of its database 0."""

    def __init__(self, *options: str) -> None:
        self.program = needs.require("redis-server")
        self.folder = make_folder("redis", None)
        self.port = find_free_port()
        self.options = options
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> Self:
        address = ["--bind", "127.0.0.1", "--port", str(self.port), "--dir", str(self.folder)]
        volatile = ["--save", "", "--appendonly", "no"]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self.program, *address, *volatile, *self.options], stdout=log, stderr=log
            )
        wait_until_ready(self._process, lambda: is_open(self.port), self.folder / "log")
        return self

    def stop(self) -> None:
        end(self._process, signal.SIGTERM)

    def kill(self) -> None:
        end(self._process, signal.SIGKILL)

    def close(self) -> None:
        """Stop, and remove the folder."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def find_owner() -> str | None:
    """Return the user that PostgreSQL runs as: it refuses root, and anybody else is fine."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in known else "nobody"


def make_folder(name: str, owner: str | None) -> Path:
    """Make a folder of the owner's, in a place that the owner can reach."""
    folder = Path(tempfile.mkdtemp(prefix=f"counterfoil-{name}-"))
    if owner:
        shutil.chown(folder, owner)
    return folder


def find_free_port() -> int:
    """Return a loopback port that nobody listens on at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def is_open(port: int) -> bool:
    """Tell whether somebody answers on a loopback port."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def wait_until_ready(
    process: subprocess.Popen[bytes], is_ready: Callable[[], bool], log: Path
) -> None:
    """Return once the server answers; raise with its log when it ends or takes too long."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        if is_ready():
            return
        time.sleep(0.02)
    end(process, signal.SIGKILL)
    raise DidNotStart(log.read_text(errors="replace"))


def end(process: subprocess.Popen[bytes] | None, how: signal.Signals) -> None:
    """Send a signal to a process that may be gone already, and wait until it is."""
    if process is None or process.poll() is not None:
        return
    process.send_signal(how)
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def list_children(process: subprocess.Popen[bytes] | None) -> list[int]:
    """Return the ids of a process's children, from the kernel's own list."""
    if process is None or process.poll() is not None:
        return []
    listed = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
    return [int(child) for child in listed.split()]


def is_alive(pid: int) -> bool:
    """Tell whether a process still runs; one that only waits to be collected does not."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] not in {"Z", "X"}
