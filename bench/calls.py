"""One call with very many generations: how long its pages take, in processor time of the server.

    .venv/bin/python bench/calls.py --generations 1000

It fills an SQLite ledger of its own, a job, its row, its answer and a skip for each generation,
and asks for each page in this process. Processor time, since the machine may be busy.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
START = datetime(2026, 10, 5, 9, tzinfo=UTC)
ROUNDS = 100


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--generations", type=int, default=1_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DATA_DIR"] = folder
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
        sys.path.insert(0, str(ROOT))
        import django

        django.setup()
        measure(options.generations)


def measure(generations: int) -> None:
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    from access import store as access_store
    from access.rows import COMMAND_LINE
    from ledger import derive, ingest, sequence
    from ledger.domain.draft import Envelope

    project = access_store.create_project(slug="bench", actor=COMMAND_LINE)
    raws = [json.dumps(one).encode() for one in history(generations)]
    for start in range(0, len(raws), 1_000):
        envelope = Envelope(project_id=project.id, received_at=datetime.now(UTC))
        ingest.ingest(raws[start : start + 1_000], envelope)
    while sequence.sequence(project.id):
        pass
    before = time.process_time()
    while derive.derive(project.id):
        pass
    spent = time.process_time() - before
    print(f"{len(raws):,} receipts derived in {spent:.1f} s of processor time")
    ask(project, generations)


def history(generations: int) -> list[dict[str, Any]]:
    told = []
    for number in range(1, generations + 1):
        at = START + timedelta(seconds=10 * number)
        invoke = {"scope": "run", "id": "call", "generation": str(number), "element": [1, 0]}
        shared = {"invoke": invoke, "source": {"system": "oban", "instance": "bench"}}
        job = {"id": str(number), "task": "StatifierOban.Invoke.Worker", "queue": "invokes"}
        told += [
            {"kind": "enqueue", "occurred_at": stamp(at), "job": job, **shared},
            {
                "kind": "skip",
                "occurred_at": stamp(at, 1),
                "original": {"job": str(number)},
                "reason": "already_done",
                **shared,
            },
            {
                "kind": "observe",
                "what": "row",
                "occurred_at": stamp(at, 3),
                **shared,
                "source": {"system": "oban", "instance": "bench", "via": "row"},
                "job": {
                    **job,
                    "state": "completed",
                    "attempt": 1,
                    "inserted_at": stamp(at),
                    "attempted_at": stamp(at, 1),
                    "completed_at": stamp(at, 3),
                },
            },
            {"kind": "deliver", "occurred_at": stamp(at, 3), "job": job, **shared},
        ]
    return told


def stamp(at: datetime, seconds: int = 0) -> str:
    return (at + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def ask(project: Any, generations: int) -> None:
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from tests import factories

    user = factories.make_member(project, "auditor")
    client = Client(headers={"host": "127.0.0.1"})
    client.force_login(factories.get_user_model_of(user))
    pages = {
        "invoke": "scopes/run/invokes/call",
        "scope": "scopes/run",
        "job": f"jobs/oban/bench/{generations // 2}",
        "jobs": "jobs",
        "explain of a skip": f"receipts/n{generations * 2 + 1}/explain",
    }
    for name, tail in pages.items():
        times = []
        # The first answer makes the template ready, as it does once in the life of a server.
        client.get(f"/p/bench/{tail}")
        for _ in range(ROUNDS):
            before = time.process_time()
            response = client.get(f"/p/bench/{tail}")
            times.append((time.process_time() - before) * 1000)
            assert response.status_code == 200, (name, response.status_code)
        with CaptureQueriesContext(connection) as queries:
            client.get(f"/p/bench/{tail}")
        times.sort()
        print(
            f"{name}: p50 {statistics.median(times):.0f} ms, p95 {times[int(0.95 * ROUNDS)]:.0f} ms"
            f" of processor time, {len(queries)} queries, {len(response.content):,} bytes"
        )


if __name__ == "__main__":
    main()
