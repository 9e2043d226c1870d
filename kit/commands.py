"""What every management command of ours has in common: its exit codes.

An exit code that is a verdict is given only by a verdict (contract, section 1). Django gives 1
for its own errors and 2 for wrong options, which would read as findings, so they are mapped here.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, _SubParsersAction
from collections.abc import Iterator
from typing import Any, Literal, NoReturn

from django.core.management import ManagementUtility
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import Error as DatabaseError

from kit import redact

USAGE_CODE = 3


class UsageError(Exception):
    """The options given do not fit together."""


class _Parser(CommandParser):
    """Leaves with the command's own code for wrong options."""

    usage_code = USAGE_CODE

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        # What was not understood is repeated, and may be an address with a password in it.
        self.exit(self.usage_code, f"{self.prog}: {redact.text(message)}\n")


def _with_acts(parser: ArgumentParser) -> Iterator[ArgumentParser]:
    """Give a parser and those of its acts, such as `create`, which leave by themselves."""
    yield parser
    for action in parser._actions:
        if isinstance(action, _SubParsersAction):
            for one in action.choices.values():
                yield from _with_acts(one)


class Command(BaseCommand):
    """A command that leaves with 0, its verdict, `failure_code` or `usage_code`.

    `answer` returns the exit code, None meaning 0. `failure_code` is for whatever kept the command
    from doing its work: 1 where the contract says "0 / 1", 2 where 1 is a finding.
    """

    failure_code = 1
    usage_code = USAGE_CODE
    requires_system_checks: list[str] | tuple[str, ...] | Literal["__all__"] = []

    def answer(self, **options: Any) -> int | None:
        """Do the work and give the exit code."""
        raise CommandError("this command does nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        code = self.answer(**options)
        if code:
            sys.exit(code)

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        kind = type("Parser", (_Parser,), {"usage_code": self.usage_code})
        for one in _with_acts(parser):
            one.__class__ = kind
        return parser

    def run_from_argv(self, argv: list[str]) -> None:
        try:
            super().run_from_argv(argv)
        except UsageError as error:
            self._leave(str(error), self.usage_code)
        except DatabaseError as error:
            reason = str(error).strip().splitlines() or [type(error).__name__]
            self._leave(f"the database cannot be used: {reason[0]}", self.failure_code)
        except Exception as error:
            said = redact.text(f"{type(error).__name__}: {error}")
            self._leave(said, self.failure_code)

    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            return super().execute(*args, **options)
        except CommandError as error:
            if getattr(self, "_called_from_command_line", False):
                self._leave(str(error), self.failure_code)
            raise

    def _leave(self, message: str, code: int) -> NoReturn:
        self.stderr.write(message)
        sys.exit(code)


class _Utility(ManagementUtility):
    """Finds commands by name; for a name that it does not know Django leaves with a finding's 1."""

    def fetch_command(self, subcommand: str) -> BaseCommand:
        try:
            return super().fetch_command(subcommand)
        except SystemExit:
            sys.exit(USAGE_CODE)


def execute(argv: list[str]) -> None:
    """Run the command that a command line names."""
    _Utility(argv).execute()
