"""Runs the shop: workers, a publishing process, and what its own counts say."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import counterfoil
import redis

from tests.architecture import ROOT
from tests.celery_shop import project
from tests.servers import PATIENCE, end

SOURCE = "celery/shop"
DIGEST_KEY = "a key that the producers share"


class Shop:
    """The shop in a folder of its own, with a spool beside it; it sends nothing unless told to."""

    python = sys.executable
    ids: dict[str, str]

    def __init__(self, folder: Path, redis_url: str, policy: dict[str, Any], **environment: str):
        self.folder, self.spool = folder, folder / "spool"
        self.store = redis.Redis.from_url(redis_url, decode_responses=True, socket_timeout=None)
        self.store.flushdb()
        project.write(folder)
        (folder / "policy.json").write_text(json.dumps(policy))
        # The shop is no Django project, and has settings of its own.
        foreign = ("COUNTERFOIL_", "DJANGO_")
        kept = {n: v for n, v in os.environ.items() if not n.startswith(foreign)}
        self.environment = {
            **kept,
            "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT / "client" / "src")]),
            "SHOP_REDIS": redis_url,
            "COUNTERFOIL_SPOOL": str(self.spool),
            "COUNTERFOIL_SOURCE": SOURCE,
            "COUNTERFOIL_POLICY": str(folder / "policy.json"),
            "COUNTERFOIL_DIGEST_KEY": DIGEST_KEY,
            "COUNTERFOIL_NAME": "shop",
            **environment,
        }

    @property
    def log(self) -> Path:
        """What the workers printed."""
        return self.folder / "worker.log"

    def run(self, *arguments: str) -> str:
        """Run Python in the shop and return what it printed."""
        done = subprocess.run(
            [self.python, *arguments],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def publish(self, every: int = 1) -> dict[str, int]:
        """Publish every n-th kind from a process that is no worker; return what it counted."""
        counted: dict[str, int] = json.loads(self.run("-m", "shop.publish", str(every)))
        return counted

    def call(self, *calls: tuple[str, list[Any], dict[str, Any]]) -> list[str]:
        """Publish special tasks, each with its arguments and options; return the calls' ids."""
        code = (
            "import json, sys, shop.special\n"
            "from shop.app import app\n"
            "for name, args, options in json.loads(sys.argv[1]):\n"
            "    print(app.tasks[name].apply_async(args, **options).id)"
        )
        wanted = [(f"shop.special.{task}", args, options) for task, args, options in calls]
        return self.run("-c", code, json.dumps(wanted)).split()

    def app(self, code: str, *arguments: str) -> str:
        """Run code that has the shop's `app`, and return what it printed."""
        return self.run("-c", f"import sys\nfrom shop.app import app\n{code}", *arguments)

    @contextmanager
    def worker(self, *options: str, pool: str = "prefork") -> Iterator[subprocess.Popen[bytes]]:
        """Run a worker, and end it in good order unless it is gone by then."""
        command = [self.python, "-m", "celery", "-A", "shop.app", "worker", "--pool", pool]
        quiet = ["--without-gossip", "--without-mingle", "--without-heartbeat", "-l", "INFO"]
        with self.log.open("ab") as log:
            worker = subprocess.Popen(
                [*command, *quiet, *(options or ("-c", "2"))],
                cwd=self.folder,
                env=self.environment,
                stdout=log,
                stderr=log,
            )
        try:
            yield worker
        finally:
            end(worker, signal.SIGTERM)

    def await_events(self, count: int) -> None:
        """Return once the tasks themselves have told of so many runs and refusals."""
        deadline = time.monotonic() + PATIENCE
        for seen in range(count):
            left = max(1, int(deadline - time.monotonic()))
            assert self.store.blpop(["events"], timeout=left), (seen, count, self.tail())

    def await_receipts(self, is_enough: Callable[[list[dict[str, Any]]], bool]) -> None:
        """Return once enough receipts lie in the spool."""
        deadline = time.monotonic() + PATIENCE
        while not is_enough(self.receipts()):
            assert time.monotonic() < deadline, self.tail()
            time.sleep(0.05)

    def await_empty_queue(self) -> None:
        """Return once the broker holds no message, neither waiting nor taken."""
        deadline = time.monotonic() + PATIENCE
        while self.store.llen("celery") or self.store.hlen("unacked"):
            assert time.monotonic() < deadline, self.tail()
            time.sleep(0.05)

    def tail(self) -> str:
        """Return the end of what the workers printed."""
        return self.log.read_text(errors="replace")[-4000:] if self.log.exists() else ""

    def ran(self) -> int:
        """Return how often tasks ran, by their own count."""
        return sum(map(int, self.store.hvals("ran")))

    def ran_by_task(self) -> dict[str, int]:
        """Return how often each task was run or turned away, by the shop's own count."""
        ran, refused = (Counter(self.store.hgetall(name)) for name in ("ran", "turned_away"))
        return {task: int(ran[task]) + int(refused[task]) for task in {*ran, *refused}}

    def turned_away(self) -> int:
        """Return how often guards of the shop's own turned a task away."""
        return sum(map(int, self.store.hvals("turned_away")))

    def receipts(self, **wanted: Any) -> list[dict[str, Any]]:
        """Return what lies in the spool, by the time at which it happened.

        A word like `job_id` compares a member of `job`.
        """
        files = self.spool.iterdir() if self.spool.exists() else ()
        lines = [
            json.loads(line)
            for file in files
            if file.suffix in (".open", ".ready")
            for line in file.read_bytes().splitlines()
            if line.startswith(b'{"schema"')
        ]
        found = [line for line in lines if all(_of(line, n) == v for n, v in wanted.items())]
        return sorted(found, key=lambda line: str(line.get("occurred_at")))

    def send(self, url: str, token: str) -> None:
        """Deliver all that lies in the spool, as `counterfoil forward` does."""
        client = counterfoil.Client(
            counterfoil.from_env({}, url=url, token=token, spool=self.spool)
        )
        try:
            assert client.flush(PATIENCE), "the spool was not emptied"
        finally:
            client.close()


def _of(receipt: dict[str, Any], name: str) -> Any:
    if name.startswith("job_"):
        return receipt.get("job", {}).get(name.removeprefix("job_"))
    return receipt.get(name)
