"""How long the server takes for the timeline of a bus with very many messages, and its size.

    python bench/timeline.py --messages 1000000
    DATABASE_URL=postgresql://… python bench/timeline.py

The bus is told of by segments that are stored, sequenced and projected as always, into a ledger of
its own: three replicas, four epochs, and ids left out here and there, over five hours.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

sys.path[0] = str(Path(__file__).resolve().parent.parent)
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

if TYPE_CHECKING:
    from events.domain.rows import Row

AIM_S, AIM_KB = 0.4, 60
LANES, EPOCHS, FOUND, SPAN_S = 3, 4, 200, 5 * 3_600
BATCH = 500


def bodies(messages: int) -> Iterator[bytes]:
    """Give the segments of all lanes, in the order of time."""
    from events.domain.told.names import TAIL
    from tests import buses

    each = messages // LANES
    step = SPAN_S / each
    gaps = {round(each * (place + 0.5) / (FOUND / LANES)) for place in range(FOUND // LANES)}
    names = (TAIL, "r2", "r3")
    told = [
        buses.segments(_rows(each, step, gaps), bus="dense", replica=name, profile="watch")
        for name in names
    ]
    while True:
        for lane in told:
            one = next(lane, None)
            if one is None:
                return
            yield json.dumps(one, separators=(",", ":")).encode()


def _rows(count: int, step: float, gaps: set[int]) -> Iterator[Row]:
    from tests import buses

    for place in range(count):
        if place not in gaps:
            epoch = f"{place * EPOCHS // count}-epoch-of-the-bus"
            yield buses.message(place + 1, place * step, epoch)


def fill(messages: int) -> int:
    """Store and project the bus; give the project's id."""
    from django.core.management import call_command

    from config.follower import catch_up
    from kit import clock
    from ledger import ingest
    from ledger.domain.draft import Envelope
    from tests import factories

    call_command("migrate", verbosity=0)
    project = factories.make_project()
    waiting: list[bytes] = []
    for body in bodies(messages):
        waiting.append(body)
        if len(waiting) == BATCH:
            ingest.ingest(waiting, Envelope(project.id, clock.now()))
            waiting = []
    ingest.ingest(waiting, Envelope(project.id, clock.now()))
    catch_up()
    return project.id


def measure(project_id: int, rounds: int) -> None:
    """Print the time and the size of the timeline of all, of an hour, and of three minutes."""
    from bench.table import Table, milliseconds
    from events import documents
    from events.asking import Range
    from events.domain.told.names import bus_id
    from kit import bulk, http

    bus = bus_id("i1", "dense")
    ((count, segments),) = bulk.select_rows(
        "SELECT sum(messages), sum(segments) FROM bus_lane WHERE project_id = %s", [project_id]
    )
    table = Table(f"{count:,} messages in {segments:,} segments, {LANES} lanes, {EPOCHS} epochs")
    for name, asked in (
        ("all of five hours", Range()),
        ("an hour", Range("2026-10-05T10:00:00Z", "2026-10-05T11:00:00Z")),
        ("three minutes", Range("2026-10-05T10:00:00Z", "2026-10-05T10:03:00Z")),
    ):
        times = []
        for _ in range(rounds):
            begin = time.perf_counter()
            found = documents.bus_timeline(project_id, bus, asked)
            times.append(time.perf_counter() - begin)
        body = http.json_bytes(found)
        points = sum(len(band["t"]) for band in found["bands"])
        size = len(gzip.compress(body, 6)) / 1_024
        median = statistics.median(times)
        table.note(
            name,
            f"{milliseconds(median)}, worst {milliseconds(max(times))}, {found['resolution']}",
            "<= 400 ms",
            median <= AIM_S,
        )
        table.note(
            "  its size",
            f"{size:.1f} KiB gzip of {len(body) / 1_024:.0f}, {points:,} points, "
            f"{len(found['findings'])} findings",
            "<= 60 kB",
            size <= AIM_KB,
        )


def main() -> None:
    """Read the command line, fill and measure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    given = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="counterfoil-bench-")
    os.environ.setdefault("DATA_DIR", folder)
    try:
        import django

        django.setup()
        began = time.perf_counter()
        project = fill(given.messages)
        print(f"filled in {time.perf_counter() - began:.0f} s")
        measure(project, given.rounds)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
