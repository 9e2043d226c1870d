"""A shop that goes on: single receipts and tallied outcomes from many spools, to the page.

    python bench/sustained.py --database sqlite --seconds 600

Forty processes of the client write at an even pace into one spool directory, one `counterfoil
forward` sends for all of them, and the embedded server keeps, sequences and derives. At the end
everything must be there, counted by the API, and the last of it must not be late.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parent.parent)
sys.path.insert(1, str(Path(__file__).resolve().parent.parent / "client" / "src"))

import counterfoil  # noqa: E402

from bench.houses import House, build  # noqa: E402
from bench.readers import Reader  # noqa: E402
from bench.table import Table  # noqa: E402

AIM_S = 5.0
TICK_S = 0.1
LOOK_S = 1.0
PATIENCE_S = 900.0
DAY_S = 86_400
TASKS = 400


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--database", choices=["sqlite", "postgresql"], default="sqlite")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--spools", type=int, default=40)
    parser.add_argument("--receipts", type=float, default=300, help="a second, of all spools")
    parser.add_argument("--outcomes", type=float, default=3_000, help="a second, of all spools")
    parser.add_argument("--produce", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.produce is not None:
        return produce(options)
    with build(options.database) as house, closing(house.embedded.start()):
        measure(house, options)


def produce(options: argparse.Namespace) -> None:
    """Write as one spool, and say at the end how much."""
    settings = counterfoil.from_env(spool=options.produce, send=False, source="celery/shop")
    client = counterfoil.Client(settings)
    begun, told, done = time.monotonic(), 0, 0
    while (spent := time.monotonic() - begun) < options.seconds:
        while done < spent * options.outcomes:
            done += 1
            client.outcome(f"shop.task_{done % TASKS}", "default", f"{os.getpid()}-{done}", ms=12.5)
        while told < spent * options.receipts:
            told += 1
            write_one(client, told)
        time.sleep(TICK_S)
    client.close()
    print(json.dumps({"receipts": told, "outcomes": done, "ended": time.time()}))


def write_one(client: counterfoil.Client, number: int) -> None:
    """Write a done, or now and then a skip that names the one before."""
    order = f"{os.getpid()}-{number}"
    if number % 10:
        client.receipt("done", task="payout.send", job=f"p{order}", subjects=[f"payout:{order}"])
    else:
        before = f"p{os.getpid()}-{number - 1}"
        client.skip(task="payout.send", reason="already_done", original={"job": before})


def measure(house: House, options: argparse.Namespace) -> None:
    """Run the shop and hold what arrived against what was written."""
    table = Table(f"{options.database}, {options.seconds:,.0f} s, {options.spools} spools")
    reader = Reader(house.embedded.port, house.token(scope="read"))
    size = stored_bytes(house)
    with tempfile.TemporaryDirectory() as folder, forwarder(house, Path(folder)):
        children = [start_one(Path(folder), options) for _ in range(options.spools)]
        backlog = watch(children, Path(folder))
        written = [json.loads(child.communicate()[0]) for child in children]
        # By their own clocks: whoever watches them notices their end some seconds later.
        ended = max(one["ended"] for one in written)
        wanted = {name: sum(one[name] for one in written) for name in ("receipts", "outcomes")}
        seen = wait_for(reader, wanted)
        late_s = time.time() - ended
    for name, count in wanted.items():
        missing = count - seen[name]
        table.note(f"{name} written", f"{count:,}, {count / options.seconds:,.0f} a second")
        table.note("  missing", f"{missing:,}", "0", missing == 0)
    table.note("in the spools, most at once", f"{backlog / 1e6:,.1f} MB")
    table.note("from the last one written to all visible", f"{late_s:,.1f} s", "<= 5 s",
               late_s <= AIM_S)  # fmt: skip
    grown = stored_bytes(house) - size
    table.note("disk", f"{grown * DAY_S / options.seconds / 1e9:,.1f} GB a day")
    now, highest = house.embedded.memory()
    table.note("resident memory, embedded: now, highest", f"{now:,.0f}, {highest:,.0f} MB")
    table.note("what the list says of its feed", json.dumps(reader.get("/api/v1/receipts")["feed"]))


@contextmanager
def forwarder(house: House, folder: Path) -> Iterator[None]:
    """Run `counterfoil forward` as a service would."""
    environment = {
        **os.environ,
        "COUNTERFOIL_URL": house.embedded.url,
        "COUNTERFOIL_TOKEN": house.token(),
        "PYTHONPATH": sys.path[1],
    }
    command = [sys.executable, "-m", "counterfoil", "forward", "--spool", str(folder)]
    process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def start_one(folder: Path, options: argparse.Namespace) -> subprocess.Popen[bytes]:
    """Start one producer, with its share of the pace."""
    return subprocess.Popen(
        [
            sys.executable, __file__, "--produce", str(folder),
            "--seconds", str(options.seconds),
            "--receipts", str(options.receipts / options.spools),
            "--outcomes", str(options.outcomes / options.spools),
        ],
        stdout=subprocess.PIPE,
    )  # fmt: skip


def watch(children: list[subprocess.Popen[bytes]], folder: Path) -> int:
    """Wait for the producers, and give the most bytes that their spools held."""
    most = 0
    while any(child.poll() is None for child in children):
        most = max(most, sum(one.stat().st_size for one in folder.iterdir() if one.is_file()))
        time.sleep(LOOK_S)
    return most


def wait_for(reader: Reader, wanted: dict[str, int]) -> dict[str, int]:
    """Ask until everything is there, or nothing has come for a minute."""
    seen, changed = count(reader), time.monotonic()
    while seen != wanted and time.monotonic() - changed < 60:
        time.sleep(0.2)
        now = count(reader)
        changed = changed if now == seen else time.monotonic()
        seen = now
    return seen


def count(reader: Reader) -> dict[str, int]:
    """Count single receipts and tallied outcomes as the API tells them."""
    rows = reader.get("/api/v1/receipts/counts?by=kind")["items"]
    return {
        "receipts": sum(row["count"] for row in rows if row["kind"] in ("done", "skip")),
        "outcomes": sum(row["tallied"] for row in rows),
    }


def stored_bytes(house: House) -> int:
    """Give what the ledger takes on disk, its write-ahead log and spare room too."""
    if house.embedded.environment["DATABASE_URL"]:
        with closing(house.ledger.connect()) as connection:
            row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
            return int(row[0])
    return sum(one.stat().st_size for one in house.embedded.data_dir.rglob("*") if one.is_file())


if __name__ == "__main__":
    main()
