"""What a message of a bus costs to project: reading, folding, writing, and disk; on both databases.

    .venv/bin/python bench/buses.py --segments 100 --installations 1
    DATABASE_URL=postgresql://… .venv/bin/python bench/buses.py

Segments have 1,000 messages of 300 bytes in 20 channels, as a tail makes them. Processor time of
this process, since the machine may be busy; a write is also timed by the clock, since it holds the
lock.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
import tempfile
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EACH, CHANNELS, AIM_MS = 1_000, 20, 50
BEGINS = 1_790_000_000_000_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--segments", type=int, default=100)
    parser.add_argument("--installations", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DATA_DIR"] = folder
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
        sys.path.insert(0, str(ROOT))
        import django

        django.setup()
        measure(options.segments, options.installations)


def measure(segments: int, installations: int) -> None:
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    from access import store as access_store
    from access.rows import COMMAND_LINE
    from bench.table import Table
    from kit.db import is_postgresql

    project = access_store.create_project(slug="bench", actor=COMMAND_LINE)
    tell(project.id, segments, installations)
    spent, longest = project_all(project.id)
    count = segments * EACH
    kind = "PostgreSQL" if is_postgresql() else "SQLite"
    table = Table(f"{segments:,} segments, {installations} installations, on {kind}")
    for part in ("read", "fold", "write"):
        table.note(part, f"{1e6 * spent[part] / count:.1f} us a message")
    if is_postgresql():
        table.note("longest write", f"{1e3 * longest:.0f} ms")
        return
    reached = longest <= AIM_MS / 1e3
    table.note("longest write", f"{1e3 * longest:.0f} ms", f"<= {AIM_MS} ms", reached)
    table.note("disk of the messages' rows", f"{disk_of('bus_message') / count:.0f} bytes each")


def tell(project_id: int, segments: int, installations: int) -> None:
    """Store and sequence the segments of all installations by turns."""
    from events.domain.segments import Builder, Lane
    from ledger import ingest, sequence
    from ledger.domain.draft import Envelope

    incarnation = "4d0d1e0a-0000-4000-8000-000000000001"
    builders = [
        Builder(Lane(f"i{one}", "activity", "tail", "generation", incarnation))
        for one in range(installations)
    ]
    for number in range(segments):
        builder = builders[number % installations]
        for place in range(EACH):
            builder.add(row(number // installations * EACH + place))
        made = builder.close()
        assert made is not None
        ingest.ingest([made.raw], Envelope(project_id=project_id, received_at=datetime.now(UTC)))
    while sequence.sequence(project_id):
        pass


def row(number: int) -> object:
    from events.domain.rows import Row

    printed = hashlib.sha256(str(number).encode()).hexdigest()[:16]
    channel, body = f"ws-{number % CHANNELS}", '{"type":"item_updated","title":"' + "y" * 240 + '"}'
    return Row(BEGINS + number * 900, "prefixed", "7", number + 1, channel, printed, 300, body)


def project_all(project_id: int) -> tuple[Counter[str], float]:
    """Project the whole log as the follower does; give processor seconds, and the longest write."""
    from events.projectors.streams import StreamsProjector
    from kit.db import derived_transaction
    from ledger import derive, statements

    projector, spent, longest = StreamsProjector(), Counter[str](), 0.0
    first, size = 0, derive.log_size(project_id)
    while first < size:
        began = time.process_time()
        items = statements.load_range(project_id, first, first + derive.BATCH)
        read = time.process_time()
        write = projector.plan(project_id, items)
        folded, clock = time.process_time(), time.perf_counter()
        with derived_transaction():
            write()
        longest = max(longest, time.perf_counter() - clock)
        spent["read"] += read - began
        spent["fold"] += folded - read
        spent["write"] += time.process_time() - folded
        first = items[-1].leaf + 1
    return spent, longest


def disk_of(table: str) -> int:
    from kit import bulk

    ((size,),) = bulk.select_rows(
        "SELECT sum(pgsize) FROM dbstat WHERE name = %s OR name LIKE %s",
        [table, f"%{table}%"],
    )
    return int(size)


if __name__ == "__main__":
    main()
