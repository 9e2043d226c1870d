"""Measure the first pass over an Oban table, beside COPY of the table and batches in this process.

    python bench/oban.py --database both --rows 100000

The reader's rate and that of `ledger.ingest` alone are taken in turns, a slice of the table each;
read the ratio, not the rates.
"""

from __future__ import annotations

import argparse
import itertools
import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parent.parent)
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
_folder = tempfile.TemporaryDirectory(prefix="counterfoil-bench-oban-")
os.environ["DATA_DIR"] = _folder.name

import django  # noqa: E402

django.setup()

import psycopg  # noqa: E402
from django.core.management import call_command  # noqa: E402

from bench.table import Table  # noqa: E402
from bench.workload import BATCH, iter_receipts  # noqa: E402
from jobs.integrations import oban_loop  # noqa: E402
from jobs.integrations.oban_loop import Session, Target  # noqa: E402
from kit import clock  # noqa: E402
from ledger import ingest  # noqa: E402
from ledger.domain.draft import Envelope  # noqa: E402
from tests import databases, factories, oban  # noqa: E402
from tests.databases import Database  # noqa: E402
from tests.oban import ObanDatabase  # noqa: E402
from tests.servers import Postgres  # noqa: E402

AIM = 0.5
CHANGED = 100
_FILL = """
    INSERT INTO {} (state, queue, worker, args, attempt, inserted_at, scheduled_at, attempted_at,
                    completed_at, attempted_by, tags, meta)
    SELECT (CASE WHEN n %% 50 = 0 THEN 'scheduled' ELSE 'completed' END)::SCHEMA.oban_job_state,
           'mail', 'MyApp.Workers.' || (ARRAY['Mail', 'Invoice', 'Index'])[1 + n %% 3],
           jsonb_build_object('account_id', n %% 5000, 'template', 'reminder', 'trace', md5(n::text)),
           1, at, at, at + interval '1 s', CASE WHEN n %% 50 > 0 THEN at + interval '3 s' END,
           ARRAY['web@10.0.0.1', '0192ad1e-5c1b-7e7e-8f5a-5b8a4f6e2f11'], ARRAY['nightly'], '{{}}'
    FROM generate_series(%s::int, %s::int) AS n,
         LATERAL (SELECT timezone('UTC', now()) - interval '2 h' + n * interval '1 ms' AS at) AS t
"""  # noqa: E501


def fill(table: ObanDatabase, first: int, last: int) -> None:
    """Insert ordinary jobs, most of them completed, some still to come."""
    table.run(_FILL.replace("SCHEMA", f'"{table.schema}"'), first, last)


def time_copy(table: ObanDatabase) -> float:
    """Read the whole table by COPY to this process; gives rows a second."""
    count = table.run("SELECT count(*) FROM {}")[0][0]
    start = time.monotonic()
    with table.connection.cursor() as cursor:
        query = psycopg.sql.SQL("COPY {} TO STDOUT").format(table.name)
        with cursor.copy(query) as copied:
            for _ in copied:
                pass
    return float(count) / (time.monotonic() - start)


def time_batches(project_id: int, receipts: Iterator[bytes], count: int) -> float:
    """Store ordinary receipts in batches of 1,000 in this process; gives receipts a second."""
    batches = [list(itertools.islice(receipts, BATCH)) for _ in range(count // BATCH)]
    start = time.monotonic()
    for batch in batches:
        ingest.ingest(batch, Envelope(project_id, clock.now()))
    return count / (time.monotonic() - start)


def time_round(session: Session) -> tuple[int, float]:
    """Go round once; gives receipts and seconds."""
    start = time.monotonic()
    tally = session.go_round()
    return tally.receipts, time.monotonic() - start


def measure(database: str, source: ObanDatabase, rows: int, slices: int) -> None:
    """Read a table that grows by slices, and print the table of figures."""
    table = Table(f"{database}; {rows:,} rows")
    project = factories.make_project(f"bench-{database}")
    plain = factories.make_project(f"bench-{database}-plain")
    target = Target(project.id, "bench", source.dsn, source.schema, source.table)
    session = oban_loop.connect(target, print)
    receipts = iter_receipts(1)
    size = rows // slices
    ours, bare = [], []
    for number in range(slices):
        fill(source, number * size + 1, (number + 1) * size)
        found, spent = time_round(session)
        assert found == size, f"{found} of {size} rows were read"
        ours.append(found / spent)
        bare.append(time_batches(plain.id, receipts, max(BATCH, size // BATCH * BATCH)))
    ratios = [one / other for one, other in zip(ours, bare, strict=True)]
    ratio = statistics.median(ratios)
    table.note("first pass over the table", f"{statistics.median(ours):,.0f} a second")
    table.note("  batches of 1,000 in this process", f"{statistics.median(bare):,.0f} a second")
    spread = f"{ratio:.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
    table.note("  ratio: median (least to greatest)", spread, f">= {AIM:.2f}", ratio >= AIM)
    table.note("  COPY of the table to this process", f"{time_copy(source):,.0f} a second")
    measure_rounds(table, session, source)
    session.close()
    source.run("TRUNCATE {}")


def measure_rounds(table: Table, session: Session, source: ObanDatabase) -> None:
    """Time the rounds after the first pass, and print the memory at its highest."""
    found, spent = time_round(session)
    table.note("a round in which nothing changed", f"{spent * 1000:,.0f} ms")
    assert not found
    source.run(
        "UPDATE {} SET state = 'executing', attempt = 2 WHERE id IN"
        " (SELECT id FROM {} WHERE state = 'scheduled' LIMIT %s)".replace("FROM {}", _from(source)),
        CHANGED,
    )
    found, spent = time_round(session)
    table.note(f"a round in which {found} rows changed", f"{spent * 1000:,.0f} ms")
    session.reader.place.round_at = session.reader.place.round_at.replace(year=2020)
    found, spent = time_round(session)
    table.note("the whole table compared", f"{spent:,.1f} s")
    highest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    table.note("resident memory at its highest", f"{highest:,.0f} MB")


def _from(source: ObanDatabase) -> str:
    return f'FROM "{source.schema}"."{source.table}"'


@contextmanager
def ledger(database: str, server: Postgres) -> Iterator[None]:
    """Make an empty ledger the default database."""
    folder = Path(_folder.name) / database
    folder.mkdir()
    if database == "postgresql":
        server.execute("CREATE DATABASE ledger")
    url = server.url_of("ledger") if database == "postgresql" else ""
    with databases.use(Database(folder, url)):
        call_command("migrate", verbosity=0)
        yield


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--database", choices=["sqlite", "postgresql", "both"], default="both")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--slices", type=int, default=5, help="turns that the rows are read in")
    options = parser.parse_args()
    both = options.database == "both"
    with closing(Postgres(is_durable=True)) as server, _folder:
        server.start()
        with oban.made(server) as source:
            for database in ["sqlite", "postgresql"] if both else [options.database]:
                with ledger(database, server):
                    measure(database, source, options.rows, options.slices)


if __name__ == "__main__":
    main()
