from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.db import models

from access import errors, queries, store
from access.domain import rights
from access.domain.names import BadName
from access.models import Action, ApiToken
from tests import factories
from tests.cast import Cast
from tests.factories import TESTER

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def every_text_of(model: type[models.Model]) -> str:
    return repr(list(model._default_manager.values_list()))


@pytest.mark.parametrize("scope", sorted(rights.SCOPES))
def test_a_token_is_found_by_its_text_with_the_rights_of_its_scope(scope: str) -> None:
    project = factories.make_project()
    listing, text = factories.make_token(project, scope, source="oban/prod-1")

    found = queries.find_token(text)

    assert found is not None
    assert (found.token_id, found.project_id) == (listing.id, project.id)
    assert (found.project_slug, found.origin) == (project.slug, project.origin)
    assert found.rights == rights.SCOPES[scope]
    assert found.source == ("oban", "prod-1")


def test_a_token_without_a_source_gives_none() -> None:
    _, text = factories.make_token(factories.make_project())

    found = queries.find_token(text)

    assert found is not None and found.source is None


def test_what_is_stored_of_a_token_is_never_its_text() -> None:
    _, text = factories.make_token(factories.make_project())

    secret = text.rpartition("_")[2]

    assert secret not in every_text_of(ApiToken)
    assert secret not in every_text_of(Action)


def test_a_token_with_one_other_letter_is_not_found() -> None:
    _, text = factories.make_token(factories.make_project())
    other = text[:-1] + ("a" if text[-1] != "a" else "b")

    assert queries.find_token(other) is None


@pytest.mark.parametrize(
    ("after", "is_found"), [(-SECOND, True), (timedelta(0), False), (SECOND, False)]
)
def test_a_token_ends_at_the_moment_of_its_expiry(after: timedelta, is_found: bool) -> None:
    project = factories.make_project()
    _, text = factories.make_token(project, expires_at=NOON)

    with time_machine.travel(NOON + after, tick=False):
        found = queries.find_token(text)

    assert (found is not None) == is_found


def test_a_revoked_token_is_not_found_and_stays_in_the_list() -> None:
    project = factories.make_project()
    listing, text = factories.make_token(project)

    assert store.revoke_token(project.id, listing.id, actor=TESTER, reason="leaked")

    assert queries.find_token(text) is None
    assert [token.state for token in queries.api_tokens(project.id, NOON)] == ["revoked"]


def test_a_second_revocation_changes_nothing() -> None:
    project = factories.make_project()
    listing, _ = factories.make_token(project)
    store.revoke_token(project.id, listing.id, actor=TESTER)
    before = queries.api_tokens(project.id, NOON)

    assert not store.revoke_token(project.id, listing.id, actor=TESTER)

    assert queries.api_tokens(project.id, NOON) == before
    assert [row.verb for row in queries.actions(project.id, 10)].count("token.revoke") == 1


def test_a_token_of_another_project_cannot_be_revoked(cast: Cast) -> None:
    listing, text = factories.make_token(cast.project)

    with pytest.raises(errors.NotFound):
        store.revoke_token(cast.elsewhere.id, listing.id, actor=TESTER)

    assert queries.find_token(text) is not None


def test_a_token_cannot_be_deleted_with_its_project() -> None:
    project = factories.make_project()
    factories.make_token(project)

    with pytest.raises(models.ProtectedError):
        ApiToken.objects.get().project.delete()


@pytest.mark.parametrize(
    ("after", "changed"), [(59 * SECOND, 0), (60 * SECOND, 1), (61 * SECOND, 1)]
)
def test_the_last_use_is_written_at_most_once_a_minute(after: timedelta, changed: int) -> None:
    listing, _ = factories.make_token(factories.make_project())
    store.touch_tokens([listing.id], NOON)

    assert store.touch_tokens([listing.id], NOON + after) == changed


def test_the_first_use_of_each_token_is_written() -> None:
    project = factories.make_project()
    ids = [factories.make_token(project)[0].id for _ in range(3)]

    assert store.touch_tokens(ids[:2], NOON) == 2

    used = {token.id: token.last_used_at for token in queries.api_tokens(project.id, NOON)}
    assert used == {ids[0]: NOON, ids[1]: NOON, ids[2]: None}


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"scope": "root"}, errors.UnknownScope),
        ({"source": "oban"}, BadName),
        ({"name": "  "}, BadName),
    ],
)
def test_a_token_that_makes_no_sense_is_refused(
    given: dict[str, str], error: type[Exception]
) -> None:
    project = factories.make_project()

    with pytest.raises(error):
        factories.make_token(project, **given)

    assert queries.api_tokens(project.id, NOON) == []
