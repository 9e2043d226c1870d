from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from django.test import Client

from access import queries, store
from access.domain import rights
from access.models import Action
from tests import factories
from tests.cast import Cast
from tests.factories import TESTER

pytestmark = pytest.mark.django_db

ONE_REQUEST = {"X-Request-ID": "the-same-request"}
ROUTES = [
    ("get", "tokens"),
    ("get", "tokens.json"),
    ("post", "tokens"),
    ("post", "tokens/1/revoke"),
    ("get", "members"),
    ("get", "members.json"),
    ("post", "members"),
    ("post", "members/1/remove"),
]

READABLE = [("get", "members"), ("get", "members.json")]


def tokens_of(cast: Cast) -> list[str]:
    return [token.name for token in queries.api_tokens(cast.project.id, datetime.now(UTC))]


def roles_of(cast: Cast) -> dict[str, str]:
    return {member.username: member.role for member in queries.members(cast.project.id)}


@pytest.mark.parametrize(("method", "tail"), ROUTES)
def test_a_stranger_cannot_tell_a_project_from_none(cast: Cast, method: str, tail: str) -> None:
    stranger = cast.browser(cast.charlie)

    real = getattr(stranger, method)(f"/p/acme/{tail}", headers=ONE_REQUEST)
    unreal = getattr(stranger, method)(f"/p/nope/{tail}", headers=ONE_REQUEST)

    assert (real.status_code, unreal.status_code) == (404, 404)
    assert real.content.replace(b"acme", b"nope") == unreal.content


@pytest.mark.parametrize(("method", "tail"), [route for route in ROUTES if route not in READABLE])
@pytest.mark.parametrize("role", sorted(set(rights.ROLES) - {"admin"}))
def test_a_member_who_may_not_manage_is_refused(
    cast: Cast, role: str, method: str, tail: str
) -> None:
    member = factories.make_member(cast.project, role)

    assert getattr(cast.browser(member), method)(f"/p/acme/{tail}").status_code == 403


@pytest.mark.parametrize(("method", "tail"), READABLE)
def test_every_member_may_see_who_else_is_one(cast: Cast, method: str, tail: str) -> None:
    assert b"alice" in getattr(cast.browser(cast.bob), method)(f"/p/acme/{tail}").content


@pytest.mark.parametrize(("method", "tail"), ROUTES)
def test_somebody_not_logged_in_is_not_told_either(cast: Cast, method: str, tail: str) -> None:
    real = getattr(Client(), method)(f"/p/acme/{tail}", headers=ONE_REQUEST)
    unreal = getattr(Client(), method)(f"/p/nope/{tail}", headers=ONE_REQUEST)

    assert real.status_code in (302, 401)
    assert real.status_code == unreal.status_code
    assert real.content.replace(b"acme", b"nope") == unreal.content


def test_the_list_of_projects_is_ones_own(cast: Cast) -> None:
    response = cast.browser(cast.charlie).get("/projects")

    assert [project.slug for project in response.context["projects"]] == ["elsewhere"]
    assert b"acme" not in response.content


def test_the_front_page_leads_to_the_only_project(cast: Cast) -> None:
    assert cast.browser(cast.alice).get("/").headers["Location"] == "/p/acme/"


def test_the_front_page_leads_somebody_without_a_project_to_the_empty_list(db: None) -> None:
    browser = Client()
    browser.force_login(factories.get_user_model_of(factories.make_user()))

    assert browser.get("/").headers["Location"] == "/projects"
    assert browser.get("/projects").status_code == 200


def test_the_front_page_asks_a_stranger_to_log_in(db: None) -> None:
    assert Client().get("/").headers["Location"] == "/login"


def test_a_new_token_is_shown_once(cast: Cast) -> None:
    browser = cast.browser(cast.alice)

    made = browser.post("/p/acme/tokens", {"name": "payouts", "scope": "ingest"})
    later = browser.get("/p/acme/tokens")

    text = made.context["new_token"]["secret"]
    assert made.status_code == 201
    assert text in made.content.decode()
    assert "no-store" in made.headers["Cache-Control"]
    assert text.rpartition("_")[2] not in later.content.decode()
    assert "payouts" in later.content.decode()


def test_a_new_token_takes_its_life_and_source_from_the_form(cast: Cast) -> None:
    form = {"name": "n", "scope": "read", "expires": "90d", "source": "oban/prod-1"}

    cast.browser(cast.alice).post("/p/acme/tokens", form)

    (token,) = queries.api_tokens(cast.project.id, datetime.now(UTC))
    assert token.expires_at is not None
    assert (token.expires_at - token.created_at).days in (89, 90)
    assert (token.source, token.scope, token.created_by) == ("oban/prod-1", "read", "alice")


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": ""},
        {"name": "a\x00"},
        {"name": "a" * 101},
        {"scope": "root"},
        {"expires": "soon"},
        {"source": "oban"},
        {"source": "o b/a"},
    ],
)
def test_a_wrong_form_makes_no_token(cast: Cast, wrong: dict[str, str]) -> None:
    form = {"name": "n", "scope": "read", **wrong}

    response = cast.browser(cast.alice).post("/p/acme/tokens", form)

    assert response.status_code == 422
    assert tokens_of(cast) == []


