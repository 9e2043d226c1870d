from __future__ import annotations

import subprocess
import sys

import pytest

from tests import needs
from tests.architecture import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


def test_the_bench_of_the_oban_reader_prints_its_figures() -> None:
    needs.require("postgresql")

    done = subprocess.run(
        [sys.executable, "bench/oban.py", "--database", "sqlite", "--rows", "2000",
         "--slices", "2"],
        cwd=ROOT, capture_output=True, text=True, timeout=250, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    for what in (
        "first pass over the table",
        "batches of 1,000 in this process",
        "COPY of the table to this process",
        "a round in which nothing changed",
        "a round in which 40 rows changed",
        "the whole table compared",
        "resident memory at its highest",
    ):
        assert what in done.stdout
