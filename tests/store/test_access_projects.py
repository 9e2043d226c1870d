from __future__ import annotations

import pytest

from access import errors, queries, store
from access.domain.names import BadName
from access.rows import ProjectRow
from tests import factories
from tests.cast import Cast
from tests.factories import TESTER

pytestmark = pytest.mark.django_db


def rename(project: ProjectRow, slug: str) -> ProjectRow:
    return store.rename_project(project.id, slug=slug, actor=TESTER)


def test_an_origin_is_the_installation_and_a_random_log_id() -> None:
    project = factories.make_project()

    installation, log_id = store.get_installation_id(), project.log_id

    assert project.origin == f"counterfoil.invalid/{installation}/{log_id}"
    assert (len(installation), len(log_id)) == (16, 16)


def test_an_origin_begins_with_the_setting_where_there_is_one(settings) -> None:
    settings.LOG_ORIGIN = "logs.example/ours"

    project = factories.make_project()

    assert project.origin == f"logs.example/ours/{project.log_id}"


def test_the_installation_id_is_made_once() -> None:
    assert store.get_installation_id() == store.get_installation_id()


def test_no_rename_changes_an_origin() -> None:
    project = factories.make_project("acme")

    renamed = store.rename_project(project.id, slug="acme-2", name="Acme, Inc.", actor=TESTER)

    assert (renamed.slug, renamed.name) == ("acme-2", "Acme, Inc.")
    assert (renamed.origin, renamed.log_id) == (project.origin, project.log_id)


def test_a_project_is_found_by_every_slug_it_ever_had(cast: Cast) -> None:
    for slug in ("second", "third"):
        rename(cast.project, slug)

    found = [queries.find_project(cast.bob, slug) for slug in ("acme", "second", "third")]

    assert [project and project.slug for project in found] == ["third"] * 3


def test_an_old_slug_is_never_given_to_another_project() -> None:
    rename(factories.make_project("acme"), "acme-2")

    with pytest.raises(errors.SlugTaken):
        factories.make_project("acme")


def test_a_project_cannot_be_renamed_to_the_old_slug_of_another() -> None:
    rename(factories.make_project("acme"), "acme-2")
    other = factories.make_project("other")

    with pytest.raises(errors.SlugTaken):
        rename(other, "acme")

    assert queries.get_project(other.id).slug == "other"


def test_a_project_may_take_its_own_old_slug_back() -> None:
    project = factories.make_project("acme")
    rename(project, "acme-2")

    assert rename(project, "acme").slug == "acme"


def test_a_refused_slug_leaves_no_project_behind() -> None:
    factories.make_project("acme")

    for slug in ("acme", "No Good"):
        with pytest.raises((errors.SlugTaken, BadName)):
            factories.make_project(slug)

    assert [project.slug for project in queries.all_projects()] == ["acme"]


def test_a_stranger_finds_neither_the_project_nor_a_right_in_it(cast: Cast) -> None:
    assert queries.find_project(cast.charlie, "acme") is None
    assert queries.rights_of(cast.charlie.id, cast.project.id) == frozenset()
    assert [project.slug for project in queries.projects_of(cast.charlie.id)] == ["elsewhere"]


def test_looking_for_a_project_costs_a_stranger_the_same_one_query(
    cast: Cast, django_assert_num_queries
) -> None:
    for slug in ("acme", "no-such-project"):
        with django_assert_num_queries(1):
            queries.find_membership(cast.charlie.id, slug)
