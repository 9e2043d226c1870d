"""Runs the shop's worker in a process of its own on a real Redis."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import redis

from tests.architecture import ROOT
from tests.servers import PATIENCE

PUBLISH = """
import json, sys, redis
from counterfoil.contrib.rq import Queue
queue = Queue(connection=redis.Redis.from_url(sys.argv[1]))
name, args, options = json.loads(sys.argv[2])
if "retry" in options:
    from rq import Retry
    options["retry"] = Retry(**options["retry"])
print(queue.enqueue(f"tests.rq_shop.jobs.{name}", *args, **options).id)
"""


class Shop:
    """The shop with a spool in a folder of its own; nothing is sent."""

    def __init__(self, folder: Path, redis_url: str, policy: dict[str, Any]) -> None:
        self.spool, self.url = folder / "spool", redis_url
        self.store = redis.Redis.from_url(redis_url)
        self.store.flushdb()
        (folder / "policy.json").write_text(json.dumps(policy))
        foreign = ("COUNTERFOIL_", "DJANGO_")
        kept = {n: v for n, v in os.environ.items() if not n.startswith(foreign)}
        self.environment = {
            **kept,
            "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "client" / "src")]),
            "COUNTERFOIL_SPOOL": str(self.spool),
            "COUNTERFOIL_SOURCE": "rq/shop",
            "COUNTERFOIL_POLICY": str(folder / "policy.json"),
            "COUNTERFOIL_DIGEST_KEY": "a key that the producers share",
            "COUNTERFOIL_NAME": "shop",
        }

    def publish(self, job: str, *args: Any, **options: Any) -> str:
        """Enqueue from a process that is no worker, and return the job's id."""
        return self.run("-c", PUBLISH, self.url, json.dumps([job, args, options])).strip()

    def work(self, worker: str = "Worker", *options: str) -> str:
        """Let a worker do all that waits, and return what it printed."""
        kind = f"counterfoil.contrib.rq.{worker}"
        given = ["--burst", "--with-scheduler", "--url", self.url, "--worker-class", kind]
        return self.run("-m", "rq.cli", "worker", *given, *options)

    def run(self, *arguments: str) -> str:
        """Run Python in the shop and return what it printed."""
        done = subprocess.run(
            [sys.executable, *arguments],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr if "worker" in arguments else done.stdout
