"""`manage.py follow`: sequence and derive, for as long as it runs."""

from __future__ import annotations

import signal
from argparse import ArgumentParser
from typing import Any

from config.follower import Follower, catch_up
from kit import commands


class Command(commands.Command):
    help = "Give receipts their leaves and bring the lists up to date, until SIGTERM."
    failure_code = 2

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--once", action="store_true", help="catch up and leave")

    def answer(self, **options: Any) -> int:
        if options["once"]:
            catch_up()
            return 0
        follower = Follower()
        for one in (signal.SIGTERM, signal.SIGINT):
            signal.signal(one, lambda *_: follower.stop())
        follower.run()
        return 0
