from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.architecture import ROOT
from tools.bootstrap import check, environment

FINE = [sys.executable, "-c", "print('not shown')"]
BROKEN = [sys.executable, "-c", "import sys; print('line 3 is wrong'); sys.exit(2)"]


@pytest.fixture
def checkout(tmp_path: Path) -> environment.Environment:
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements" / "base.txt").touch()
    return environment.Environment(tmp_path)


def run(
    checkout: environment.Environment, monkeypatch: pytest.MonkeyPatch, **commands: list[str]
) -> int:
    named = [check.Check(name, command) for name, command in commands.items()]
    monkeypatch.setattr(check, "iter_checks", lambda _: iter(named))
    monkeypatch.setenv("PATH", "")
    return check.run(checkout)


def test_checks_that_pass_have_a_line_each_and_no_output(
    checkout: environment.Environment,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(checkout, monkeypatch, types=FINE) == 0

    printed = capsys.readouterr().out
    assert [line.split()[:2] for line in printed.splitlines()] == [
        ["ok", "types"],
        ["ok", "locks"],
        ["All", "checks"],
    ]


def test_a_failed_check_shows_its_output_and_the_others_still_run(
    checkout: environment.Environment,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(checkout, monkeypatch, lint=BROKEN, types=FINE) == 1

    printed = capsys.readouterr().out
    assert "        line 3 is wrong\nok      types" in printed
    assert printed.endswith("Failed: lint\n")


def test_a_fault_of_a_lock_fails_the_run(
    checkout: environment.Environment,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (checkout.root / "requirements" / "dev.in").write_text("pytest\n")

    assert run(checkout, monkeypatch, lint=FINE) == 1
    assert "dev.txt is missing" in capsys.readouterr().out


def test_what_is_promised_is_checked() -> None:
    names = [one.name for one in check.iter_checks(environment.Environment(ROOT))]

    promised = ["ruff check", "ruff format", "mypy", "import-linter", "djade", "migrations"]
    assert names == promised
