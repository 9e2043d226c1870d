"""The rig of scenario 1: twelve workers under fire, and what it saw with its own eyes.

Seeded, so that a run can be done again. What the rig counts (how often work really ran, which
receipts were answered for) is kept apart from the ledger, to be compared with it afterwards.
"""

from __future__ import annotations

import json
import os
import queue
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings

WORKERS = 12
JOBS = 20
DELIVERIES_A_JOB = 3
KILLS = ("before claim", "in work", "after work", "before finish")
AGAIN_AFTER_S = 0.6
Delivery = dict[str, Any]


@dataclass(slots=True)
class Seen:
    """What the rig saw: receipts that workers answered for, kills, and how often work ran."""

    skips: list[str] = field(default_factory=list)
    dones: dict[str, list[str]] = field(default_factory=dict)
    kills: Counter[str] = field(default_factory=Counter)
    second_dones: int = 0
    ran: Counter[str] = field(default_factory=Counter)


class Rig:
    """Hands deliveries to workers until every job is done and every delivery answered."""

    def __init__(self, folder: Path, url: str, token: str, seed: int, source: str) -> None:
        self.folder = folder
        self.seen = Seen()
        self._random = random.Random(seed)  # noqa: S311 - it decides what to break
        self._env = {
            **os.environ,
            "PYTHONPATH": str(settings.BASE_DIR / "client" / "src"),
            "COUNTERFOIL_URL": url,
            "COUNTERFOIL_TOKEN": token,
            "COUNTERFOIL_SOURCE": source,
        }
        self._waiting: queue.Queue[Delivery | None] = queue.Queue()
        self._open = 0
        self._lock = threading.Lock()
        self._over = threading.Event()

    @property
    def payouts(self) -> list[str]:
        """Give the business objects that the jobs are about."""
        return [f"PO-{88_200 + number}" for number in range(1, JOBS + 1)]

    def run(self) -> Seen:
        """Run the whole scenario, which takes some seconds."""
        for delivery in self._deliveries():
            self._add(delivery)
        slots = [threading.Thread(target=self._slot, name=f"slot-{n}") for n in range(WORKERS)]
        for slot in slots:
            slot.start()
        self._over.wait()
        for _ in slots:
            self._waiting.put(None)
        for slot in slots:
            slot.join()
        journal = self.folder / "journal"
        lines = journal.read_text(encoding="utf-8").split() if journal.exists() else []
        self.seen.ran = Counter(lines)
        return self.seen

    def deliver_rest(self, timeout_s: float) -> bool:
        """Have what dead workers left in the spool delivered; says whether all of it was."""
        spool = self.folder / "spool"
        forward = [sys.executable, "-m", "counterfoil", "forward", "--once", "--spool", str(spool)]
        end = time.monotonic() + timeout_s
        while any((*spool.glob("*.open"), *spool.glob("*.ready"))):
            if time.monotonic() > end:
                return False
            subprocess.run(forward, env=self._env, check=False, capture_output=True)
        return True

    def _deliveries(self) -> list[Delivery]:
        """Deliver each job some times over; the first time the worker is to die over it."""
        fatal: list[Delivery] = [
            {"payout": payout, "die": KILLS[number % len(KILLS)]}
            for number, payout in enumerate(self.payouts)
        ]
        others = [{**one, "die": None} for one in fatal * (DELIVERIES_A_JOB - 1)]
        self._random.shuffle(fatal)
        self._random.shuffle(others)
        return [*fatal, *others]

    def _add(self, delivery: Delivery) -> None:
        with self._lock:
            self._open += 1
        self._waiting.put(delivery)

    def _settle(self) -> None:
        with self._lock:
            self._open -= 1
            if not self._open:
                self._over.set()

    def _slot(self) -> None:
        worker: subprocess.Popen[str] | None = None
        while (delivery := self._waiting.get()) is not None:
            worker = worker or self._spawn()
            answer = _ask(worker, delivery)
            if answer is None:
                worker.wait()
                worker = None
                self._killed(delivery)
            else:
                self._answered(delivery, answer)
            self._settle()
        if worker is not None and worker.stdin is not None:
            worker.stdin.close()
            worker.wait()

    def _spawn(self) -> subprocess.Popen[str]:
        script = Path(__file__).with_name("worker.py")
        return subprocess.Popen(
            [sys.executable, str(script), str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=self._env,
            text=True,
        )

    def _killed(self, delivery: Delivery) -> None:
        """A delivery whose worker died was not answered, so the queue delivers it again."""
        with self._lock:
            self.seen.kills[delivery["die"] or "unplanned"] += 1
            if delivery["die"] == "before finish":
                # Its done is on disk: when the guard lets go, the work runs a second time.
                self.seen.second_dones += 1
        self._again({**delivery, "die": None})

    def _answered(self, delivery: Delivery, answer: dict[str, Any]) -> None:
        with self._lock:
            if "done" in answer:
                self.seen.dones.setdefault(delivery["payout"], []).append(answer["done"])
                return
            self.seen.skips.append(answer["skip"])
        if answer["reason"] == "in_flight":
            # Whoever holds it may be dead; a queue would keep the job until it is done.
            self._again(delivery)

    def _again(self, delivery: Delivery) -> None:
        with self._lock:
            self._open += 1
        timer = threading.Timer(AGAIN_AFTER_S, self._waiting.put, [delivery])
        timer.daemon = True
        timer.start()


def _ask(worker: subprocess.Popen[str], delivery: Delivery) -> dict[str, Any] | None:
    """Give a worker a delivery and wait for its answer; None when it died over it."""
    if worker.stdin is None or worker.stdout is None:
        return None
    try:
        worker.stdin.write(json.dumps(delivery) + "\n")
        worker.stdin.flush()
        line = worker.stdout.readline()
    except (BrokenPipeError, OSError):
        return None
    return json.loads(line) if line.endswith("\n") else None
