"""`manage.py import`: history from before, out of files and into the ledger."""

from __future__ import annotations

import json
import time
from argparse import ArgumentParser, ArgumentTypeError
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from access.domain import names
from access.management import lookup
from kit import clock, commands, search
from ledger.domain.canonical import canonical_text
from ledger.domain.import_maps import BadMap, Map
from ledger.integrations import import_shelf
from ledger.integrations.import_files import Unreadable
from ledger.integrations.import_run import Fault, Import, Job, Progress
from ledger.queries import watched

SHOWN = 20
EVERY_S = 10.0
SET_ASIDE, NOT_READ = 1, 2


class Command(commands.Command):
    help = "Write what files tell of earlier times into the ledger, as reconstructed evidence."
    failure_code = NOT_READ

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, help="the project's slug")
        parser.add_argument(
            "--source", required=True, type=lookup.source, help="whose history: celery/prod-1"
        )
        parser.add_argument(
            "--map",
            required=True,
            help=f"how lines are read: {', '.join(import_shelf.shipped())}, or a file of your own",
        )
        parser.add_argument(
            "--zone", default="", help="the zone of times that name none, such as Europe/Berlin"
        )
        for end in ("from", "to"):
            parser.add_argument(
                f"--covers-{end}",
                type=_moment,
                metavar="TIME",
                help="the time that the files tell of, where it is longer than that of their lines",
            )
        parser.add_argument(
            "--overlap",
            action="store_true",
            help="take also what happened since the source's first live receipt",
        )
        parser.add_argument("--dry-run", action="store_true", help="say what would be written")
        parser.add_argument(
            "--set-aside", metavar="FILE", help="write the lines that cannot be read to a new file"
        )
        parser.add_argument("files", nargs="+", metavar="FILE")

    def answer(self, **options: Any) -> int:
        project = lookup.get_project(options["project"])
        source = names.parse_source(options["source"])
        if not all(source):
            raise commands.UsageError("--source is empty; write one such as celery/prod-1.")
        chosen = self._map(options)
        takes_all = options["overlap"] or chosen.rows or chosen.is_whole
        live_since = None if takes_all else watched.live_since(project.id, source)
        covers = (options["covers_from"], options["covers_to"])
        code = 0
        with ExitStack() as stack:
            self._kept = self._open_kept(stack, options["set_aside"])
            for name in options["files"]:
                job = Job(
                    project.id, source, Path(name), chosen, options["dry_run"], covers, live_since
                )
                code = max(code, self._import(job))
        return code

    def _map(self, options: dict[str, Any]) -> Map:
        try:
            return import_shelf.load_map(options["map"], options["zone"])
        except BadMap as error:
            raise commands.UsageError(f"The map {options['map']}: {error}.") from error

    def _open_kept(self, stack: ExitStack, name: str | None) -> IO[str] | None:
        if name is None:
            return None
        try:
            # Never over a file that is there: it may hold the only copy of what was set aside.
            return stack.enter_context(Path(name).open("x", encoding="utf-8"))
        except OSError as error:
            raise commands.UsageError(f"{name} cannot be written: {error.strerror}.") from error

    def _import(self, job: Job) -> int:
        self._name, self._shown, self._told_at = job.path.name, 0, time.monotonic()
        started = time.monotonic()
        try:
            progress = Import(job, self._tell_fault, self._tell_batch).run()
        except Unreadable as error:
            self.stderr.write(f"{error}. What was read of it before stays; run it again.")
            return NOT_READ
        except BadMap as error:
            raise commands.UsageError(
                f"The map {job.chosen.name} does not fit: {error}."
            ) from error
        self._summarise(job, progress, time.monotonic() - started)
        return SET_ASIDE if progress.set_aside else 0

    def _tell_fault(self, fault: Fault) -> None:
        self._shown += 1
        if self._shown <= SHOWN:
            self.stderr.write(f"{self._name}:{fault.number}: {fault.why}")
        if self._kept is not None:
            told = {
                "file": self._name,
                "line": fault.number,
                "code": fault.why.code,
                "why": str(fault.why),
                "raw": fault.raw.decode("utf-8", "backslashreplace"),
            }
            self._kept.write(json.dumps(told) + "\n")

    def _tell_batch(self, progress: Progress) -> None:
        now = time.monotonic()
        if now - self._told_at >= EVERY_S:
            self._told_at = now
            self.stderr.write(f"{self._name}: {progress.lines:,} lines, {_size(progress.length)}")

    def _summarise(self, job: Job, progress: Progress, took_s: float) -> None:
        would = "would be new" if job.is_dry else "new"
        self.stdout.write(
            f"{self._name}: of {_lines(progress.lines)}, {progress.taken:,} make "
            f"{progress.receipts:,} receipts: {progress.written:,} {would}, "
            f"{progress.on_record:,} on record before. {progress.left_out:,} say nothing of this "
            f"kind, {progress.set_aside:,} were set aside."
        )
        if progress.first_at and progress.last_at:
            first, last = (f"{at:%Y-%m-%d %H:%M:%S} UTC" for at in _span(progress))
            self.stdout.write(f"  They tell of {first} to {last}.")
        rate = progress.lines / max(took_s, 1e-6)
        self.stdout.write(
            f"  {_size(progress.length)} in {took_s:.1f} s, {rate:,.0f} lines a second."
        )
        for sentence in self._further(job, progress):
            self.stdout.write(f"  {sentence}")

    def _further(self, job: Job, progress: Progress) -> list[str]:
        found = []
        if self._shown > SHOWN:
            more = f"Set aside beside those named above: {_lines(self._shown - SHOWN)}"
            found.append(f"{more}; --set-aside FILE keeps all of them.")
        if progress.told_live and job.live_since:
            found.append(
                f"Left to live receipts, of which the first came at "
                f"{job.live_since:%Y-%m-%d %H:%M:%S} UTC: {_lines(progress.told_live)} of the time "
                "since; --overlap takes them too."
            )
        if progress.is_torn and job.chosen.format == "text":
            found.append("The last line has no end yet and is left for the next time.")
        if job.is_dry:
            return found + _sample(job, progress)
        if not progress.receipts:
            return [*found, "Nothing in it is history by this map, so no import is noted."]
        noted = "is in the log now" if progress.import_is_new else "was in the log before"
        return [*found, f"The receipt of this import {noted}."]


def _moment(text: str) -> datetime:
    try:
        return search.moment(text, clock.now())
    except ValueError:
        raise ArgumentTypeError(
            f"{text} is no time; write one such as 2026-10-05T09:00:00Z, or a date"
        ) from None


def _sample(job: Job, progress: Progress) -> list[str]:
    zone = job.chosen.zone_name or "UTC"
    found = [f"Nothing was written. Times that name no zone are taken for {zone}.", "A sample:"]
    return found + [canonical_text(one, without=()).decode() for one in progress.samples]


def _span(progress: Progress) -> list[Any]:
    return [progress.first_at, progress.last_at]


def _lines(count: int) -> str:
    return "1 line" if count == 1 else f"{count:,} lines"


def _size(length: int) -> str:
    return f"{length / 1_000_000:,.1f} MB"
