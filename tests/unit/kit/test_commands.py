from __future__ import annotations

import pytest

from kit import commands


@pytest.mark.parametrize("words", [["projekt", "list"], ["help", "nothing-of-ours"], ["derive.py"]])
def test_a_command_that_is_not_there_is_a_usage_error_and_no_finding(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        commands.execute(["manage.py", *words])

    assert left.value.code == 3
    assert "Unknown command" in capsys.readouterr().err


def test_a_command_that_is_there_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    commands.execute(["manage.py", "help", "project"])

    assert "manage.py project" in capsys.readouterr().out
