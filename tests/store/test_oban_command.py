"""`manage.py oban_sync`: its options, its exit codes and what it lets out."""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.core.management import ManagementUtility, call_command
from django.core.management.base import CommandError
from django.db import connections

from jobs.integrations import oban_loop
from jobs.integrations.oban_loop import Target
from kit import commands
from ledger.models import Receipt
from tests import factories, oban, servers
from tests.databases import Database
from tests.oban import ObanDatabase
from tests.servers import Postgres

pytestmark = pytest.mark.slow
PATIENCE_S = 30.0
INSERT = "INSERT INTO oban_jobs (worker, args) VALUES ('W', '{}')"
NOBODY = "postgresql://looker:hunter2hunter2@127.0.0.1:1/app"


@dataclass
class Said:
    out: str
    err: str


@pytest.fixture
def table(sqlite_database: Database, postgresql: Postgres) -> Iterator[ObanDatabase]:
    with oban.made(postgresql) as made:
        yield made
    connections["default"].close()


@pytest.fixture
def project(sqlite_database: Database) -> Iterator[str]:
    yield factories.make_project().slug
    connections["default"].close()


def run(table: ObanDatabase | None, project: str, *words: str) -> Said:
    out, err = io.StringIO(), io.StringIO()
    where = [f"--schema={table.schema}"] if table else []
    call_command(
        "oban_sync", f"--project={project}", "--instance=prod-1", *where, *words,
        stdout=out, stderr=err,
    )  # fmt: skip
    return Said(out.getvalue(), err.getvalue())


def exit_code(*words: str) -> int:
    """Run as from the shell, and give the exit code."""
    with pytest.raises(SystemExit) as left:
        ManagementUtility(["manage.py", "oban_sync", *words]).execute()
    return int(left.value.code or 0)


def test_one_round_says_what_it_found_and_what_nobody_can_know(
    table: ObanDatabase, project: str
) -> None:
    table.insert()

    said = run(table, project, "--dsn", table.dsn, "--once")

    assert said.out.splitlines()[0] == "1 new."
    assert "Skips are not knowable from rows" in said.out
    assert said.err == ""


