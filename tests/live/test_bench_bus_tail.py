from __future__ import annotations

import subprocess
import sys

import pytest

from tests import needs
from tests.architecture import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


def test_the_bench_of_the_tail_loses_nothing_and_prints_its_figures() -> None:
    needs.require("redis-server")

    done = subprocess.run(
        [sys.executable, "bench/bus_tail.py", "--seconds", "2", "--rate", "3000"],
        cwd=ROOT, capture_output=True, text=True, timeout=250, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    for what in (
        "published",
        "stored",
        "lost",
        "resident memory at its highest",
        "processor time of the tail a message",
        "all stored after the last message",
    ):
        assert what in done.stdout
