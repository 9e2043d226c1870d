"""`manage.py demo`: the seeds' scenarios, run for real against the running server."""

from __future__ import annotations

import os
import urllib.error
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import redis
from django.core.management.base import CommandError

from access import queries as access_queries
from access import store as access_store
from access.domain import rights
from access.rows import COMMAND_LINE, ProjectRow
from config.demo import fire, reentry, roll
from config.first_start import ADMIN, DEMO_PROJECT
from kit import commands

DEFAULT_URL = "http://127.0.0.1:8000"


class Command(commands.Command):
    help = "Run the demo into a project of its own and compare the ledger with what was seen."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", default=DEMO_PROJECT, help="slug of the demo's project")
        parser.add_argument("--url", default=DEFAULT_URL, help="address of the running server")
        parser.add_argument(
            "--scenario", type=int, choices=(1, 3, 4), help="one alone; all if not given"
        )
        parser.add_argument(
            "--oban-dsn-env",
            metavar="VAR",
            default="",
            help="the variable with the address of a PostgreSQL for scenario 3's table",
        )
        parser.add_argument(
            "--redis-env",
            metavar="VAR",
            default="",
            help="the variable with the address of a Redis for scenario 4's bus",
        )
        parser.add_argument(
            "--record", type=Path, metavar="FILE", help="write scenario 4's recording and end"
        )
        parser.add_argument("--seed", type=int, default=0, help="decides what breaks, and when")

    def answer(self, **options: Any) -> int:
        if options["record"]:
            return self._record(options["record"], os.environ.get(options["redis_env"], ""))
        project = _get_or_make_project(options["project"])
        tokens = {}
        for scope in ("read", "ingest"):
            row, text = access_store.create_token(
                project.id, name=f"demo {scope}", scope=scope, actor=COMMAND_LINE
            )
            tokens[scope] = (row.id, text)
        texts = [text for _, text in tokens.values()]
        server = fire.Server(options["url"].rstrip("/"), *texts)
        try:
            report = _run(server, project, options)
        except (urllib.error.URLError, OSError) as error:
            raise CommandError(
                f"No server answers at {options['url']} ({error}). "
                "Start one with `manage.py up`, or name it with --url."
            ) from error
        except redis.RedisError as error:
            raise CommandError(
                f"The Redis of {options['redis_env']} cannot be used: {error}"
            ) from error
        finally:
            for token_id, _ in tokens.values():
                access_store.revoke_token(
                    project.id, token_id, actor=COMMAND_LINE, reason="the demo has ended"
                )
        for holds, line in report.lines:
            self.stdout.write(f"{'ok    ' if holds else 'FAILED'} {line}")
        return 0 if report.holds else 1

    def _record(self, path: Path, address: str) -> int:
        if not address:
            raise commands.UsageError("--record needs --redis-env with the address of a Redis.")
        with redis.Redis.from_url(address) as client:
            count = roll.record(client, path)
        self.stdout.write(f"{count} lines are in {path}")
        return 0


def _run(server: fire.Server, project: ProjectRow, options: dict[str, Any]) -> fire.Report:
    report = fire.Report()
    if options["scenario"] in (None, 1):
        report.lines += fire.run(server, options["seed"]).lines
    if options["scenario"] in (None, 3):
        dsn = os.environ.get(options["oban_dsn_env"], "")
        report.lines += reentry.run(server, project.id, dsn).lines
    if options["scenario"] in (None, 4):
        report.lines += roll.run(server, project, options["redis_env"]).lines
    return report


def _get_or_make_project(slug: str) -> ProjectRow:
    found = access_queries.find_project_by_slug(slug)
    if found is not None:
        return found
    project = access_store.create_project(slug=slug, actor=COMMAND_LINE)
    admin = access_queries.find_user(ADMIN)
    if admin is not None:
        access_store.add_member(project.id, admin.id, role=rights.ADMIN, actor=COMMAND_LINE)
    return project
