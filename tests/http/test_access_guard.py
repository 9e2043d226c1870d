from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from asgiref.sync import async_to_sync
from django.test import AsyncClient, Client, RequestFactory

from access import errors, guard, queries, store
from access.domain import rights
from tests import factories
from tests.cast import Cast
from tests.factories import TESTER

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.http.guarded")]

EVERY_RIGHT = sorted(rights.RIGHTS)
ONE_REQUEST = {"X-Request-ID": "the-same-request"}


def denied_of(cast: Cast) -> list[tuple[str, str, str]]:
    found = queries.actions(cast.project.id, 100)
    return [(row.actor.label, row.verb, row.target) for row in found if row.outcome == "denied"]


@pytest.mark.parametrize("right", EVERY_RIGHT)
@pytest.mark.parametrize("role", sorted(rights.ROLES))
def test_a_member_reaches_just_the_pages_of_the_role(cast: Cast, role: str, right: str) -> None:
    member = factories.make_member(cast.project, role)

    response = cast.browser(member).get(f"/p/acme/{right}")

    assert response.status_code == (200 if right in rights.ROLES[role] else 403)


@pytest.mark.parametrize("right", EVERY_RIGHT)
@pytest.mark.parametrize("scope", sorted(rights.SCOPES))
def test_a_token_reaches_just_the_pages_of_its_scope(cast: Cast, scope: str, right: str) -> None:
    response = cast.program(scope).get(f"/p/acme/{right}")

    assert response.status_code == (200 if right in rights.SCOPES[scope] else 403)


@pytest.mark.parametrize("right", EVERY_RIGHT)
@pytest.mark.parametrize("suffix", ["", ".json"])
def test_a_stranger_is_answered_as_if_there_were_no_project(
    cast: Cast, right: str, suffix: str
) -> None:
    stranger = cast.browser(cast.charlie)

    real = stranger.get(f"/p/acme/{right}{suffix}", headers=ONE_REQUEST)
    unreal = stranger.get(f"/p/nope/{right}{suffix}", headers=ONE_REQUEST)

    assert (real.status_code, unreal.status_code) == (404, 404)
    assert real.content.replace(b"acme", b"nope") == unreal.content
    assert real.headers == unreal.headers


def test_a_stranger_is_not_recorded_in_the_project(cast: Cast) -> None:
    cast.browser(cast.charlie).get("/p/acme/manage")

    assert denied_of(cast) == []


