"""Print a one-time log-in link."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from access import queries, store
from access.domain import rights
from access.management import lookup
from access.rows import COMMAND_LINE, ProjectRow, UserRow
from kit.commands import Command as BaseCommand
from kit.commands import UsageError

_FIRST_USER = "admin"


class Command(BaseCommand):
    """The link is alone on standard output; it shows a button, which can be pressed once."""

    help = "Print a one-time log-in link."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--user", help="the user name; not needed when there is one user")
        parser.add_argument("--create", action="store_true", help="make the user if there is none")
        parser.add_argument(
            "--role",
            choices=list(rights.ROLES),
            help="the role to give, in --project or else in every project there is",
        )
        parser.add_argument("--project", help="where to give the role")
        parser.add_argument("--minutes", type=int, default=store.LINK_MINUTES, help="its life")

    def answer(self, **options: Any) -> int | None:
        if options["project"] and not options["role"]:
            raise UsageError("--project says where to give a role, so it needs --role")
        if options["minutes"] < 1:
            raise UsageError("--minutes is at least 1")
        with lookup.one_line_errors():
            user = self._user(options["user"], create=options["create"])
            if options["role"]:
                self._give_role(user, options["role"], options["project"])
            link = store.create_login_link(user.id, actor=COMMAND_LINE, minutes=options["minutes"])
        self.stderr.write(f"Logs {user.username} in, once, within {options['minutes']} minutes:")
        self.stdout.write(f"{settings.BASE_URL.rstrip('/')}{link.path}")
        return None

    def _user(self, username: str | None, *, create: bool) -> UserRow:
        if username is None and not create:
            return self._only_user()
        name = username or _FIRST_USER
        if create and queries.find_user(name) is None:
            return store.create_user(username=name, actor=COMMAND_LINE)
        return lookup.get_user(name)

    def _only_user(self) -> UserRow:
        people = queries.users()
        if len(people) != 1:
            raise CommandError(f"There are {len(people)} users; name one with --user.")
        return people[0]

    def _give_role(self, user: UserRow, role: str, slug: str | None) -> None:
        places: list[ProjectRow] = [lookup.get_project(slug)] if slug else queries.all_projects()
        for project in places:
            store.set_role(project.id, user.id, role=role, actor=COMMAND_LINE)
