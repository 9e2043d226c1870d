from __future__ import annotations

import pytest

from tests import needs


def test_a_missing_program_skips_the_test_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COUNTERFOIL_STRICT", raising=False)
    monkeypatch.setenv("PATH", "")

    with pytest.raises(pytest.skip.Exception, match="needs git"):
        needs.require("git")


def test_a_missing_program_fails_the_test_in_a_strict_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COUNTERFOIL_STRICT", "1")
    monkeypatch.setenv("PATH", "")

    with pytest.raises(pytest.fail.Exception, match="apt install git"):
        needs.require("git")


def test_what_was_skipped_for_want_of_a_program_is_grouped_by_it() -> None:
    skipped = [
        report("test_a", "Skipped: needs git"),
        report("test_b", "Skipped: needs git"),
        report("test_c", "Skipped: needs chromium"),
        report("test_d", "Skipped: not today"),
    ]

    assert needs.group_missed(skipped) == {"git": ["test_a", "test_b"], "chromium": ["test_c"]}


def report(nodeid: str, reason: str) -> pytest.TestReport:
    where = ("test_x.py", 1, reason)
    return pytest.TestReport(nodeid, ("test_x.py", 1, nodeid), {}, "skipped", where, "setup")
