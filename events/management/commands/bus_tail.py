"""`manage.py bus_tail`: what goes over a bus, observed and never touched, into the ledger."""

from __future__ import annotations

import gc
import os
import signal
import threading
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings as django_settings
from django.core.management.base import CommandError

from access.management import lookup
from events.integrations import recorded, tail_options, tailing
from events.integrations.lane_lock import LaneTaken
from events.integrations.listener import Say
from events.integrations.redis_link import Refused, Unreachable
from events.integrations.tail import NotStored
from events.integrations.tail_options import BadOptions
from events.integrations.watched import Watched
from kit import commands

UNREACHABLE, SET_ASIDE = 2, 1
LOOK_S = 30.0


class Command(commands.Command):
    help = "Observe a bus on a Redis, without ever publishing, and store what goes over it."
    failure_code = 2

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, help="the project's slug")
        parser.add_argument("--installation", help="the deployed product that the bus is of")
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("--bus", help="activity, watch, or a name of your own")
        what.add_argument("--source", help="a bus of the sources file, with all its settings")
        where = parser.add_mutually_exclusive_group()
        where.add_argument("--redis", help="the Redis's address, without a password")
        where.add_argument("--redis-env", metavar="VAR", help="the variable that holds the address")
        where.add_argument("--upload", metavar="FILE", help="take a recorded bus from a file")
        parser.add_argument("--namespace", help="the namespace of the installation's names")
        parser.add_argument("--profile", help="what is written on the bus, such as generation")
        parser.add_argument("--replica", help="the name of this lane, tail if not given")
        parser.add_argument("--for", type=tail_options.seconds, dest="seconds", help="seconds")
        parser.add_argument("--check", action="store_true", help="print ten messages, store none")
        parser.add_argument(
            "--metrics", action="append", default=[], metavar="URL[=REPLICA]", help="scrape it too"
        )
        parser.add_argument("--metrics-token-env", metavar="VAR", help="the token for --metrics")
        parser.add_argument(
            "--log", action="append", default=[], metavar="FILE[=REPLICA]", help="follow it too"
        )
        parser.add_argument("--set-aside", metavar="FILE", help="a new file for lines of --upload")

    def answer(self, **options: Any) -> int:
        project = lookup.get_project(options["project"])
        try:
            chosen = tail_options.choose(project.id, options, os.environ, self._say)
        except BadOptions as error:
            raise commands.UsageError(str(error)) from error
        if options["upload"]:
            return self._upload(chosen.watched, options)
        try:
            return self._watch(chosen, options)
        except Unreachable as error:
            self.stderr.write(f"The Redis cannot be reached: {error}")
        except Refused as error:
            self.stderr.write(f"The Redis refuses: {error}")
        except (LaneTaken, NotStored) as error:
            raise CommandError(str(error)) from error
        return UNREACHABLE

    def _watch(self, chosen: tail_options.Chosen, options: dict[str, Any]) -> int:
        stop = _told_to_stop()
        folder = Path(django_settings.DATA_DIR)
        seconds = options["seconds"]
        if options["check"]:
            self._look(chosen.watched, folder, stop, seconds or LOOK_S)
            return 0
        # Nothing of a tail makes cycles, and looking for some among a million rows takes time.
        gc.freeze()
        gc.set_threshold(50_000, 20, 1_000)
        totals = tailing.follow(chosen.watched, chosen.beside, folder, self._say, stop, seconds)
        self.stdout.write(totals.sentence())
        return 0

    def _look(self, watched: Watched, folder: Path, stop: threading.Event, seconds: float) -> None:
        shown = 0
        for scope, one in tailing.look(watched, folder, self._say, stop, seconds):
            self.stdout.write(tail_options.line_of(scope, one))
            shown += 1
        self.stdout.write(f"{shown} messages, none of them stored.")

    def _upload(self, watched: Watched, options: dict[str, Any]) -> int:
        try:
            told = recorded.upload(
                watched, Path(options["upload"]), self._say, options["set_aside"]
            )
        except recorded.Unreadable as error:
            raise CommandError(str(error)) from error
        except recorded.Unwritable as error:
            raise commands.UsageError(str(error)) from error
        self.stdout.write(told.sentence())
        return SET_ASIDE if told.set_aside else 0

    @property
    def _say(self) -> Say:
        return lambda sentence: self.stderr.write(sentence)


def _told_to_stop() -> threading.Event:
    stop = threading.Event()
    for one in (signal.SIGTERM, signal.SIGINT):
        signal.signal(one, lambda *_: stop.set())
    return stop
