"""`manage.py evaluate`: the pure domain over a recorded history, without a database."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from kit import commands
from kit.commands import UsageError
from ledger.registry import registry


class Command(commands.Command):
    help = "Judge a recorded history by its own clock, with the functions that the pages use."
    failure_code = 3

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("kind", choices=sorted(registry.evaluations), help="what it is of")
        parser.add_argument("--input", required=True, help="a JSON file, or - for standard input")
        parser.add_argument("--json", action="store_true", help="print JSON, which it does anyway")

    def answer(self, **options: Any) -> int:
        document = _read(options["input"])
        try:
            answer = registry.evaluations[options["kind"]](document)
        except ValueError as error:
            raise UsageError(f"{options['input']}: {error}") from error
        self.stdout.write(json.dumps(answer, indent=2, ensure_ascii=False))
        return 0


def _read(name: str) -> Any:
    try:
        raw = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise UsageError(f"{name}: {error.strerror or error}") from error
    try:
        return json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{name} is not JSON: {error}") from error
