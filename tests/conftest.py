"""Markers and the closing list of a run, and the servers that tests may ask for."""

from __future__ import annotations

from collections import defaultdict

import pytest

from tests import needs


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test that is not slow as quick."""
    for item in items:
        if not item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.quick)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """List by name what a missing server or browser kept from running."""
    missed = defaultdict(list)
    for report in terminalreporter.stats.get("skipped", []):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
        wanted = reason.removeprefix("Skipped: ")
        if wanted.startswith(needs.PREFIX):
            missed[wanted.removeprefix(needs.PREFIX)].append(report.nodeid)
    if not missed:
        return
    terminalreporter.section("not run, for want of a program")
    for program in sorted(missed):
        terminalreporter.line(f"{program} is not installed (apt install {program}):")
        for nodeid in sorted(missed[program]):
            terminalreporter.line(f"  {nodeid}")
