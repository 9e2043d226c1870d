"""Fill the ledger that the environment names up to a size, then time its pages in this process.

A page is asked for with Django's test client, so its time is the server's own: middleware, queries
and template, without a socket.
"""

from __future__ import annotations

import itertools
import json
import os
import statistics
import sys
import time
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parent.parent)
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

import django  # noqa: E402

django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import close_old_connections, connection  # noqa: E402
from django.test import Client  # noqa: E402
from django.test.utils import CaptureQueriesContext  # noqa: E402

from access import queries as access_queries  # noqa: E402
from access.models import ApiToken, User  # noqa: E402
from access.rows import ProjectRow  # noqa: E402
from bench.workload import BATCH, TASKS, iter_receipts  # noqa: E402
from config.follower import catch_up  # noqa: E402
from kit import bulk, ids  # noqa: E402
from ledger import ingest  # noqa: E402
from ledger.domain.draft import Envelope  # noqa: E402
from ledger.queries import heads  # noqa: E402
from tests import factories  # noqa: E402

PROJECT, READER = "main", "reader"
SPAN = timedelta(days=10)
LOST, UNREADABLE = 100, 1_000
"""Of so many receipts one is a skip whose original never comes, and one cannot be read."""


def main(receipts: int, reads: int) -> None:
    """Fill an empty ledger, and print a line of JSON for each kind of page."""
    call_command("migrate", verbosity=0)
    project = access_queries.find_project_by_slug(PROJECT) or _make_project()
    if not _size(project.id):
        fill(project, receipts)
    client = Client(SERVER_NAME="localhost")
    client.force_login(User.objects.get(username=READER))
    for name, paths in pages(project.id).items():
        found = _measure(client, [f"/p/{PROJECT}/{path}" for path in paths], reads)
        print(json.dumps({"page": name, "receipts": _size(project.id), **found}), flush=True)


def fill(project: ProjectRow, receipts: int) -> None:
    """Store so many receipts, spread over the last days, and follow until the lists show them."""
    listing, _ = factories.make_token(project, name="bench")
    token = ApiToken.objects.get(prefix=listing.prefix).pk
    start = datetime.now(UTC) - SPAN
    step = SPAN / receipts
    bodies = _iter_bodies(start, step)
    for first in range(0, receipts, BATCH):
        count = min(BATCH, receipts - first)
        at = start + step * (first + count)
        ingest.ingest(itertools.islice(bodies, count), Envelope(project.id, at, token_id=token))
    catch_up()


def _iter_bodies(start: datetime, step: timedelta) -> Iterator[bytes]:
    """Give the usual receipts, and among them a few that need someone."""
    usual = iter_receipts(500, start, 2 * step)
    for number in itertools.count(1):
        if number % UNREADABLE == 0:
            yield b'{"kind": %d}' % number
        elif number % LOST == 0:
            lost = {"kind": "skip", "reason": "already_done", "job": {"task": TASKS[0]}}
            original = {"receipt": str(uuid.uuid4())}
            at = (start + step * number).isoformat()
            yield json.dumps({**lost, "original": original, "occurred_at": at}).encode()
        else:
            yield next(usual)


def pages(project_id: int) -> dict[str, list[str]]:
    """Give the addresses of each kind of page; those of single things lie all over the log."""
    size = _size(project_id)
    skips = _spread(project_id, "kind = 'skip' AND key_digest <> ''", size)
    some = _spread(project_id, "state = 'accepted'", size)
    rows = bulk.select_in(
        "SELECT subject FROM entry_subject WHERE project_id = %s AND leaf_index IN ({values})",
        [project_id],
        some,
    )
    return {
        "overview": [""],
        "list": ["receipts"],
        "list of skips": ["receipts?q=kind:skip"],
        "list, not found": ["receipts?q=pointer:dangling"],
        "list of a task": [f"receipts?q=task:{task}" for task in TASKS],
        "list as of": [f"receipts?as_of=n{leaf}" for leaf in some],
        "receipt": [f"receipts/n{leaf}" for leaf in some],
        "explain": [f"receipts/n{leaf}/explain" for leaf in skips],
        "subject": [f"subjects/payout/{ids.segment(name)}" for (name,) in rows],
        "tasks": ["tasks"],
        "task": [f"tasks/{ids.segment(task)}" for task in TASKS],
        "set aside": ["quarantine"],
    }


def _spread(project_id: int, condition: str, size: int, count: int = 100) -> list[int]:
    """Give leaves that meet a condition, at even distances."""
    found = [
        bulk.select_rows(
            f"SELECT leaf_index FROM entry WHERE project_id = %s AND {condition} "  # noqa: S608
            "AND leaf_index >= %s ORDER BY leaf_index LIMIT 1",
            [project_id, size * number // count],
        )
        for number in range(count)
    ]
    return sorted({rows[0][0] for rows in found if rows})


def _measure(client: Client, paths: list[str], reads: int) -> dict[str, float]:
    for path in paths[:5]:
        _read_page(client, path)
    turns = itertools.islice(itertools.cycle(paths), reads)
    taken = [_read_page(client, path) for path in turns]
    times, busy = (sorted(each) for each in zip(*taken, strict=True))
    with CaptureQueriesContext(connection) as captured:
        client.get(paths[0])
    return {
        "queries": len(captured),
        "p50": statistics.median(times),
        "p95": times[int(0.95 * len(times))],
        "processor": statistics.median(busy),
    }


def _read_page(client: Client, path: str) -> tuple[float, float]:
    """Return the seconds that a page took, and those of this process's processor time."""
    # A server opens its connection anew for each request; the test client would keep it.
    close_old_connections()
    start, busy = time.perf_counter(), time.process_time()
    response = client.get(path)
    spent = time.perf_counter() - start, time.process_time() - busy
    assert response.status_code == 200, path
    return spent


def _make_project() -> ProjectRow:
    project = factories.make_project(PROJECT)
    factories.make_member(project, "admin", READER)
    return project


def _size(project_id: int) -> int:
    return heads.reach_of(project_id).derived


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
