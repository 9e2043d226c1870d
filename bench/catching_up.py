"""Sequence and derive what waits, alone in this process, and print how many in how many seconds."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parent.parent)
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

import django  # noqa: E402

django.setup()

from config.follower import follow_once  # noqa: E402
from ledger import derive  # noqa: E402


def main(seconds: float) -> None:
    """Follow for some seconds at most."""
    before = _derived()
    start = time.monotonic()
    while follow_once() and time.monotonic() - start < seconds:
        pass
    print(_derived() - before, time.monotonic() - start)


def _derived() -> int:
    behind: dict[int, int] = {}
    for one in derive.status():
        behind[one.project_id] = min(one.next_leaf, behind.get(one.project_id, one.next_leaf))
    return sum(behind.values())


if __name__ == "__main__":
    main(float(sys.argv[1]))
