from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests import needs
from tests.architecture import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def run_bench(database: str) -> str:
    tiny = ["--seconds", "0.3", "--receipts", "1000", "--reads", "3"]
    done = subprocess.run(
        [sys.executable, "bench/ingest.py", "--database", database, *tiny],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_the_bench_prints_a_figure_for_each_aim(database: str) -> None:
    if database == "postgresql":
        needs.require("postgresql")

    printed = run_bench(database)

    for what in (
        "batches of 1,000 over HTTP",
        "sequence and derive, ingest idle",
        "single posts, 12 clients",
        "acknowledged to visible, p99",
        "explain page over HTTP, p95",
        "resident memory",
    ):
        assert what in printed
    assert printed.count("reached") >= 10


def test_the_bench_of_pages_prints_each_page_at_each_size() -> None:
    done = subprocess.run(
        [sys.executable, "bench/pages.py", "--database", "sqlite", "--receipts", "200", "400",
         "--reads", "2"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    for page in ("overview", "list", "receipt", "explain", "subject", "tasks", "task"):
        assert len(re.findall(rf"^  {page} +[0-9]+ statements, ", done.stdout, re.MULTILINE)) == 2
    assert "times that of" in done.stdout


def test_the_bench_of_tallies_prints_what_an_outcome_costs() -> None:
    done = subprocess.run(
        [sys.executable, "bench/tallies.py", "--tallies", "2"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    for what in ("derived, everything", "disk of the jobs' rows", "original is in a tally"):
        assert what in done.stdout


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_the_bench_of_the_key_lab_prints_each_recipe(database: str) -> None:
    if database == "postgresql":
        needs.require("postgresql")
    done = subprocess.run(
        [sys.executable, "bench/lab.py", "--database", database, "--attempts", "1200",
         "--rounds", "1"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert "[(0, 400)]" in done.stdout
    assert done.stdout.count("<= 5 s") == 4
