"""A load goes on while the server is away, with a spool that is too small for it.

    python bench/outage.py [--seconds 600] [--spool-max 20MiB] [--workers 8]

Workers tally 3,000 outcomes a second and write 300 receipts a second, a tenth of them skips, which
are durable. First for a tenth of the time with the server up, then for the whole of it with the
server down. Prints what a call cost in both, whether the rate was kept, how large the spool became,
and, when the server is back, what came and what was counted as lost. Ends with 1 when a durable
receipt is missing or a loss was not counted.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "client" / "src"))

import counterfoil
from counterfoil import room
from table import Table

import client as bench

LEVELS = {"t": "outcomes", "w": "written receipts", "d": "durable receipts"}


def work(seconds: float, outcomes: float, receipts: float) -> None:
    """Be one worker: pace both kinds, and print what was done and the time of each call in us."""
    client = counterfoil.get_client()
    done = {"outcomes": 0, "enqueue": 0, "skip": 0}
    times: dict[str, list[float]] = {"outcome": [], "receipt": []}
    begun = time.perf_counter()
    while (passed := time.perf_counter() - begun) < seconds:
        while done["outcomes"] < passed * outcomes:
            done["outcomes"] += 1
            times["outcome"].append(_timed(lambda: bench._outcome(client)))
        while done["enqueue"] + done["skip"] < passed * receipts:
            kind = "enqueue" if (done["enqueue"] + done["skip"]) % 10 else "skip"
            done[kind] += 1
            if kind == "skip":
                bench._skip(client)
            else:
                call = _timed(lambda: client.receipt("enqueue", **bench.LINE_FIELDS))
                times["receipt"].append(call)
        time.sleep(0.005)
    client.close()
    # Few enough for the pipe, which nobody reads before the end.
    few = {kind: sorted(found)[:: max(1, len(found) // 1000)] for kind, found in times.items()}
    print(json.dumps({"done": done, "times": few}))


def load(spool: Path, url: str, given: argparse.Namespace, seconds: float) -> dict[str, object]:
    """Run the workers and give what all of them did."""
    env = {
        **os.environ,
        "COUNTERFOIL_URL": url,
        "COUNTERFOIL_SPOOL": str(spool),
        "COUNTERFOIL_SPOOL_MAX": given.spool_max,
        "COUNTERFOIL_TOKEN": "bench",
    }
    command = [sys.executable, __file__, "--work", "--seconds", str(seconds)]
    command += ["--workers", str(given.workers)]
    workers = [
        subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        for _ in range(given.workers)
    ]
    largest = 0
    while any(worker.poll() is None for worker in workers):
        if spool.is_dir():
            largest = max(largest, room.used_bytes(spool))
        time.sleep(0.5)
    found = [json.loads(worker.communicate()[0]) for worker in workers]
    done = {kind: sum(one["done"][kind] for one in found) for kind in found[0]["done"]}
    times = {kind: [t for one in found for t in one["times"][kind]] for kind in found[0]["times"]}
    return {"done": done, "times": times, "largest": largest}


def show_load(table: Table, name: str, found: dict[str, object], seconds: float) -> None:
    """Print what a load did."""
    for kind, number in found["done"].items():
        table.note(f"{kind}, {name}", f"{number / seconds:,.0f} a second")
    for kind, times in found["times"].items():
        cuts = statistics.quantiles(times, n=100)
        table.note(f"{kind}, {name}, p50 and p99", f"{cuts[49]:.1f} us, {cuts[98]:.1f} us")


def compare(table: Table, done: dict[str, int], seen: dict[str, int]) -> bool:
    """Print what came and what was lost; True when every loss is counted and none durable."""
    kinds = {"t": ("outcomes", "tallied"), "w": ("enqueue", "enqueue"), "d": ("skip", "skip")}
    is_whole = True
    for level, (wrote, came) in kinds.items():
        lost = seen.get(f"dropped {level}", 0)
        whole = done[wrote] == seen.get(came, 0) + lost and (level != "d" or not lost)
        is_whole = is_whole and whole
        figure = f"{done[wrote]:,} = {seen.get(came, 0):,} + {lost:,} lost"
        table.note(LEVELS[level], figure, "all counted", whole)
    return is_whole


def run(place: Path, given: argparse.Namespace) -> int:
    """Run both loads and compare."""
    table = Table(f"{given.workers} workers, spool of {given.spool_max}")
    short = max(2.0, given.seconds / 10)
    with bench.serving() as up:
        show_load(table, "server up", load(place / "up", up, given, short), short)
    down = f"http://127.0.0.1:{bench.find_closed_port()}"
    found = load(place / "down", down, given, given.seconds)
    show_load(table, "server down", found, given.seconds)
    table.note("largest size of the spool", f"{found['largest'] / 2**20:.1f} MiB")
    with bench.serving() as up:
        settings = counterfoil.from_env(spool=place / "down", url=up, send=False)
        begun = time.perf_counter()
        counterfoil.Client(settings).flush(120)
        table.note("sent when the server was back", f"in {time.perf_counter() - begun:.1f} s")
        with urllib.request.urlopen(up) as answer:  # noqa: S310
            seen = json.load(answer)
    return 0 if compare(table, found["done"], seen) else 1


def _timed(call: object) -> float:
    begun = time.perf_counter_ns()
    call()
    return (time.perf_counter_ns() - begun) / 1000


def main() -> int:
    """Run in a directory of its own."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--spool-max", default="20MiB")
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--dir", type=Path, help="where to put the spools; the disk matters")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        work(given.seconds, 3000 / given.workers, 300 / given.workers)
        return 0
    with tempfile.TemporaryDirectory(dir=given.dir) as place:
        return run(Path(place), given)


if __name__ == "__main__":
    sys.exit(main())
