"""`manage.py sources`: everything that is watched, in one file of the user's own."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from access.management import lookup
from config.sources import applying, comparing, exporting, history, in_use, reading
from config.sources.applying import AppliedMeanwhile
from config.sources.comparing import Comparison
from config.sources.history import Applied
from config.sources.reading import BadFile
from kit import commands
from kit.commands import UsageError

DIFFERS = 1
STANDARD = "-"


class Command(commands.Command):
    help = "Apply a file that names what is watched, show how it differs, or write it."
    failure_code = 2

    def add_arguments(self, parser: ArgumentParser) -> None:
        acts = parser.add_subparsers(dest="act", required=True)
        for act, told in (
            ("apply", "set what the file says"),
            ("diff", "show what applying would change"),
            ("export", "write what was applied into a new file"),
        ):
            one = acts.add_parser(act, help=told)
            one.add_argument(
                "file", metavar="FILE.toml", help="the file; - is standard input or output"
            )
            one.add_argument("--project", default="main", help="the project's slug")

    def answer(self, **options: Any) -> int:
        project_id = lookup.get_project(options["project"]).id
        applied = history.load(project_id)
        if options["act"] == "export":
            self._export(applied, options["file"])
            return 0
        text = _read(options["file"])
        compared = _compare(project_id, applied, text, options["file"])
        if options["act"] == "diff":
            return self._diff(compared)
        self._apply(project_id, applied, compared, text)
        return 0

    def _diff(self, compared: Comparison) -> int:
        self._tell(compared)
        if not compared.differs:
            self.stdout.write("Nothing in the file differs from what was applied.")
        return DIFFERS if compared.differs else 0

    def _apply(self, project_id: int, applied: Applied, compared: Comparison, text: str) -> None:
        self._tell(compared)
        if not compared.differs:
            self.stdout.write("Nothing in the file differs from what was applied.")
            return
        try:
            number = applying.apply(project_id, applied, compared.to_apply, text)
        except AppliedMeanwhile as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"Applied {len(compared.to_apply)} sources; this is number {number}.")

    def _tell(self, compared: Comparison) -> None:
        for line in compared.lines():
            self.stdout.write(line)

    def _export(self, applied: Applied, name: str) -> None:
        text = exporting.write(applied.entries.values())
        if name == STANDARD:
            self.stdout.write(text, ending="")
            return
        try:
            with Path(name).open("x", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise UsageError(f"{name} cannot be written: {error.strerror}.") from error


def _compare(project_id: int, applied: Applied, text: str, name: str) -> Comparison:
    try:
        sources = reading.read(text)
    except BadFile as error:
        raise UsageError(f"{name}: {error}") from error
    return comparing.compare(sources, applied.entries, in_use.list_in_use(project_id))


def _read(name: str) -> str:
    try:
        raw = sys.stdin.buffer.read() if name == STANDARD else Path(name).read_bytes()
        return raw.decode("utf-8")
    except OSError as error:
        raise UsageError(f"{name} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{name} is not UTF-8 at byte {error.start}.") from error
