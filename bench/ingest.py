"""Measure the way of a receipt, from the post to the page, beside the bare database.

    python bench/ingest.py --database both --seconds 10

Whatever is compared is measured in turns with what it is compared to, so that a machine that is
busy with other things slows both; read the ratios, not the rates.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import sys
import time
from contextlib import closing
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parent.parent)

from bench import houses, posting  # noqa: E402
from bench.bare import Rows  # noqa: E402
from bench.houses import Embedded, House, Web  # noqa: E402
from bench.posting import Line  # noqa: E402
from bench.readers import Browser, Reader, Watch  # noqa: E402
from bench.table import Table, milliseconds  # noqa: E402
from bench.workload import BATCH, iter_batches, iter_receipts  # noqa: E402

DATABASES = ("sqlite", "postgresql")
ROUNDS = 3
POSTS_A_SECOND = 300
PACED_LINES = 6
PATIENCE_S = 600
FIRST = "00000000-0000-0000-0000-000000000000"


class Measurement:
    """One database measured: the house, its table, and how far it was read back."""

    def __init__(self, house: House, table: Table, seconds: float) -> None:
        self.house, self.table, self.seconds = house, table, seconds
        self.token = house.token()
        self.last: object = FIRST
        self.bare_rate = self.derive_rate = 0.0

    def take_back(self) -> list[Rows]:
        """Read what was stored since the last time."""
        rows = self.house.ledger.read_after(self.last)
        self.last = rows[-1]["pending"][0] if rows else self.last
        return rows

    def measure_batches(self, web: Web) -> None:
        """Post batches and copy the same receipts, in turns."""
        posting.post_batches(web.port, self.token, [next(iter_batches(ROUNDS))], self.seconds)
        self.take_back()
        ours, bare, busy = [], [], []
        for number in range(ROUNDS):
            bodies = list(itertools.islice(iter_batches(number), int(self.seconds * 20) + 1))
            before = web.processor_s()
            run = posting.post_batches(web.port, self.token, bodies, self.seconds)
            assert not run.failed, "a batch was refused"
            busy.append((web.processor_s() - before) / (len(run.answers) * BATCH))
            ours.append(run.rate * BATCH)
            bare.append(self.house.bare.write_batches(self.take_back()).rate)
        self.bare_rate = statistics.median(bare)
        self.table.compare("batches of 1,000 over HTTP", ours, bare, 0.25)
        processor = f"{statistics.median(busy) * 1e6:,.0f} µs"
        self.table.note("  processor of the web process, a receipt", processor)

    def measure_singles(self, port: int) -> None:
        """Post one by one from 12 clients, and write the same receipts one a commit, in turns."""
        ours, bare, runs = [], [], []
        for number in range(ROUNDS):
            run = posting.post_singly(port, self.token, self.seconds, seed=100 + number)
            runs.append(run)
            ours.append(run.rate)
            bare.append(self.house.bare.write_singly(self.take_back(), self.seconds).rate)
        self.table.compare("single posts, 12 clients", ours, bare, 0.35)
        p50, p99 = (statistics.median(run.quantile(at) for run in runs) for at in (0.5, 0.99))
        self.table.note("  p50", milliseconds(p50))
        self.table.note("  p99", milliseconds(p99), "<= 25 ms", p99 <= 0.025)
        failed = sum(run.failed for run in runs)
        self.table.note("  failed", str(failed), "0", not failed)
        busy = sum(run.client_cpu for run in runs) / sum(run.seconds for run in runs)
        self.table.note("  cores that the clients took", f"{busy:.2f}")

    def measure_deriving(self) -> None:
        """Sequence and derive the backlog with nothing else going on."""
        count, spent = self.house.catch_up(self.seconds * ROUNDS)
        self.derive_rate = count / spent
        ratio = self.derive_rate / self.bare_rate
        self.table.note("sequence and derive, ingest idle", f"{self.derive_rate:,.0f} a second")
        self.table.note("  of the bare rate of batches", f"{ratio:.2f}", ">= 0.10", ratio >= 0.10)
        self.house.catch_up(PATIENCE_S)

    def measure_half(self, server: Embedded) -> None:
        """Post batches at half the rate of deriving and look whether the backlog grows."""
        line = Line(server.port, self.token, posting.NDJSON)
        backlogs: list[int] = []
        run = posting.post_paced(
            [line],
            iter_batches(200),
            a_second=self.derive_rate / 2 / BATCH,
            seconds=self.seconds * ROUNDS,
            posted=lambda _: backlogs.append(self._backlog()),
        )
        line.close()
        third = max(1, len(backlogs) // 3)
        early, late = (max(part, default=0) for part in (backlogs[third:-third], backlogs[-third:]))
        self.table.note("batches at half that rate, embedded", f"{run.rate * BATCH:,.0f} a second")
        grows = late > early + BATCH
        self.table.note("  backlog in the middle, at the end", f"{early:,}, {late:,}",
                        "no growth", not grows)  # fmt: skip

    def measure_visible(self, server: Embedded) -> None:
        """Post 300 a second and watch the list until each is on it."""
        project = "visible"
        watch = Watch(Reader(server.port, self.house.token(project, "read")))
        token = self.house.token(project)
        acknowledged: dict[str, float] = {}
        run = posting.post_paced(
            [Line(server.port, token) for _ in range(PACED_LINES)],
            iter_receipts(300),
            POSTS_A_SECOND,
            self.seconds * 2,
            posted=lambda body: acknowledged.update({json.loads(body)["id"]: time.monotonic()}),
        )
        watch.wait_for(len(run.answers) - 1, PATIENCE_S)
        leaves = self.house.ledger.leaves_by_id()
        delays = sorted(watch.shown_at(leaves[one]) - at for one, at in acknowledged.items())
        p99 = delays[int(0.99 * len(delays))]
        self.table.note(f"single posts, paced at {POSTS_A_SECOND}", f"{run.rate:,.0f} a second")
        self.table.note("  acknowledged to visible, p50", milliseconds(statistics.median(delays)))
        self.table.note("  acknowledged to visible, p99", milliseconds(p99), "<= 1 s", p99 <= 1)

    def measure_pages(self, server: Embedded, receipts: int, reads: int) -> None:
        """Read pages of a ledger of so many receipts, one reader, nothing else going on."""
        self._fill(server, receipts)
        browser = Browser(server.url, server.login_link)
        reader = Reader(server.port, self.house.token(scope="read"))
        skips = reader.get("/api/v1/receipts?q=kind:skip&limit=100")["items"]
        size = self.house.ledger.count("entry")
        self.table.note("receipts in the lists", f"{size:,}")
        pages = {"list": ["receipts"], "list of skips": ["receipts?q=kind:skip"],
                 "explain": [f"receipts/{one['ref']}/explain" for one in skips]}  # fmt: skip
        for name, paths in pages.items():
            turns = itertools.islice(itertools.cycle(paths), reads)
            times = sorted(browser.time_page(f"/p/{houses.PROJECT}/{path}") for path in turns)
            p95 = times[int(0.95 * len(times))]
            self.table.note(f"  {name} page over HTTP, p50", milliseconds(statistics.median(times)))
            self.table.note(f"  {name} page over HTTP, p95", milliseconds(p95), "<= 50 ms",
                            p95 <= 0.05)  # fmt: skip

    def _fill(self, server: Embedded, receipts: int) -> None:
        missing = receipts - self.house.ledger.count("receipt")
        batches = itertools.islice(iter_batches(400), max(0, -(-missing // BATCH)))
        posting.post_batches(server.port, self.token, batches, PATIENCE_S)
        end = time.monotonic() + PATIENCE_S
        while self._backlog() and time.monotonic() < end:
            time.sleep(0.2)

    def _backlog(self) -> int:
        return self.house.ledger.count("receipt") - self.house.ledger.count("entry")


def measure(database: str, seconds: float, receipts: int, reads: int) -> None:
    """Measure one database and print its table."""
    table = Table(database)
    with houses.build(database) as house:
        one = Measurement(house, table, seconds)
        with closing(house.web.start()) as web:
            one.measure_batches(web)
            one.measure_deriving()
            one.measure_singles(web.port)
        house.catch_up(PATIENCE_S)
        start = time.monotonic()
        with closing(house.embedded.start()) as server:
            table.note("start to /readyz, on a filled ledger", f"{time.monotonic() - start:.1f} s")
            one.measure_half(server)
            one.measure_visible(server)
            one.measure_pages(server, receipts, reads)
            now, highest = server.memory()
            table.note("resident memory, embedded: now, highest", f"{now:.0f}, {highest:.0f} MB",
                       "<= 250 MB", highest <= 250)  # fmt: skip
    Table(f"{database} done")


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--database", choices=[*DATABASES, "both"], default="both")
    parser.add_argument("--seconds", type=float, default=10, help="of each round of a load")
    parser.add_argument("--receipts", type=int, default=100_000, help="in the lists that are read")
    parser.add_argument("--reads", type=int, default=200, help="of each kind of page")
    options = parser.parse_args()
    for database in DATABASES if options.database == "both" else [options.database]:
        measure(database, options.seconds, options.receipts, options.reads)


if __name__ == "__main__":
    main()
