"""`manage.py reconcile`: what became of each object of a list."""

from __future__ import annotations

import csv
import sys
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from django.core.management.base import CommandError

from access.management import lookup
from kit import clock, commands, search
from ledger import reconciling
from ledger.domain.expected import BadExpected
from ledger.queries.reconcile import Reconciliation

NAMED = 20
MOST = 1_000_000


class Command(commands.Command):
    help = "Hold a list of expected objects against what became of each."
    failure_code = 2

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, help="the project's slug")
        parser.add_argument(
            "--expected", required=True, metavar="FILE.csv", help="- is standard input"
        )
        parser.add_argument("--subject", required=True, type=_kind, metavar="TYPE")
        parser.add_argument("--column", default="", help="the column of the ids")
        parser.add_argument("--from", dest="first", type=_moment, metavar="TIME")
        parser.add_argument("--to", dest="last", type=_moment, metavar="TIME")
        parser.add_argument(
            "--unnumbered",
            action="store_true",
            help="judge also where senders do not number what they send",
        )
        form = parser.add_mutually_exclusive_group()
        form.add_argument("--json", action="store_true", help="every object, as one JSON object")
        form.add_argument("--csv", action="store_true", help="every object, as CSV")

    def answer(self, **options: Any) -> int:
        project = lookup.get_project(options["project"])
        asked = reconciling.Asked(
            options["subject"], options["column"], options["first"], options["last"],
            options["unnumbered"],
        )  # fmt: skip
        try:
            with _opened(options["expected"]) as file:
                found = reconciling.begin(project.id, file, asked, most=MOST)
        except BadExpected as error:
            raise commands.UsageError(str(error)) from error
        except (OSError, UnicodeError) as error:
            why = getattr(error, "strerror", None) or "it is no UTF-8 text"
            raise CommandError(f"{options['expected']} cannot be read: {why}") from error
        if options["json"]:
            return self._json(found)
        return self._csv(found) if options["csv"] else self._text(found)

    def _json(self, found: Reconciliation) -> int:
        for part in reconciling.json_parts(found):
            self.stdout.write(part.decode(), ending="")
        self.stdout.write("")
        return int(found.totals()["verdict"]["exit"])

    def _csv(self, found: Reconciliation) -> int:
        writer = csv.writer(self.stdout, lineterminator="\r\n")
        for cells in reconciling.csv_rows(found):
            writer.writerow(cells)
        verdict = found.totals()["verdict"]
        self.stderr.write(verdict["sentence"])
        return int(verdict["exit"])

    def _text(self, found: Reconciliation) -> int:
        named: dict[str, list[str]] = {}
        for item in found.items():
            for state in reconciling.lists_of(item):
                kept = named.setdefault(state, [])
                if len(kept) < NAMED:
                    kept.append(reconciling.line_of(item))
        totals = found.totals()
        for sentence in reconciling.summary(totals):
            self.stdout.write(sentence)
        for state, lines in _in_order(named):
            count = totals["counts"][state]
            more = f", the first {NAMED}" if count > NAMED else ""
            self.stdout.write(f"\n{reconciling.LIST_WORDS[state]}: {count:,}{more}")
            for line in lines:
                self.stdout.write(f"  {line}")
        self.stdout.write(f"\n{totals['verdict']['sentence']}")
        return int(totals["verdict"]["exit"])


def _in_order(named: dict[str, list[str]]) -> Iterator[tuple[str, list[str]]]:
    """Give what needs someone, in the order of need; what is done is a number alone."""
    for state in reconciling.LISTED:
        if named.get(state) and state != "done":
            yield state, named[state]


def _opened(name: str) -> IO[str]:
    if name == "-":
        return open(sys.stdin.fileno(), encoding="utf-8-sig", newline="", closefd=False)
    return Path(name).open(encoding="utf-8-sig", newline="")


def _kind(text: str) -> str:
    if not reconciling.is_kind(text):
        raise ArgumentTypeError(f"{text} is no type of objects: 1 to 32 of a-z, 0-9 and _")
    return text


def _moment(text: str) -> datetime:
    try:
        return search.moment_to_read_at(text, clock.now())
    except ValueError:
        raise ArgumentTypeError(
            f"{text} is no time; write one such as 2026-10-05T09:00:00Z, or a date"
        ) from None
