"""What holds for every test, the server's and the client's."""

from __future__ import annotations

import hypothesis
import pytest

from tests import needs

# A busy machine makes an example slow, not wrong.
_PATIENT = hypothesis.settings(
    deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
_EXAMPLES_OF_A_QUICK_RUN = 25


def pytest_configure(config: pytest.Config) -> None:
    """Try fewer examples of each property in a run of the quick tests alone."""
    is_quick = config.getoption("markexpr") == "quick"
    few = hypothesis.settings(_PATIENT, max_examples=_EXAMPLES_OF_A_QUICK_RUN)
    hypothesis.settings.register_profile("ours", few if is_quick else _PATIENT)
    hypothesis.settings.load_profile("ours")


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
