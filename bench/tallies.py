"""What a tallied outcome costs: deriving, disk, and finding one again, on an SQLite of its own.

    .venv/bin/python bench/tallies.py --tallies 200

Each tally has 1,000 outcomes of 40 tasks, as the client makes them. Processor time of this process,
since the machine may be busy; 3,000 outcomes a second are what a large shop makes.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
OUTCOMES, TASKS, SKIPS, WANTED = 1_000, 40, 500, 3_000
SOURCE = {"system": "celery", "instance": "bench", "via": "signal"}
AT = "2026-10-05T09:00:10Z"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tallies", type=int, default=200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DATA_DIR"] = folder
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
        sys.path.insert(0, str(ROOT))
        import django

        django.setup()
        measure(options.tallies)


def measure(tallies: int) -> None:
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    from access import store as access_store
    from access.rows import COMMAND_LINE
    from bench.table import Table

    project = access_store.create_project(slug="bench", actor=COMMAND_LINE)
    table, count = Table(f"{tallies:,} tallies of {OUTCOMES:,} outcomes"), tallies * OUTCOMES
    bodies = [tally() for _ in range(tallies)]
    tell(project.id, bodies)
    spent = timed(lambda: derive(project.id))
    table.note("derived, everything", f"{count / spent:,.0f} outcomes a second", f">= {WANTED:,}",
               count / spent >= WANTED)  # fmt: skip
    table.note("  each", f"{1e6 * spent / count:.1f} us")
    table.note("disk of the jobs' rows", f"{disk_of('tally_job') / count:.1f} bytes an outcome",
               "<= 30", disk_of("tally_job") / count <= 30)  # fmt: skip
    every = max(1, len(bodies) // SKIPS)
    jobs = [body["data"]["jobs"][7] for body in bodies[::every]]
    tell(project.id, [skip(task, job) for task, job, *_ in jobs])
    spent = timed(lambda: derive(project.id))
    table.note("a skip whose original is in a tally", f"{1e3 * spent / len(jobs):.2f} ms each")


def tally() -> dict[str, Any]:
    rows = [[f"task.{n % TASKS}", str(uuid.uuid4()), "done", n % 500, n] for n in range(OUTCOMES)]
    each = {"queue": "celery", "done": OUTCOMES // TASKS, "retried": 0, "ms": {"p50": 9}}
    counts = [{"task": f"task.{n}", **each} for n in range(TASKS)]
    window = {"from": "2026-10-05T09:00:00Z", "to": AT}
    head = {"kind": "tally", "occurred_at": AT, "source": SOURCE, "window": window}
    return {**head, "counts": counts, "data": {"jobs": rows}}


def skip(task: str, job: str) -> dict[str, Any]:
    head = {"kind": "skip", "occurred_at": AT, "source": SOURCE, "reason": "in_flight"}
    return {**head, "job": {"task": task}, "original": {"job": job}}


def tell(project_id: int, bodies: list[dict[str, Any]]) -> None:
    from ledger import ingest, sequence
    from ledger.domain.draft import Envelope

    for body in bodies:
        envelope = Envelope(project_id=project_id, received_at=datetime.now(UTC))
        ingest.ingest([json.dumps(body).encode()], envelope)
    while sequence.sequence(project_id):
        pass


def derive(project_id: int) -> None:
    from ledger import derive

    while derive.derive(project_id):
        pass


def timed(work: Callable[[], None]) -> float:
    """Return the processor seconds that some work takes."""
    before = time.process_time()
    work()
    return time.process_time() - before


def disk_of(table: str) -> int:
    from kit import bulk

    ((size,),) = bulk.select_rows("SELECT sum(pgsize) FROM dbstat WHERE name = %s", [table])
    return int(size)


if __name__ == "__main__":
    main()
