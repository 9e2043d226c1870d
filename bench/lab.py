"""How long the key lab takes to try a recipe on a million stored attempts.

The attempts are written into the read tables as the projector keeps them, since to send a million
receipts first would take an hour and measure something else. What is timed is the whole answer,
from the query to the document with its reasons.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.table import Table
from tests.servers import Postgres

SOURCE = "oban/bench"
WORKER = "StatifierOban.Invoke.Worker"
NAMES = ("invoke_id", "macrostep", "scope", "element", "handler", "type")
AIM_S = 5.0


def main() -> None:
    """Fill a database of each kind and try recipes on it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--attempts", type=int, default=1_000_000)
    parser.add_argument("--database", choices=["sqlite", "postgresql", "both"], default="both")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    kinds = ["sqlite", "postgresql"] if given.database == "both" else [given.database]
    for kind in kinds:
        # A process each, since settings are read once.
        child = os.fork()
        if child == 0:
            _measure(kind, given.attempts, given.rounds)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        assert status == 0


def _measure(kind: str, attempts: int, rounds: int) -> None:
    folder = Path(tempfile.mkdtemp(prefix="counterfoil-lab-"))
    postgres = Postgres(is_durable=True).start() if kind == "postgresql" else None
    try:
        if postgres is not None:
            postgres.execute("CREATE DATABASE ledger")
        os.environ["DATABASE_URL"] = postgres.url_of("ledger") if postgres else ""
        os.environ["DATA_DIR"] = str(folder)
        os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
        import django

        django.setup()
        _run(kind, attempts, rounds)
    finally:
        if postgres is not None:
            postgres.close()
        shutil.rmtree(folder, ignore_errors=True)


def _run(kind: str, attempts: int, rounds: int) -> None:
    from django.core.management import call_command

    from access import store
    from access.rows import COMMAND_LINE

    call_command("migrate", verbosity=0)
    project = store.create_project(slug="bench", actor=COMMAND_LINE)
    _fill(project.id, attempts)
    table = Table(f"{attempts:,} attempts on {kind}")
    for name, recipes in _recipes():
        wall, spent = [], []
        for _ in range(rounds):
            start, begun = time.perf_counter(), time.process_time()
            found = _answer(project.id, recipes)
            wall.append(time.perf_counter() - start)
            spent.append(time.process_time() - begun)
        figure = f"{min(wall):.2f} to {max(wall):.2f} s"
        table.note(name, figure, f"<= {AIM_S:g} s", max(wall) <= AIM_S)
        table.note("  of this, in our process", f"{min(spent):.2f} to {max(spent):.2f} s")
        flips = [one["flips_count"] for one in found]
        table.note("  flips", str([(one["to_run"], one["to_skip"]) for one in flips]))
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    table.note("resident memory at its highest", f"{most:,.0f} MB")


def _recipes() -> list[tuple[str, list[Any]]]:
    from jobs.domain.recipes import RUN_AGAIN, Recipe

    two, three = ("scope", "invoke_id"), ("scope", "invoke_id", "macrostep")
    return [
        ("the two-part key", [Recipe(two)]),
        ("the recorded key", [Recipe()]),
        ("a window of an hour, failed work again", [Recipe(three, 3600.0, None, RUN_AGAIN)]),
        ("two recipes side by side", [Recipe(two), Recipe(three)]),
    ]


def _answer(project_id: int, recipes: list[Any]) -> list[dict[str, Any]]:
    from jobs.queries import lab
    from kit import clock
    from ledger.queries.as_of import AsOf
    from ledger.queries.lists import parse_query

    cut = AsOf(-1, clock.now(), is_now=True)
    return lab.simulate(project_id, recipes, parse_query(""), cut, 50)


def _fill(project_id: int, attempts: int) -> None:
    from django.db import connection, transaction

    from jobs.domain.fields import Shape
    from jobs.projectors import attempts as projector
    from kit import bulk

    shape = Shape(SOURCE, WORKER, "q", "statifier.invoke", "2", NAMES, 3)
    row = (project_id, 0, shape.digest, shape.source, shape.task, shape.queue, shape.recipe,
           shape.version, projector.json.dumps(shape.names), shape.own, None, "")  # fmt: skip
    bulk.insert_rows("attempt_shape", projector._SHAPES, [row])
    rows: list[tuple[Any, ...]] = []
    for one in _iter_rows(project_id, attempts):
        rows.append(one)
        if len(rows) == 10_000:
            with transaction.atomic():
                bulk.insert_rows("attempt", projector._COLUMNS, rows)
            rows = []
    bulk.insert_rows("attempt", projector._COLUMNS, rows)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE" if connection.vendor == "postgresql" else "ANALYZE")


def _iter_rows(project_id: int, attempts: int) -> Iterator[tuple[Any, ...]]:
    """Tell of calls with three generations each, every one asked for twice."""
    draw = random.Random(1)
    begins = 1_790_000_000_000_000
    for leaf in range(attempts):
        scope, macrostep = leaf // 6, leaf % 6 // 2 * 3 + 1
        ran = leaf % 2 == 0
        values = ['"resolve"', str(macrostep), f'"exec_{scope:06d}"', "[3,0]",
                  '"Elixir.Acme.ResolveHandler"', '"acme:resolve"']  # fmt: skip
        at = begins + leaf * 250_000
        run = f"{draw.getrandbits(128):032x}" if ran else ""
        state = draw.choice("ccccfx") if ran else ""
        yield (project_id, leaf, run, "", "r" if ran else "s", 3 if ran else 0, at, 0,
               "\x1f".join(values), state, at + 900_000, at, None, None, None)  # fmt: skip


if __name__ == "__main__":
    main()
