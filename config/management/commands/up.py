"""`manage.py up`: the embedded server, from an empty folder to a first page."""

from __future__ import annotations

import os
import socket
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import run_checks
from django.core.management import call_command
from django.db import connection

from config import first_start
from config.instance_lock import AlreadyRunning, InstanceLock
from kit import commands

DEFAULT_PORT = 8000
PORTS_TRIED = 20


class Command(commands.Command):
    help = "Set up what is missing and run the embedded server until Ctrl-C."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
        parser.add_argument("--port", type=int, help=f"port to listen on, {DEFAULT_PORT} if free")
        parser.add_argument("--data-dir", type=Path, help="folder of the database and keys")
        parser.add_argument("--no-demo", action="store_true", help="start with an empty ledger")

    def answer(self, **options: Any) -> int:
        data_dir = options["data_dir"]
        if data_dir and data_dir.resolve() != Path(settings.DATA_DIR):
            _start_over(data_dir)
        lock = self._lock()
        if lock is None:
            return 1
        listener = self._listen(options["host"], options["port"])
        if listener is None:
            return 1
        if not self._is_fit():
            return 1
        call_command("migrate", interactive=False, verbosity=0)
        start = first_start.prepare(with_demo=not options["no_demo"])
        connection.close()
        from config import server

        address = server.address_of(options["host"], listener)
        lock.note(f"process {os.getpid()}, {address}")
        server.run(listener, address, start, self.stdout.write)
        return 0

    def _lock(self) -> InstanceLock | None:
        try:
            return InstanceLock(Path(settings.DATA_DIR))
        except AlreadyRunning as error:
            owner = str(error) or "another process"
            self.stderr.write(
                f"A server runs on {settings.DATA_DIR} already ({owner}). "
                "Stop it, or give this one another folder with --data-dir."
            )
            return None

    def _listen(self, host: str, port: int | None) -> socket.socket | None:
        """Take the port asked for, or without one the first free from the default on."""
        wanted = [port] if port is not None else range(DEFAULT_PORT, DEFAULT_PORT + PORTS_TRIED)
        problem = ""
        for one in wanted:
            try:
                return _bind(host, one)
            except (OSError, OverflowError) as error:
                problem = getattr(error, "strerror", None) or "a port is a number up to 65535"
        ports = str(port) if port is not None else f"{DEFAULT_PORT} and the {PORTS_TRIED - 1} after"
        self.stderr.write(
            f"Cannot listen on {host}, port {ports}: {problem}. Choose another with --port."
        )
        return None

    def _is_fit(self) -> bool:
        """Run the system checks; what is only worth a warning does not stop the start."""
        found = run_checks()
        for message in found:
            self.stderr.write(str(message))
        return not any(message.is_serious() for message in found)


def _start_over(data_dir: Path) -> None:
    """Run again with the folder in the environment: the settings are read before the options."""
    os.environ["DATA_DIR"] = str(data_dir.resolve())
    os.execv(sys.executable, [sys.executable, *sys.argv])  # noqa: S606


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except BaseException:
        listener.close()
        raise
    listener.set_inheritable(True)
    return listener
