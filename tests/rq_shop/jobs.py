"""The shop's jobs; none knows of the ledger but the guarded one."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import counterfoil
from rq import Retry, get_current_job


def pay(payout: str, card: str = "") -> str:
    return card


def refuse(card: str) -> None:
    raise ValueError(f"card {card} refused")


def again() -> Retry:
    return Retry(max=1)


def fail_once(folder: str) -> None:
    """Fail at the first try and succeed at the second."""
    tried = Path(folder, "tried")
    if not tried.exists():
        tried.touch()
        raise RuntimeError("the first try")


def die() -> None:
    """End the process as an out-of-memory kill does."""
    os.kill(os.getpid(), signal.SIGKILL)


def sleep(seconds: float) -> None:
    """Say that it has begun, and take that long."""
    job = get_current_job()
    assert job is not None
    job.connection.rpush("begun", job.id)
    time.sleep(seconds)


def guarded() -> None:
    """Turn away by a guard of the shop's own, which names its holder."""
    job = get_current_job()
    assert job is not None
    counterfoil.skip(key={"payout": "PO-1"}, reason="in_flight", holder="another-job")
