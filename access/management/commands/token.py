"""Make, list and revoke API tokens."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from access import queries, store
from access.domain import rights
from access.management import lookup
from access.rows import COMMAND_LINE, ProjectRow
from kit import clock
from kit.commands import Command as BaseCommand


class Command(BaseCommand):
    """`token create` prints the token once, alone on standard output."""

    help = "Make, list and revoke API tokens."

    def add_arguments(self, parser: CommandParser) -> None:
        acts = parser.add_subparsers(dest="act", required=True)
        create = acts.add_parser("create", help="make a token and print it once")
        create.add_argument("--project", required=True, help="the project's slug")
        create.add_argument("--scope", required=True, choices=list(rights.SCOPES))
        create.add_argument("--name", required=True, help="what the token is for")
        create.add_argument("--expires", type=lookup.duration, help="its life, such as 90d")
        create.add_argument(
            "--source",
            type=lookup.source,
            default="",
            help="system/instance of receipts that name none, such as oban/prod-1",
        )
        create.add_argument(
            "--create-project", action="store_true", help="make the project if there is none"
        )
        listing = acts.add_parser("list", help="list a project's tokens")
        listing.add_argument("--project", required=True)
        revoke = acts.add_parser("revoke", help="end a token for good")
        revoke.add_argument("--project", required=True)
        revoke.add_argument("--prefix", required=True, help="as `token list` shows it")
        revoke.add_argument("--reason", default="")

    def answer(self, **options: Any) -> int | None:
        acts = {"create": self._create, "list": self._list, "revoke": self._revoke}
        with lookup.one_line_errors():
            return acts[options["act"]](options)

    def _create(self, options: dict[str, Any]) -> int | None:
        life = options["expires"]
        listing, text = store.create_token(
            self._project(options).id,
            name=options["name"],
            scope=options["scope"],
            source=options["source"],
            expires_at=clock.now() + life if life else None,
            actor=COMMAND_LINE,
        )
        self.stderr.write(f"Token {listing.prefix} of scope {listing.scope}; shown this once:")
        self.stdout.write(text)
        return None

    def _list(self, options: dict[str, Any]) -> int | None:
        project = lookup.get_project(options["project"])
        for token in queries.api_tokens(project.id, clock.now()):
            used = token.last_used_at.isoformat() if token.last_used_at else "never used"
            source = token.source or "-"
            line = [token.prefix, token.scope, token.state, source, used, token.name]
            self.stdout.write("\t".join(line))
        return None

    def _revoke(self, options: dict[str, Any]) -> int | None:
        project = lookup.get_project(options["project"])
        token = queries.get_token_by_prefix(project.id, options["prefix"])
        revoked = store.revoke_token(
            project.id, token.id, actor=COMMAND_LINE, reason=options["reason"]
        )
        said = "is revoked" if revoked else "was revoked before"
        self.stdout.write(f"Token {token.prefix} {said}.")
        return None

    def _project(self, options: dict[str, Any]) -> ProjectRow:
        slug = options["project"]
        if options["create_project"] and queries.find_project_by_slug(slug) is None:
            return store.create_project(slug=slug, actor=COMMAND_LINE)
        return lookup.get_project(slug)
