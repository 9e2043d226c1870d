"""Measure how long the server takes for each page, and by how many statements, as a log grows.

    python bench/pages.py --database both --receipts 100000 1000000

Each size is a ledger of its own, filled past HTTP; 100,000 receipts take about two minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any

sys.path[0] = str(Path(__file__).resolve().parent.parent)

from bench.table import Table, milliseconds  # noqa: E402
from tests.architecture import ROOT  # noqa: E402
from tests.servers import Postgres  # noqa: E402

DATABASES = ("sqlite", "postgresql")
AIM_S, GROWTH = 0.05, 1.3

Line = dict[str, Any]


def measure(database: str, sizes: list[int], reads: int) -> None:
    """Print a table for each size; those after the first are compared with it."""
    server = Postgres(is_durable=True).start() if database == "postgresql" else None
    with closing(server) if server else nullcontext():
        first: dict[str, Line] = {}
        for size in sizes:
            table = Table(f"{database}, {size:,} receipts")
            for line in _iter_lines(server, size, reads):
                _note(table, line, first.setdefault(line["page"], line))


def _note(table: Table, line: Line, first: Line) -> None:
    p50, p95, busy = (milliseconds(line[name]) for name in ("p50", "p95", "processor"))
    reached = line["p95"] <= AIM_S
    table.note(
        line["page"], f"{line['queries']} statements, p50 {p50}, p95 {p95}", "<= 50 ms", reached
    )
    table.note("  of it processor time", busy)
    if line is not first:
        times = line["p50"] / first["p50"]
        table.note(
            f"  times that of {first['receipts']:,}", f"{times:.2f}", "<= 1.3", times <= GROWTH
        )


def _iter_lines(server: Postgres | None, size: int, reads: int) -> Iterator[Line]:
    """Fill a ledger of one size in a process of its own, and give what it measured."""
    folder, address = Path(tempfile.mkdtemp(prefix="counterfoil-bench-")), ""
    if server is not None:
        server.execute(f"CREATE DATABASE of_{size}")
        address = server.url_of(f"of_{size}")
    command = [sys.executable, "bench/page_times.py", str(size), str(reads)]
    environment = {**os.environ, "DATA_DIR": str(folder), "DATABASE_URL": address}
    try:
        with subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
        ) as process:
            yield from map(json.loads, process.stdout or ())
        assert process.returncode == 0, "the measuring process failed"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--database", choices=[*DATABASES, "both"], default="both")
    parser.add_argument("--receipts", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--reads", type=int, default=200, help="of each kind of page")
    options = parser.parse_args()
    for database in DATABASES if options.database == "both" else [options.database]:
        measure(database, options.receipts, options.reads)


if __name__ == "__main__":
    main()
