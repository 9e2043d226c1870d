from __future__ import annotations

import pytest

from access import errors, queries, store
from access.domain import rights
from tests import factories
from tests.cast import Cast
from tests.factories import TESTER

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("role", sorted(rights.ROLES))
def test_a_member_has_the_rights_of_the_role(role: str) -> None:
    project = factories.make_project()

    user = factories.make_member(project, role)

    assert queries.rights_of(user.id, project.id) == rights.ROLES[role]


def test_a_role_in_one_project_is_none_in_another(cast: Cast) -> None:
    assert queries.rights_of(cast.alice.id, cast.elsewhere.id) == frozenset()


def test_the_last_admin_cannot_be_removed(cast: Cast) -> None:
    with pytest.raises(errors.LastAdmin):
        store.remove_member(cast.project.id, cast.alice.id, actor=TESTER)

    assert rights.MANAGE in queries.rights_of(cast.alice.id, cast.project.id)


def test_the_last_admin_cannot_be_made_less(cast: Cast) -> None:
    with pytest.raises(errors.LastAdmin):
        store.change_role(cast.project.id, cast.alice.id, role="operator", actor=TESTER)


def test_one_of_two_admins_can_go(cast: Cast) -> None:
    store.change_role(cast.project.id, cast.bob.id, role="admin", actor=TESTER)

    store.remove_member(cast.project.id, cast.alice.id, actor=TESTER)

    assert [member.username for member in queries.members(cast.project.id)] == ["bob"]


def test_nobody_is_a_member_twice(cast: Cast) -> None:
    with pytest.raises(errors.AlreadyMember):
        store.add_member(cast.project.id, cast.bob.id, role="admin", actor=TESTER)

    assert queries.rights_of(cast.bob.id, cast.project.id) == rights.ROLES["viewer"]


def test_a_stranger_cannot_be_removed(cast: Cast) -> None:
    with pytest.raises(errors.NotFound):
        store.remove_member(cast.project.id, cast.charlie.id, actor=TESTER)


def test_a_word_that_is_no_role_is_refused(cast: Cast) -> None:
    with pytest.raises(errors.UnknownRole):
        store.add_member(cast.project.id, cast.charlie.id, role="root", actor=TESTER)


def test_a_user_name_is_given_once(cast: Cast) -> None:
    with pytest.raises(errors.UsernameTaken):
        factories.make_user("alice")


def test_an_inactive_person_has_no_rights(cast: Cast) -> None:
    model = factories.get_user_model_of(cast.bob)
    model.is_active = False
    model.save()

    assert queries.rights_of(cast.bob.id, cast.project.id) == frozenset()
    assert queries.find_project(cast.bob, "acme") is None
