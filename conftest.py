"""What holds for every test, the server's and the client's."""

from __future__ import annotations

import hypothesis
import pytest

from tests import needs

# A busy machine makes an example slow, not wrong.
hypothesis.settings.register_profile(
    "patient", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("patient")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test that is not slow as quick."""
    for item in items:
        if not item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.quick)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """List by name what a missing server or browser kept from running."""
    missed = needs.group_missed(terminalreporter.stats.get("skipped", []))
    if missed:
        terminalreporter.section("not run, for want of a program")
    for program, tests in sorted(missed.items()):
        terminalreporter.line(f"{program} is not installed (apt install {program}):")
        for test in sorted(tests):
            terminalreporter.line(f"  {test}")