def test_a_token_is_revoked_from_the_page(cast: Cast) -> None:
    listing, text = factories.make_token(cast.project)

    cast.browser(cast.alice).post(f"/p/acme/tokens/{listing.id}/revoke", {"reason": "leaked"})

    assert queries.find_token(text) is None
    assert Action.objects.latest("id").reason == "leaked"


def test_a_token_of_another_project_is_not_there_to_be_revoked(cast: Cast) -> None:
    listing, text = factories.make_token(cast.elsewhere)

    response = cast.browser(cast.alice).post(f"/p/acme/tokens/{listing.id}/revoke")

    assert response.status_code == 404
    assert queries.find_token(text) is not None


def test_the_tokens_as_json_hold_no_secret(cast: Cast) -> None:
    listing, text = factories.make_token(cast.project, "read", source="oban/prod-1")

    body = cast.program("admin").get("/p/acme/tokens.json").content.decode()

    items = {item["id"]: item for item in json.loads(body)["items"]}
    assert items[listing.id]["prefix"] == listing.prefix
    assert items[listing.id]["source"] == "oban/prod-1"
    assert text not in body
    assert "hash" not in body


def test_a_member_is_added_by_user_name(cast: Cast) -> None:
    browser = cast.browser(cast.alice)

    response = browser.post("/p/acme/members", {"user": "charlie", "role": "auditor"})

    assert response.status_code == 302
    assert roles_of(cast) == {"alice": "admin", "bob": "viewer", "charlie": "auditor"}


@pytest.mark.parametrize("form", [{"user": "nobody"}, {"user": "\0"}, {"role": "root"}])
def test_a_wrong_form_adds_no_member(cast: Cast, form: dict[str, str]) -> None:
    given = {"user": "charlie", "role": "viewer", **form}

    response = cast.browser(cast.alice).post("/p/acme/members", given)

    assert response.status_code == 422
    assert roles_of(cast) == {"alice": "admin", "bob": "viewer"}


def test_a_role_is_changed_from_the_page(cast: Cast) -> None:
    form = {"user": "bob", "role": "operator"}

    response = cast.browser(cast.alice).post("/p/acme/members", form)

    assert response.status_code == 302
    assert roles_of(cast)["bob"] == "operator"


def test_a_removed_member_is_a_stranger_at_once(cast: Cast) -> None:
    store.change_role(cast.project.id, cast.bob.id, role="admin", actor=TESTER)
    bob = cast.browser(cast.bob)
    assert bob.get("/p/acme/tokens").status_code == 200

    cast.browser(cast.alice).post(f"/p/acme/members/{cast.bob.id}/remove")

    assert bob.get("/p/acme/tokens").status_code == 404


@pytest.mark.parametrize("tail", ["/remove", ""])
def test_the_last_admin_stays(cast: Cast, tail: str) -> None:
    address = "/p/acme/members" + (f"/{cast.alice.id}{tail}" if tail else "")

    response = cast.browser(cast.alice).post(address, {"user": "alice", "role": "viewer"})

    assert response.status_code == 409
    assert "at least one admin" in response.content.decode()
    assert roles_of(cast)["alice"] == "admin"


def test_an_admin_who_leaves_lands_on_the_list_of_projects(cast: Cast) -> None:
    store.change_role(cast.project.id, cast.bob.id, role="admin", actor=TESTER)

    response = cast.browser(cast.bob).post(f"/p/acme/members/{cast.bob.id}/remove")

    assert response.headers["Location"] == "/projects"


def test_somebody_who_is_no_member_is_not_there_to_be_removed(cast: Cast) -> None:
    address = f"/p/acme/members/{cast.charlie.id}/remove"

    assert cast.browser(cast.alice).post(address).status_code == 404


def test_members_are_given_as_json_with_their_rights(cast: Cast) -> None:
    body = cast.browser(cast.alice).get("/p/acme/members.json").json()

    assert [item["username"] for item in body["items"]] == ["alice", "bob"]
    assert body["items"][1]["rights"] == ["read"]


def test_projects_are_given_as_json(cast: Cast) -> None:
    body = cast.browser(cast.alice).get("/projects.json").json()

    assert body["items"] == [{"slug": "acme", "name": "acme", "role": "admin"}]


@pytest.mark.parametrize("tail", ["members/{}/remove", "tokens/{}/revoke"])
def test_a_number_that_no_row_can_have_is_not_found(cast: Cast, tail: str) -> None:
    address = f"/p/acme/{tail.format(2**63)}"

    assert cast.browser(cast.alice).post(address).status_code == 404
