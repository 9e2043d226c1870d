"""`manage.py derive`: how far the projectors are, catching up, and rebuilding."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from access import queries as access_queries
from kit import commands
from ledger import derive, rebuild, sequence
from ledger.rebuild import Report

EVERYTHING = "*"


class Command(commands.Command):
    help = "Show, catch up or rebuild the read tables."
    failure_code = 2

    def add_arguments(self, parser: ArgumentParser) -> None:
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("--status", action="store_true", help="cursors and lag")
        what.add_argument("--once", action="store_true", help="catch up and leave")
        what.add_argument(
            "--rebuild",
            nargs="?",
            const=EVERYTHING,
            metavar="APP",
            help="build beside the live tables and compare; an app's own, or all",
        )
        parser.add_argument("--apply", action="store_true", help="put the rebuilt tables in place")
        parser.add_argument("--batch", type=int, default=derive.BATCH, help="leaves a batch")

    def answer(self, **options: Any) -> int:
        if options["apply"] and not options["rebuild"]:
            raise commands.UsageError("--apply goes with --rebuild.")
        if options["batch"] < 1:
            raise commands.UsageError("--batch must be at least 1.")
        if options["status"]:
            return self._status()
        if options["once"]:
            return self._once(options["batch"])
        return self._rebuild(options["rebuild"], options["apply"], options["batch"])

    def _status(self) -> int:
        for one in derive.status():
            rules = f"rules {one.rules_version}"
            if one.rules_version != one.wanted_rules_version:
                rules += f", to be rebuilt by rules {one.wanted_rules_version}"
            self.stdout.write(
                f"{one.project}\t{one.projector}\t{one.next_leaf} of {one.log_size}, "
                f"{one.lag} behind\t{rules}"
            )
        return 0

    def _once(self, batch: int) -> int:
        for project in access_queries.all_projects():
            while sequence.sequence(project.id) or derive.derive(project.id, batch):
                pass
        return 0

    def _rebuild(self, app: str, apply: bool, batch: int) -> int:
        try:
            projectors = rebuild.projectors_of(None if app == EVERYTHING else app)
        except LookupError as error:
            raise commands.UsageError(str(error)) from error
        report = rebuild.rebuild(projectors, apply=apply, batch=batch)
        self._print(report)
        if apply:
            self.stdout.write("The rebuilt tables are in place.")
        return 1 if report.differing and not apply else 0

    def _print(self, report: Report) -> None:
        self.stdout.write(f"{report.rows:,} rows compared, {report.differing:,} differ.")
        for one in report.first:
            self.stdout.write(f"{one.table}\n  live     {one.live}\n  rebuilt  {one.rebuilt}")
