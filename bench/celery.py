"""What recording costs a Celery worker: its rate on empty tasks, with and without the module.

    python bench/celery.py [--tasks 4000] [--rounds 3]

Each round runs every arm in turn on a Redis of its own: without the module (COUNTERFOIL_OFF=1),
with every fact kept singly while the server answers and while it is down, and with outcomes
tallied. The ratio of an arm is taken in each round; printed are the median, the least and the
greatest, and the ratio of the best rounds; the aim is 0.90. On a machine that does other work the
rates by the clock say little: beside them stand those by the processor time of the worker and its
pool.
"Sent by forward" leaves the sending to another process, as `counterfoil forward` does.

The server is a stand-in that answers every line and keeps nothing, since a real one would take the
cores that are measured. Then the cost in the path of one task, in microseconds; the aim is 50.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SOURCES = [str(ROOT), str(ROOT / "client" / "src")]
# This file bears the name of the package that it measures, so its folder must not be searched.
sys.path.pop(0)
sys.path.insert(0, SOURCES[1])
sys.path.insert(0, SOURCES[0])

from redis import Redis as Store  # noqa: E402

from tests.servers import Redis, end  # noqa: E402

SHOP = """
import os, time
import counterfoil.contrib.celery
from billiard import current_process
from celery import Celery
from redis import Redis

app = Celery("shop", broker=os.environ["SHOP_REDIS"])
app.conf.update(task_ignore_result=True, broker_connection_retry_on_startup=True)
redis = Redis.from_url(os.environ["SHOP_REDIS"])

@app.task
def empty():
    pass

def used_by(pid):
    fields = open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

@app.task
def mark():
    main = os.getpid() if current_process()._name == "MainProcess" else os.getppid()
    pool = open(f"/proc/{main}/task/{main}/children").read().split()
    redis.rpush("marks", f"{time.time()} {sum(map(used_by, [main, *pool]))}")
