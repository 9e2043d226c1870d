from __future__ import annotations

from typing import Any

import pytest

from access import queries, rows, store
from access.models import Action
from access.rows import ActionRow, Actor
from tests import factories
from tests.cast import Cast
from tests.factories import TESTER

pytestmark = pytest.mark.django_db

ALICE = Actor("person", "7", "Alice")


def newest(project_id: int | None) -> ActionRow:
    return rows.action_row(Action.objects.filter(project_id=project_id).latest("id"))


def test_a_rename_is_recorded_with_before_and_after(cast: Cast) -> None:
    store.rename_project(cast.project.id, slug="acme-2", actor=ALICE)

    action = newest(cast.project.id)

    assert (action.verb, action.target, action.outcome) == (
        "project.rename",
        "project:acme",
        "done",
    )
    assert action.actor == ALICE
    assert action.before == {"slug": "acme", "name": "acme"}
    assert action.after == {"slug": "acme-2", "name": "acme"}


def test_another_role_is_recorded_with_before_and_after(cast: Cast) -> None:
    store.change_role(cast.project.id, cast.bob.id, role="auditor", actor=ALICE)

    action = newest(cast.project.id)

    assert (action.verb, action.target) == ("member.role", "user:bob")
    assert (action.before, action.after) == ({"role": "viewer"}, {"role": "auditor"})


def test_a_removal_is_recorded_with_the_role_that_ended(cast: Cast) -> None:
    store.remove_member(cast.project.id, cast.bob.id, actor=ALICE)

    action = newest(cast.project.id)

    assert (action.verb, action.target) == ("member.remove", "user:bob")
    assert (action.before, action.after) == ({"role": "viewer"}, None)


def test_a_new_token_is_recorded_by_its_prefix_scope_and_source(cast: Cast) -> None:
    listing, _ = factories.make_token(cast.project, "ingest", source="oban/prod-1")

    action = newest(cast.project.id)

    assert (action.verb, action.target) == ("token.create", f"token:{listing.prefix}")
    assert action.after == {
        "name": "a token",
        "prefix": listing.prefix,
        "scope": "ingest",
        "source": "oban/prod-1",
        "expires_at": None,
    }


def test_a_revocation_is_recorded_with_its_reason(cast: Cast) -> None:
    listing, _ = factories.make_token(cast.project)

    store.revoke_token(cast.project.id, listing.id, actor=ALICE, reason="leaked in a log")

    action = newest(cast.project.id)
    assert (action.verb, action.reason) == ("token.revoke", "leaked in a log")


def test_what_changes_nothing_is_not_recorded(cast: Cast) -> None:
    before = Action.objects.count()

    store.rename_project(cast.project.id, slug="acme", actor=ALICE)
    store.change_role(cast.project.id, cast.bob.id, role="viewer", actor=ALICE)

    assert Action.objects.count() == before


def test_a_refused_change_leaves_no_action(cast: Cast) -> None:
    before = Action.objects.count()

    with pytest.raises(Exception, match="admin"):
        store.remove_member(cast.project.id, cast.alice.id, actor=ALICE)

    assert Action.objects.count() == before


def test_an_action_says_who_it_was_even_after_a_rename(cast: Cast) -> None:
    store.remove_member(cast.project.id, cast.bob.id, actor=ALICE)

    model = factories.get_user_model_of(cast.alice)
    model.display_name = "Somebody else"
    model.save()

    assert newest(cast.project.id).actor.label == "Alice"


def record(project_id: int, **given: Any) -> int:
    return store.record_action(project_id=project_id, actor=ALICE, verb="test", target="x", **given)


def test_undrained_actions_come_oldest_first_and_only_once() -> None:
    project = factories.make_project()
    store.mark_drained([row.id for row in queries.iter_undrained_actions(project.id, 100)])
    made = [record(project.id) for _ in range(3)]

    first = [row.id for row in queries.iter_undrained_actions(project.id, 2)]
    assert first == made[:2]
    assert store.mark_drained(first) == 2

    assert [row.id for row in queries.iter_undrained_actions(project.id, 2)] == made[2:]
    assert store.mark_drained(first) == 0


def test_a_projects_actions_are_nobody_elses(cast: Cast) -> None:
    record(cast.project.id)

    others = [row.target for row in queries.iter_undrained_actions(cast.elsewhere.id, 100)]

    assert "x" not in others


def test_text_that_a_database_cannot_hold_is_recorded_with_marks() -> None:
    project = factories.make_project()

    record(project.id, reason="a\x00b\ud800", after={"path": "\x00\udfff"})

    action = newest(project.id)
    assert action.reason == "a\ufffdb\ufffd"
    assert action.after == {"path": "\x00\udfff"}


def test_an_endless_target_is_cut() -> None:
    project = factories.make_project()

    store.record_action(project_id=project.id, actor=TESTER, verb="test", target="x" * 5000)

    assert len(newest(project.id).target) == 300
