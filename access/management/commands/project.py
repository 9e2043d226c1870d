"""Make, list and rename projects."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from access import queries, store
from access.management import lookup
from access.rows import COMMAND_LINE
from kit.commands import Command as BaseCommand
from kit.commands import UsageError


class Command(BaseCommand):
    """Each project is printed as slug, log origin and name."""

    help = "Make, list and rename projects."

    def add_arguments(self, parser: CommandParser) -> None:
        acts = parser.add_subparsers(dest="act", required=True)
        create = acts.add_parser("create", help="make a project with a log of its own")
        create.add_argument("slug", help="1 to 40 of a-z, 0-9 and -")
        create.add_argument("--name", default="")
        acts.add_parser("list", help="list all projects")
        rename = acts.add_parser("rename", help="change the slug, the name or both")
        rename.add_argument("slug")
        rename.add_argument("--slug", dest="new_slug", help="the old one redirects for ever")
        rename.add_argument("--name", dest="new_name")

    def answer(self, **options: Any) -> int | None:
        acts = {"create": self._create, "list": self._list, "rename": self._rename}
        with lookup.one_line_errors():
            acts[options["act"]](options)
        return None

    def _create(self, options: dict[str, Any]) -> None:
        project = store.create_project(
            slug=options["slug"], name=options["name"], actor=COMMAND_LINE
        )
        self.stdout.write(f"{project.slug}\t{project.origin}\t{project.name}")

    def _list(self, options: dict[str, Any]) -> None:
        for project in queries.all_projects():
            self.stdout.write(f"{project.slug}\t{project.origin}\t{project.name}")

    def _rename(self, options: dict[str, Any]) -> None:
        if options["new_slug"] is None and options["new_name"] is None:
            raise UsageError("say what to change: --slug, --name or both")
        project = store.rename_project(
            lookup.get_project(options["slug"]).id,
            slug=options["new_slug"],
            name=options["new_name"],
            actor=COMMAND_LINE,
        )
        self.stdout.write(f"{project.slug}\t{project.origin}\t{project.name}")
