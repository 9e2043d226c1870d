"""Add, remove and list the members of a project."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from access import queries, store
from access.domain import rights
from access.management import lookup
from access.rows import COMMAND_LINE, UserRow
from kit.commands import Command as BaseCommand


class Command(BaseCommand):
    """A member who is added again gets the new role."""

    help = "Add, remove and list the members of a project."

    def add_arguments(self, parser: CommandParser) -> None:
        acts = parser.add_subparsers(dest="act", required=True)
        add = acts.add_parser("add", help="give a person a role")
        add.add_argument("--role", required=True, choices=list(rights.ROLES))
        add.add_argument("--create", action="store_true", help="make the user if there is none")
        remove = acts.add_parser("remove", help="end a membership")
        listing = acts.add_parser("list", help="list the members")
        for act in (add, remove):
            act.add_argument("--user", required=True)
        for act in (add, remove, listing):
            act.add_argument("--project", required=True)

    def answer(self, **options: Any) -> int | None:
        acts = {"add": self._add, "remove": self._remove, "list": self._list}
        with lookup.one_line_errors():
            acts[options["act"]](options)
        return None

    def _add(self, options: dict[str, Any]) -> None:
        project = lookup.get_project(options["project"])
        user = self._user(options["user"], create=options["create"])
        store.set_role(project.id, user.id, role=options["role"], actor=COMMAND_LINE)
        self.stdout.write(f"{user.username} is {options['role']} of {project.slug}.")

    def _remove(self, options: dict[str, Any]) -> None:
        project = lookup.get_project(options["project"])
        user = lookup.get_user(options["user"])
        store.remove_member(project.id, user.id, actor=COMMAND_LINE)
        self.stdout.write(f"{user.username} is no longer a member of {project.slug}.")

    def _list(self, options: dict[str, Any]) -> None:
        project = lookup.get_project(options["project"])
        for member in queries.members(project.id):
            self.stdout.write(f"{member.username}\t{member.role}\t{member.display_name}")

    def _user(self, username: str, *, create: bool) -> UserRow:
        if create and queries.find_user(username) is None:
            return store.create_user(username=username, actor=COMMAND_LINE)
        return lookup.get_user(username)