def test_a_token_of_another_project_is_a_stranger(cast: Cast) -> None:
    _, text = factories.make_token(cast.elsewhere, "admin")
    program = Client(headers={"authorization": f"Bearer {text}", **ONE_REQUEST})

    real, unreal = program.get("/p/acme/read"), program.get("/p/nope/read")

    assert (real.status_code, real.content) == (404, unreal.content)
    assert real.headers["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("slug", ["acme", "nope"])
def test_somebody_not_logged_in_is_sent_to_the_log_in_page_and_back(cast: Cast, slug: str) -> None:
    response = Client().get(f"/p/{slug}/read?q=a&b=c")

    assert response.status_code == 302
    assert response.headers["Location"] == f"/login?next=%2Fp%2F{slug}%2Fread%3Fq%3Da%26b%3Dc"


@pytest.mark.parametrize("address", ["/p/acme/read.json", "/p/nope/read.json", "/api/v1/thing"])
def test_a_program_without_a_token_gets_a_problem(cast: Cast, address: str) -> None:
    response = Client().get(address)

    assert response.status_code == 401
    assert response.headers["Content-Type"] == "application/problem+json"
    assert json.loads(response.content)["code"] == "unauthenticated"


@pytest.mark.parametrize(
    "header",
    ["Bearer", "Bearer ", "bearer cf_nope", "Bearer  cf_abc", "Bearer \x00", "Bearer a b"],
)
def test_a_bearer_without_a_usable_token_is_refused_and_the_session_not_looked_at(
    cast: Cast, header: str
) -> None:
    browser = cast.browser(cast.alice)

    response = browser.get("/p/acme/read", headers={"authorization": header})

    assert response.status_code == 401
    assert response.headers["WWW-Authenticate"] == "Bearer"


def test_an_expired_and_a_revoked_token_are_refused_alike(cast: Cast) -> None:
    long_ago = datetime.now(UTC) - timedelta(days=1)
    _, expired = factories.make_token(cast.project, "read", expires_at=long_ago)
    listing, revoked = factories.make_token(cast.project, "read")
    store.revoke_token(cast.project.id, listing.id, actor=TESTER)

    bodies = {
        Client(headers={"authorization": f"Bearer {text}", **ONE_REQUEST})
        .get("/p/acme/read")
        .content
        for text in (expired, revoked, "cf_unknown")
    }

    assert len(bodies) == 1


def test_a_member_without_the_right_is_told_so_and_recorded(cast: Cast) -> None:
    response = cast.browser(cast.bob).get("/p/acme/manage")

    assert response.status_code == 403
    assert denied_of(cast) == [("bob", "right.manage", "GET /p/acme/manage")]


def test_a_token_without_the_right_gets_a_problem_and_is_recorded(cast: Cast) -> None:
    response = cast.program("read").post("/p/acme/redrive")

    assert (response.status_code, json.loads(response.content)["code"]) == (403, "forbidden")
    assert denied_of(cast) == [("a token", "right.redrive", "POST /p/acme/redrive")]


def test_a_view_may_ask_for_one_more_right(cast: Cast) -> None:
    assert cast.browser(cast.alice).get("/p/acme/twice").content == b"approved"
    assert cast.browser(cast.bob).get("/p/acme/twice").status_code == 403
    assert denied_of(cast) == [("bob", "right.approve", "GET /p/acme/twice")]


def test_an_old_slug_leads_a_member_to_the_new_one(cast: Cast) -> None:
    store.rename_project(cast.project.id, slug="acme-2", actor=TESTER)

    response = cast.browser(cast.bob).get("/p/acme/read?q=/p/acme&x=1")

    assert response.status_code == 301
    assert response.headers["Location"] == "/p/acme-2/read?q=/p/acme&x=1"


def test_an_old_slug_keeps_the_method_of_a_post(cast: Cast) -> None:
    store.rename_project(cast.project.id, slug="acme-2", actor=TESTER)

    response = cast.program("operate").post("/p/acme/redrive")

    assert (response.status_code, response.headers["Location"]) == (308, "/p/acme-2/redrive")


def test_an_old_slug_tells_a_stranger_nothing(cast: Cast) -> None:
    store.rename_project(cast.project.id, slug="acme-2", actor=TESTER)

    assert cast.browser(cast.charlie).get("/p/acme/read").status_code == 404


def test_a_session_cannot_change_anything_without_the_csrf_token(cast: Cast) -> None:
    browser = cast.browser(cast.alice, checks_csrf=True)

    assert browser.get("/p/acme/manage").status_code == 200
    assert browser.post("/p/acme/manage").status_code == 403


def test_a_session_with_the_csrf_token_can(cast: Cast) -> None:
    browser = cast.browser(cast.alice, checks_csrf=True)
    browser.get("/login")
    token = browser.cookies["csrftoken"].value

    response = browser.post("/p/acme/manage", {"csrfmiddlewaretoken": token})

    assert response.status_code == 200


def test_a_token_needs_no_csrf_token(cast: Cast) -> None:
    assert cast.program("admin").post("/p/acme/manage").status_code == 200


def test_a_made_up_header_does_not_spare_a_session_the_csrf_token(cast: Cast) -> None:
    browser = cast.browser(cast.alice, checks_csrf=True)

    response = browser.post("/p/acme/manage", headers={"authorization": "Bearer nonsense"})

    assert response.status_code == 401


def test_the_password_of_a_proxy_is_not_ours(cast: Cast) -> None:
    browser = cast.browser(cast.alice, checks_csrf=True)
    basic = {"authorization": "Basic YWxpY2U6c2VjcmV0"}

    assert browser.get("/p/acme/read", headers=basic).status_code == 200
    assert browser.post("/p/acme/read", headers=basic).status_code == 403


def test_a_token_finds_its_project_where_the_address_names_none(cast: Cast) -> None:
    assert cast.program("read").get("/api/v1/thing").content == b"acme"
    assert cast.program("ingest").get("/api/v1/thing").status_code == 403


def test_a_session_is_no_token(cast: Cast) -> None:
    assert cast.browser(cast.alice).get("/api/v1/thing").status_code == 401


def test_the_use_of_a_token_is_noted(cast: Cast) -> None:
    cast.program("read").get("/p/acme/read")

    (token,) = queries.api_tokens(cast.project.id, datetime.now(UTC))
    assert token.last_used_at is not None


def test_a_token_in_steady_use_costs_no_write(cast: Cast, django_assert_num_queries) -> None:
    program = cast.program("read")
    program.get("/p/acme/read")

    with django_assert_num_queries(2) as asked:
        program.get("/p/acme/read")

    assert all(query["sql"].startswith("SELECT") for query in asked.captured_queries)


def test_an_async_view_is_guarded_the_same(cast: Cast) -> None:
    _, text = factories.make_token(cast.project, "read")
    get = async_to_sync(AsyncClient().get)

    answers = [
        get(address, headers={"authorization": f"Bearer {text}"}).status_code
        for address in ("/p/acme/live", "/p/acme/live/manage", "/p/nope/live")
    ]

    assert answers == [200, 403, 404]


def test_a_view_without_a_guard_has_no_caller() -> None:
    with pytest.raises(errors.NotAdmitted):
        guard.get_caller(RequestFactory().get("/"))


def test_the_last_project_is_kept_in_a_cookie_for_the_front_page(cast: Cast) -> None:
    store.add_member(cast.elsewhere.id, cast.bob.id, role="viewer", actor=TESTER)
    browser = cast.browser(cast.bob)

    assert browser.get("/").headers["Location"] == "/projects"
    browser.get("/p/elsewhere/read")

    assert browser.get("/").headers["Location"] == "/p/elsewhere/"
