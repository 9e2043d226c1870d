"""The commands token, project, member, login_link and password."""

from __future__ import annotations

import io
import re
import sys
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from django.core.management import ManagementUtility, call_command
from django.core.management.base import CommandError

from access import queries, store
from access.domain import rights
from tests import factories
from tests.cast import Cast

pytestmark = pytest.mark.django_db


@dataclass
class Said:
    out: str
    err: str


def run(*words: str) -> Said:
    out, err = io.StringIO(), io.StringIO()
    call_command(*words, stdout=out, stderr=err)
    return Said(out.getvalue(), err.getvalue())


def test_a_token_is_alone_on_standard_output() -> None:
    factories.make_project("acme")

    said = run("token", "create", "--project", "acme", "--scope", "ingest", "--name", "n")

    assert re.fullmatch(r"cf_[a-z2-7]{8}_[a-z2-7]{52}\n", said.out)
    assert said.out.strip() not in said.err
    assert queries.find_token(said.out.strip()) is not None


def test_a_token_takes_its_life_and_its_source() -> None:
    factories.make_project("acme")
    words = ["--project=acme", "--scope=read", "--name=n", "--expires=90d", "--source=oban/prod-1"]

    token = queries.find_token(run("token", "create", *words).out.strip())

    assert token is not None and token.expires_at is not None
    assert token.source == ("oban", "prod-1")
    assert (token.expires_at - datetime.now(UTC)).days == 89


def test_a_token_may_make_its_project_and_finds_it_the_second_time() -> None:
    words = ["--project=new", "--scope=ingest", "--name=n", "--create-project"]

    for _ in range(2):
        run("token", "create", *words)

    assert [project.slug for project in queries.all_projects()] == ["new"]


def test_a_token_for_no_project_is_refused() -> None:
    with pytest.raises(CommandError, match="no project nope"):
        run("token", "create", "--project=nope", "--scope=ingest", "--name=n")


def test_tokens_are_listed_without_their_texts_and_revoked_by_prefix() -> None:
    project = factories.make_project("acme")
    listing, text = factories.make_token(project, name="payouts")

    said = run("token", "revoke", "--project=acme", f"--prefix={listing.prefix}", "--reason=leak")
    listed = run("token", "list", "--project=acme").out

    assert "is revoked" in said.out
    assert queries.find_token(text) is None
    assert listed.startswith(f"{listing.prefix}\tingest\trevoked\t")
    assert text not in listed


def test_an_unknown_prefix_revokes_nothing() -> None:
    factories.make_project("acme")

    with pytest.raises(CommandError, match="no one token"):
        run("token", "revoke", "--project=acme", "--prefix=nope")


def test_a_project_is_made_listed_and_renamed() -> None:
    run("project", "create", "acme", "--name", "Acme, Inc.")
    run("project", "rename", "acme", "--slug", "acme-2")

    (project,) = queries.all_projects()

    assert run("project", "list").out == f"acme-2\t{project.origin}\tAcme, Inc.\n"


@pytest.mark.parametrize("slug", ["No Good", "acme"])
def test_a_project_that_cannot_be_is_refused_in_one_line(slug: str) -> None:
    factories.make_project("acme")

    with pytest.raises(CommandError) as refused:
        run("project", "create", slug)

    assert "\n" not in str(refused.value)


def test_a_member_is_added_changed_listed_and_removed(cast: Cast) -> None:
    place = ["--project=acme", "--user=charlie"]

    run("member", "add", *place, "--role=auditor")
    run("member", "add", *place, "--role=operator")
    listed = run("member", "list", "--project=acme").out
    run("member", "remove", *place)

    assert "charlie\toperator\t" in listed
    assert queries.rights_of(cast.charlie.id, cast.project.id) == frozenset()


def test_the_last_admin_cannot_be_removed_by_command_either(cast: Cast) -> None:
    with pytest.raises(CommandError, match="at least one admin"):
        run("member", "remove", "--project=acme", "--user=alice")


def test_an_unknown_user_is_made_only_when_asked() -> None:
    factories.make_project("acme")
    words = ["member", "add", "--project=acme", "--user=dora", "--role=viewer"]

    with pytest.raises(CommandError, match="no user dora"):
        run(*words)
    run(*words, "--create")

    assert queries.find_user("dora") is not None


def test_a_log_in_link_is_alone_on_standard_output_and_works_once(settings) -> None:
    settings.BASE_URL = "https://ledger.example/"
    factories.make_user("alice")

    said = run("login_link")

    address, _, secret = said.out.strip().rpartition("/")
    assert address == "https://ledger.example/login/link"
    assert store.spend_login_link(secret).username == "alice"
    assert secret not in said.err


def test_a_first_admin_is_made_with_a_role_in_every_project() -> None:
    made = [factories.make_project(), factories.make_project()]

    run("login_link", "--user", "alice", "--create", "--role", "admin")

    alice = queries.find_user("alice")
    assert alice is not None
    for project in made:
        assert rights.MANAGE in queries.rights_of(alice.id, project.id)


def test_a_role_may_be_given_in_one_project_only() -> None:
    one, other = factories.make_project("one"), factories.make_project("other")

    run("login_link", "--user=alice", "--create", "--role=viewer", "--project=one")

    alice = queries.find_user("alice")
    assert alice is not None
    assert queries.rights_of(alice.id, one.id) == rights.ROLES["viewer"]
    assert queries.rights_of(alice.id, other.id) == frozenset()


def test_with_several_users_one_must_be_named(cast: Cast) -> None:
    with pytest.raises(CommandError, match="name one with --user"):
        run("login_link")


def test_a_password_comes_from_standard_input(monkeypatch) -> None:
    factories.make_user("alice")
    monkeypatch.setattr(sys, "stdin", io.StringIO("correct horse battery\n"))

    run("password", "--user", "alice")

    alice = queries.find_user("alice")
    assert alice is not None and alice.has_password


def test_a_short_password_is_refused(monkeypatch) -> None:
    factories.make_user("alice")
    monkeypatch.setattr(sys, "stdin", io.StringIO("short\n"))

    with pytest.raises(CommandError, match="at least 12"):
        run("password", "--user", "alice")


@pytest.mark.parametrize(
    "words",
    [
        ["token", "create", "--project=acme"],
        ["token", "create", "--project=acme", "--scope=root", "--name=n"],
        ["token", "create", "--project=acme", "--scope=read", "--name=n", "--expires=soon"],
        ["token", "create", "--project=acme", "--scope=read", "--name=n", "--source=oban"],
        ["token"],
        ["project", "rename", "acme"],
        ["member", "add", "--project=acme", "--user=u", "--role=root"],
        ["login_link", "--project=acme"],
        ["login_link", "--minutes=0"],
        ["password"],
    ],
)
def test_wrong_options_leave_with_3(words: list[str], capsys) -> None:
    assert leave_code(words) == 3
    assert capsys.readouterr().out == ""


def test_what_cannot_be_done_leaves_with_1_and_one_line(capsys, caplog) -> None:
    # The command closes its connection inside the test's transaction, which PostgreSQL's pool says.
    caplog.set_level("ERROR", logger="psycopg.pool")

    assert leave_code(["token", "list", "--project=nope"]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def leave_code(words: list[str]) -> object:
    with pytest.raises(SystemExit) as left:
        ManagementUtility(["manage.py", *words]).execute()
    return left.value.code
