"""Give a user a password."""

from __future__ import annotations

import getpass
import sys
from typing import Any

from django.core.management.base import CommandError, CommandParser

from access import store
from access.management import lookup
from access.rows import COMMAND_LINE
from kit.commands import Command as BaseCommand

_SHORTEST = 12


class Command(BaseCommand):
    """The password is typed, or read from standard input; never given as an option."""

    help = "Give a user a password, typed or read from standard input."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--user", required=True)

    def answer(self, **options: Any) -> int | None:
        user = lookup.get_user(options["user"])
        password = self._read()
        if len(password) < _SHORTEST:
            raise CommandError(f"A password has at least {_SHORTEST} characters.")
        store.set_password(user.id, password, actor=COMMAND_LINE)
        self.stdout.write(f"{user.username} has a new password; other sessions have ended.")
        return None

    def _read(self) -> str:
        if sys.stdin.isatty():
            return getpass.getpass("Password: ")
        return sys.stdin.readline().rstrip("\n")
