"""What `manage.py derive` prints, and the codes that it leaves with."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db import connection

from kit import bulk
from ledger import derive, keys
from ledger.management.commands.derive import Command
from ledger.models import ProjectorCursor
from ledger.projectors.receipts import ReceiptsProjector
from ledger.registry import registry
from tests import stories
from tests.databases import Database, use


@pytest.fixture(autouse=True)
def no_keys() -> None:
    keys.forget()


def run(*options: str) -> int:
    """Run the command as from a shell and give its exit code."""
    try:
        Command().run_from_argv(["manage.py", "derive", *options])
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


def test_a_rebuild_that_changes_nothing_leaves_with_0(
    sqlite_database: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    stories.tell(1, 12)

    assert run("--rebuild") == 0
    assert run("--rebuild", "ledger", "--batch", "1") == 0
    assert "0 differ." in capsys.readouterr().out


def test_a_rebuild_that_finds_a_difference_leaves_with_1_and_names_it(
    sqlite_database: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    stories.tell(1, 12)
    bulk.update_rows("UPDATE entry SET verdict = %s WHERE leaf_index = %s", [("by hand", 2)])

    assert run("--rebuild") == 1
    said = capsys.readouterr().out
    assert "1 differ." in said
    assert "entry\n  live " in said
    assert "by hand" in said


def test_applying_puts_the_rebuilt_tables_in_place_and_leaves_with_0(
    sqlite_database: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    stories.tell(1, 12)
    bulk.update_rows("UPDATE entry SET queue = %s WHERE leaf_index = %s", [("by hand", 2)])

    assert run("--rebuild", "--apply") == 0
    assert "The rebuilt tables are in place." in capsys.readouterr().out
    assert run("--rebuild") == 0


@pytest.mark.parametrize(
    "options",
    [
        ("--rebuild", "nosuchapp"),
        ("--status", "--once"),
        ("--status", "--apply"),
        ("--rebuild", "--batch", "0"),
        ("--rebuild", "--batch", "many"),
        ("--nonsense",),
        (),
    ],
    ids=" ".join,
)
def test_wrong_options_leave_with_3(
    sqlite_database: Database, options: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*options) == 3
    assert capsys.readouterr().err


@pytest.mark.parametrize("option", ["--rebuild", "--status", "--once"])
def test_a_database_that_cannot_be_opened_leaves_with_2(
    tmp_path: Path, option: str, sqlite_database: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    with use(Database(tmp_path / "no such folder")):
        assert run(option) == 2
    assert "the database cannot be used" in capsys.readouterr().err


@pytest.mark.slow
def test_a_server_that_does_not_answer_leaves_with_2(
    tmp_path: Path, postgresql_database: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    with use(Database(tmp_path, "postgresql://nobody@127.0.0.1:1/none")):
        assert run("--rebuild") == 2
    assert "the database cannot be used" in capsys.readouterr().err


def test_a_bug_while_rebuilding_leaves_with_2(
    sqlite_database: Database, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stories.tell(1, 5)

    def stumble(*given: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(ReceiptsProjector, "plan", stumble)

    assert run("--rebuild") == 2
    assert capsys.readouterr().err == "ZeroDivisionError: a bug\n"
    monkeypatch.undo()
    assert run("--rebuild") == 0


def test_the_status_tells_cursor_and_lag_of_each_projector(
    sqlite_database: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    story = stories.tell(1, 12, "acme")
    size = derive.log_size(story.project.id)
    ProjectorCursor.objects.filter(projector="roll_ups").update(next_leaf=size - 3)

    assert run("--status") == 0
    lines = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert [line[1] for line in lines] == [one.name for one in registry.projectors]
    rules = {one.name: f"rules {one.rules_version}" for one in registry.projectors}
    told = {line[1]: line for line in lines}
    assert told["receipts"] == [
        "acme", "receipts", f"{size} of {size}, 0 behind", rules["receipts"]
    ]  # fmt: skip
    assert told["roll_ups"] == [
        "acme", "roll_ups", f"{size - 3} of {size}, 3 behind", rules["roll_ups"]
    ]  # fmt: skip


def test_the_status_tells_which_rows_are_of_older_rules(
    sqlite_database: Database, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stories.tell(1, 5)
    before = next(one.rules_version for one in registry.projectors if one.name == "receipts")
    monkeypatch.setattr(ReceiptsProjector, "rules_version", before + 1)

    run("--status")

    (line,) = [one for one in capsys.readouterr().out.splitlines() if "\treceipts\t" in one]
    assert line.endswith(f"rules {before}, to be rebuilt by rules {before + 1}")


def test_once_catches_up(sqlite_database: Database) -> None:
    story = stories.tell(1, 5)
    story.post({"kind": "done"}, {"kind": "done"})
    before = derive.log_size(story.project.id)

    assert run("--once") == 0

    assert derive.log_size(story.project.id) == before + 2
    assert {one.lag for one in derive.status()} == {0}


def test_a_shadow_is_gone_after_the_rebuild(sqlite_database: Database) -> None:
    stories.tell(1, 5)

    run("--rebuild")

    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM temp.sqlite_master")
        assert cursor.fetchone() == (0,)
