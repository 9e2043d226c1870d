"""`manage.py oban_sync`: what is in an Oban table, and what becomes of it, into the ledger."""

from __future__ import annotations

import os
import signal
import threading
from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

import psycopg
from django.core.management.base import CommandError

from access.management import lookup
from jobs.domain import oban
from jobs.domain.oban_table import check_identifier
from jobs.integrations import oban_loop
from jobs.integrations.oban_loop import Target, Unreachable, Unreadable
from kit import commands, redact

SYSTEM = "oban"
UNREACHABLE = 2
LONGEST_S = 3600
NO_ADDRESS = "The DSN is no address of a PostgreSQL."


class Command(commands.Command):
    help = "Read an Oban table, without writing to it, and store what is new as receipts."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, help="the project's slug")
        parser.add_argument(
            "--instance", required=True, type=_instance, help="the name of the source: prod-1"
        )
        where = parser.add_mutually_exclusive_group(required=True)
        where.add_argument("--dsn", help="the database's address, without a password")
        where.add_argument("--dsn-env", metavar="VAR", help="the variable that holds the address")
        parser.add_argument("--schema", type=_identifier, default="public")
        parser.add_argument("--table", type=_identifier, default="oban_jobs")
        how = parser.add_mutually_exclusive_group(required=True)
        how.add_argument("--once", action="store_true", help="go round once and leave")
        how.add_argument("--follow", action="store_true", help="go round until SIGTERM")
        parser.add_argument(
            "--every", type=_seconds, default=5.0, help="seconds between two rounds"
        )

    def answer(self, **options: Any) -> int:
        target = Target(
            project_id=lookup.get_project(options["project"]).id,
            instance=options["instance"],
            dsn=self._dsn(options),
            schema=options["schema"],
            table=options["table"],
        )
        try:
            self._read(target, options)
        except Unreachable as error:
            self.stderr.write(f"The source cannot be reached: {error}")
            return UNREACHABLE
        except Unreadable as error:
            raise CommandError(str(error)) from error
        return 0

    def _read(self, target: Target, options: dict[str, Any]) -> None:
        if options["once"]:
            self.stdout.write(oban_loop.run_once(target, self.stderr.write).sentence())
        for sentence in oban.CANNOT_KNOW:
            self.stdout.write(sentence)
        if options["follow"]:
            oban_loop.follow(target, self.stdout.write, _told_to_stop(), options["every"])

    def _dsn(self, options: dict[str, Any]) -> str:
        name = options["dsn_env"]
        dsn = options["dsn"] if name is None else os.environ.get(name, "")
        if not dsn:
            raise commands.UsageError(f"The variable {name} holds no address." if name
                                      else "--dsn is empty.")  # fmt: skip
        try:
            parts = psycopg.conninfo.conninfo_to_dict(dsn)
        except psycopg.ProgrammingError:
            # The driver's own message repeats the address.
            raise commands.UsageError(NO_ADDRESS) from None
        if not all(_is_port(port) for port in str(parts.get("port", "")).split(",")):
            raise commands.UsageError(f"{NO_ADDRESS} A port is a number from 1 to 65535.")
        if name is None and (parts.get("password") or redact.has_password(dsn)):
            self.stderr.write(
                "The address has a password in it, which others on this machine can see. "
                "Give it in a variable by --dsn-env."
            )
        return str(dsn)


def _is_port(text: str) -> bool:
    return not text or (text.isascii() and text.isdigit() and 1 <= int(text) <= 65_535)


def _told_to_stop() -> threading.Event:
    stop = threading.Event()
    for one in (signal.SIGTERM, signal.SIGINT):
        signal.signal(one, lambda *_: stop.set())
    return stop


def _instance(text: str) -> str:
    lookup.source(f"{SYSTEM}/{text}")
    return text


def _identifier(text: str) -> str:
    try:
        return check_identifier(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from error


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= LONGEST_S:
        raise ArgumentTypeError(f"{text} is not a number of seconds up to {LONGEST_S}")
    return seconds