"""
FILL = "import sys, shop; shop.mark.delay(); [shop.empty.delay() for _ in range(int(sys.argv[1]))]"
FILL += "; shop.mark.delay()"
EACH, TALLY = '{"each": ["*"]}', '{"tally": ["*"]}'
ARMS: dict[str, tuple[str, str, bool]] = {
    "without": ("", "", True),
    "each, server up": (EACH, "up", True),
    "each, server down": (EACH, "down", True),
    "each, sent by forward": (EACH, "up", False),
    "tally, server up": (TALLY, "up", True),
}


class Place:
    """The shop's folder, its Redis and the addresses of a server that answers and of none."""

    def __init__(self, folder: Path, redis_url: str, urls: dict[str, str]) -> None:
        self.folder, self.redis_url, self.urls = folder, redis_url, urls
        (folder / "shop.py").write_text(SHOP)

    def environment(self, arm: str, spool: Path) -> dict[str, str]:
        policy, url, sends = ARMS[arm]
        (self.folder / "policy.json").write_text(policy or EACH)
        kept = {n: v for n, v in os.environ.items() if not n.startswith(("COUNTERFOIL", "DJANGO"))}
        return {
            **kept,
            "PYTHONPATH": os.pathsep.join([str(self.folder), *SOURCES]),
            "SHOP_REDIS": self.redis_url,
            "COUNTERFOIL_OFF": "" if policy else "1",
            "COUNTERFOIL_SPOOL": str(spool),
            "COUNTERFOIL_POLICY": str(self.folder / "policy.json"),
            "COUNTERFOIL_URL": self.urls.get(url, ""),
            "COUNTERFOIL_TOKEN": "cf_bench",
            "COUNTERFOIL_SEND": "1" if sends else "0",
            "COUNTERFOIL_DIGEST_KEY": "bench",
        }

    def rates(self, arm: str, pool: str, tasks: int) -> tuple[float, float]:
        """Return how many empty tasks ran in a second, by the clock and by processor time."""
        with tempfile.TemporaryDirectory(dir=self.folder) as spool:
            environment = self.environment(arm, Path(spool))
            quiet = {**environment, "COUNTERFOIL_OFF": "1"}
            fill = [sys.executable, "-c", FILL, str(tasks)]
            subprocess.run(fill, env=quiet, cwd=self.folder, check=True)
            command = [sys.executable, "-m", "celery", "-A", "shop", "worker", "--pool", pool]
            command += ["-c", "2", "-l", "WARNING", "--without-gossip", "--without-mingle"]
            worker = subprocess.Popen(
                command,
                env=environment,
                cwd=self.folder,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            try:
                marks = [self._mark() for _ in range(2)]
            finally:
                end(worker, signal.SIGTERM)
            (begun, used), (ended, used_at_end) = marks
            return tasks / (ended - begun), tasks / (used_at_end - used)

    def _mark(self) -> tuple[float, float]:
        with closing(Store.from_url(self.redis_url, socket_timeout=None)) as store:
            at, used = store.blpop(["marks"], timeout=300)[1].split()
        return float(at), float(used)


def compare(place: Place, pool: str, tasks: int, rounds: int) -> None:
    """Run all arms in turn and print each one's rate and ratio."""
    rates: dict[str, list[tuple[float, float]]] = {arm: [] for arm in ARMS}
    for _ in range(rounds):
        for arm, found in rates.items():
            found.append(place.rates(arm, pool, tasks))
    for arm, found in rates.items():
        columns = [_column(found, rates["without"], which) for which in (0, 1)]
        print(f"{pool:<9}{arm:<24}{''.join(columns)}", flush=True)


def _column(found: list[Any], bare: list[Any], which: int) -> str:
    ratios = [one[which] / other[which] for one, other in zip(found, bare, strict=True)]
    rate = statistics.median(one[which] for one in found)
    spread = f"({min(ratios):.2f} to {max(ratios):.2f})"
    best = max(one[which] for one in found) / max(one[which] for one in bare)
    return f"{rate:>9,.0f}{statistics.median(ratios):>6.2f} {spread:<15}{best:>5.2f}"


def measure_path(folder: Path, count: int) -> None:
    """Print what recording adds to the path of one task, in this process."""
    os.environ.update(COUNTERFOIL_SPOOL=str(folder / "path"), COUNTERFOIL_DIGEST_KEY="bench")
    print(f"\n{'in the path of a task, us':<44}{'p50':>9}{'p99':>10}")
    import counterfoil
    from celery import Celery
    from counterfoil.contrib.celery import connecting

    app = Celery("shop", broker="memory://")

    @app.task(name="empty", ignore_result=True)
    def empty() -> None:
        """Do nothing."""

    for policy in ("", EACH, TALLY):
        (folder / "policy.json").write_text(policy or EACH)
        _disconnect(connecting)
        if policy:
            connecting.connect()
            counterfoil.configure(policy=folder / "policy.json")
        name = {"": "no recording", EACH: "kept singly", TALLY: "tallied"}[policy]
        attempt = _attempts_of(app, empty)
        _show(f"attempt, {name}", attempt, count)
        _show(f"publish, {name}", empty.apply_async, count)


def _disconnect(connecting: Any) -> None:
    from celery import signals

    for name in connecting.HANDLERS:
        getattr(signals, name).disconnect(dispatch_uid=f"counterfoil.{name}")


def _attempts_of(app: Any, task: Any) -> Callable[[], object]:
    from celery.app.trace import build_tracer

    trace = build_tracer(task.name, app.tasks[task.name], app.loader, "bench@here", app=app)
    request = {"retries": 0, "delivery_info": {"exchange": "", "routing_key": "celery"}}

    def attempt() -> None:
        call = str(uuid.uuid4())
        trace(call, (), {}, {**request, "id": call, "task": task.name})

    return attempt


def _show(name: str, work: Callable[[], object], count: int) -> None:
    clock, times = time.perf_counter_ns, []
    for turn in range(count + 200):
        begun = clock()
        work()
        if turn >= 200:
            times.append((clock() - begun) / 1000)
    cuts = statistics.quantiles(times, n=100)
    print(f"{name:<44}{cuts[49]:>9.1f}{cuts[98]:>10.1f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", type=int, default=4_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pools", nargs="*", default=["solo", "prefork"])
    given = parser.parse_args()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        down = f"http://127.0.0.1:{free.getsockname()[1]}"
    stand_in = [sys.executable, str(ROOT / "bench" / "client.py"), "--serve"]
    server = subprocess.Popen(stand_in, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    urls = {"up": f"http://127.0.0.1:{int(server.stdout.readline())}", "down": down}
    try:
        with closing(Redis()) as redis, tempfile.TemporaryDirectory() as folder:
            place = Place(Path(folder), redis.start().url, urls)
            print(
                f"{'tasks a second':<33}{'by the clock':<36}{'by processor time':<36}", flush=True
            )
            for pool in given.pools:
                compare(place, pool, given.tasks, given.rounds)
            measure_path(Path(folder), 5_000)
    finally:
        end(server, signal.SIGTERM)


if __name__ == "__main__":
    main()
