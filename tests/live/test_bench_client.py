from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


def run_bench(*argv: str) -> str:
    done = subprocess.run(
        [sys.executable, *argv], cwd=ROOT, capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_bench_of_the_client_prints_a_line_for_each_case(tmp_path: Path) -> None:
    printed = run_bench("bench/client.py", "--receipts", "500", "--dir", str(tmp_path))

    for name in ("no sender", "server down", "server up"):
        for what in ("outcome", "written", "written with four arguments", "durable"):
            assert f"\n{what}, {name}" in printed
    assert "bare write of 250 bytes and fdatasync" in printed
    assert "threads" in printed
    assert "outcomes of 4 journals became" in printed


def test_the_bench_of_an_outage_finds_every_loss_counted(tmp_path: Path) -> None:
    small = ["--seconds", "4", "--spool-max", "512KiB", "--workers", "2"]

    printed = run_bench("bench/outage.py", *small, "--dir", str(tmp_path))

    assert printed.count("all counted") == 3
    assert "NOT reached" not in printed
