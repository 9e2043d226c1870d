"""Say when a bus is worked on, or that two names are those of one installation."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.core.management.base import CommandError, CommandParser

from access.management import lookup
from access.rows import COMMAND_LINE
from events import acts
from events.domain.told.names import BusName
from kit.commands import Command as BaseCommand
from kit.commands import UsageError
from ledger.domain import plain


class Command(BaseCommand):
    """What was said becomes an act in the log with the next round of the follower."""

    help = "Say when a bus is worked on, or that two names are one installation."

    def add_arguments(self, parser: CommandParser) -> None:
        said = parser.add_subparsers(dest="act", required=True)
        maintain = said.add_parser("maintain", help="a new epoch in this time is planned")
        maintain.add_argument("--bus", required=True, help="INSTALLATION/BUS")
        maintain.add_argument("--from", dest="begins", required=True, help="a time with its zone")
        maintain.add_argument("--to", dest="ends", required=True, help="a time with its zone")
        alias = said.add_parser("alias", help="two names are those of one installation")
        alias.add_argument("--installation", required=True)
        alias.add_argument("--also", required=True, help="its other name")
        for one in (maintain, alias):
            one.add_argument("--project", required=True)
            one.add_argument("--reason", required=True)

    def answer(self, **options: Any) -> int | None:
        project = lookup.get_project(options["project"])
        said = {"maintain": self._maintain, "alias": self._alias}
        try:
            said[options["act"]](project.id, options)
        except acts.BadAct as error:
            raise CommandError(str(error)) from error
        self.stdout.write("Noted; it comes into the log with the follower's next round.")
        return None

    def _maintain(self, project_id: int, options: dict[str, Any]) -> None:
        installation, slash, bus = options["bus"].partition("/")
        if not (installation and slash and bus):
            raise UsageError("name the bus as INSTALLATION/BUS")
        span = (_time("--from", options["begins"]), _time("--to", options["ends"]))
        acts.announce_maintenance(
            project_id, BusName(installation, bus), span, COMMAND_LINE, options["reason"]
        )

    def _alias(self, project_id: int, options: dict[str, Any]) -> None:
        acts.say_same(
            project_id, options["installation"], options["also"], COMMAND_LINE, options["reason"]
        )


def _time(option: str, text: str) -> datetime:
    found = plain.time_of(text)
    if found is None:
        raise UsageError(f"{option} takes a time with its zone, such as 2026-10-05T09:00:00Z")
    return found
