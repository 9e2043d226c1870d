"""The Elixir handler of the documentation, run against stand-ins for Oban and :telemetry."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.architecture import ROOT, documents

pytestmark = pytest.mark.slow
DATA = ROOT / "tests" / "data"


@pytest.mark.skipif(shutil.which("elixir") is None, reason="elixir is not on this machine")
def test_the_documented_handler_writes_what_is_kept_of_it(tmp_path: Path) -> None:
    handler, spool = tmp_path / "handler.ex", tmp_path / "spool"
    handler.write_text(documents.get_fence(documents.read("docs/how-to/oban.md"), "handler"))

    done = subprocess.run(
        ["elixir", DATA / "oban_stubs.exs", handler, spool],
        capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip

    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    (file,) = spool.iterdir()
    assert file.name.startswith("oban.") and file.name.endswith(".open")
    kept = (DATA / "oban_telemetry.ndjson").read_text().splitlines()
    lines = [timeless(json.loads(line)) for line in file.read_text().splitlines()]
    assert lines == [json.loads(line) for line in kept]


def timeless(line: dict[str, Any]) -> dict[str, Any]:
    """Leave out when it was and which process wrote it."""
    assert line.pop("occurred_at").endswith("Z")
    return {**line, "spool": "SPOOL"} if "spool" in line else line