def test_the_address_may_stand_in_a_variable(
    table: ObanDatabase, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("APP_DSN", table.dsn)

    assert run(table, project, "--dsn-env", "APP_DSN", "--once").out.startswith("nothing changed.")


def test_a_password_on_the_command_line_is_taken_with_a_warning_and_never_shown(
    table: ObanDatabase, project: str
) -> None:
    dsn = table.dsn.replace("//counterfoil@", "//counterfoil:hunter2hunter2@")

    said = run(table, project, "--dsn", dsn, "--once")

    assert "The address has a password in it" in said.err
    assert "hunter2" not in said.out + said.err


def test_a_source_that_does_not_answer_is_2_and_its_password_is_not_shown(
    project: str, capfd: pytest.CaptureFixture[str]
) -> None:
    words = [f"--project={project}", "--instance=prod-1", "--dsn", NOBODY]

    codes = [exit_code(*words, how) for how in ("--once", "--follow")]

    said = capfd.readouterr()
    assert codes == [2, 2]
    assert "The source cannot be reached: connection failed" in said.err
    assert "hunter2" not in said.out + said.err
    assert "Traceback" not in said.err


def test_a_target_does_not_show_its_address() -> None:
    assert "hunter2" not in repr(Target(1, "prod-1", NOBODY))


@pytest.mark.parametrize(
    "words",
    [
        ["--once"],
        ["--dsn=postgresql://h/d", "--dsn-env=X", "--once"],
        ["--dsn=postgresql://h/d"],
        ["--dsn=postgresql://h/d", "--once", "--follow"],
        ["--dsn=postgresql://h/d", "--follow", "--every=0"],
        ["--dsn=postgresql://h/d", "--follow", "--every=soon"],
        ["--dsn=postgresql://h/d", "--once", "--table="],
        ["--dsn=postgresql://h/d", "--once", "--schema=" + "s" * 64],
        ["--dsn=postgresql://h/d", "--once", "--instance=a/b"],
        ["--dsn=", "--once"],
        ["--dsn-env=NOT_SET_ANYWHERE", "--once"],
        ["--dsn=hunter2 hunter2", "--once"],
        ["--dsn=postgresql://h:99999/d", "--once"],
        ["--dsn=postgresql://h:hunter2/d", "--once"],
    ],
)
def test_options_that_do_not_fit_are_3(
    project: str, words: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    code = exit_code(f"--project={project}", "--instance=prod-1", *words)

    assert code == 3
    assert "hunter2 hunter2" not in capfd.readouterr().err


def test_a_project_that_is_not_there_is_1(project: str) -> None:
    words = ["--project=nowhere", "--instance=x", "--dsn=postgresql://h/d", "--once"]

    assert exit_code(*words) == 1


def test_a_table_that_is_not_there_is_1(table: ObanDatabase, project: str) -> None:
    with pytest.raises(CommandError, match="There is no table"):
        run(table, project, "--dsn", table.dsn, "--table", "nothing", "--once")


def test_no_usage_error_is_raised_for_what_is_right(table: ObanDatabase, project: str) -> None:
    try:
        run(table, project, "--dsn", table.dsn, "--once")
    except commands.UsageError:
        pytest.fail("refused")


@dataclass
class Following:
    """A follower in a thread of its own."""

    target: Target
    said: list[str] = field(default_factory=list)
    stop: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread | None = None

    def start(self) -> None:
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self) -> None:
        try:
            oban_loop.follow(self.target, self.said.append, self.stop, 0.05)
        finally:
            connections["default"].close()

    def end(self) -> None:
        self.stop.set()
        if self.thread is not None:
            self.thread.join(PATIENCE_S)
            assert not self.thread.is_alive()


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert holds()


@pytest.fixture
def following(sqlite_database: Database) -> Iterator[Callable[[Target], Following]]:
    started: list[Following] = []

    def start(target: Target) -> Following:
        started.append(Following(target))
        started[-1].start()
        return started[-1]

    yield start
    for one in started:
        one.end()
    connections["default"].close()


def count(project: Any, what: str = "observe") -> int:
    return Receipt.objects.filter(project_id=project.id, kind=what).count()


def test_a_follower_survives_a_server_that_is_killed_and_comes_back(
    following: Callable[[Target], Following], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(oban_loop, "FIRST_PAUSE_S", 0.05)
    project = factories.make_project()
    with closing(servers.Postgres()) as server:
        server.start().execute(oban.ddl("public", "oban_jobs", 14))
        server.execute(INSERT)
        follower = following(Target(project.id, "prod-1", server.url))
        wait_until(lambda: "1 new." in follower.said)
        server.kill()
        wait_until(lambda: any("cannot be reached" in line for line in follower.said))
        server.start().execute(INSERT)
        wait_until(lambda: follower.said.count("1 new.") == 2)
        follower.end()

    assert "The next try is in" in " ".join(follower.said)
    assert not any("Traceback" in line or "password" in line for line in follower.said)


def test_a_follower_goes_on_after_its_session_was_ended(
    table: ObanDatabase, following: Callable[[Target], Following], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(oban_loop, "FIRST_PAUSE_S", 0.05)
    project = factories.make_project()
    table.insert()
    follower = following(Target(project.id, "prod-1", table.dsn, table.schema))
    wait_until(lambda: "1 new." in follower.said)

    table.connection.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE application_name = 'counterfoil oban_sync'"
    )
    wait_until(lambda: any("cannot be reached" in line for line in follower.said))
    table.insert()

    wait_until(lambda: follower.said.count("1 new.") == 2)


def test_a_follower_that_is_told_to_stop_closes_its_spool(
    table: ObanDatabase, following: Callable[[Target], Following]
) -> None:
    project = factories.make_project()
    table.insert()
    follower = following(Target(project.id, "prod-1", table.dsn, table.schema))
    wait_until(lambda: "1 new." in follower.said)
    before = count(project)

    follower.end()

    assert count(project) >= before
    assert count(project) >= 2
