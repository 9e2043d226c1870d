from __future__ import annotations

import logging
import re

import pytest
from django.contrib.sessions.models import Session
from django.test import Client

from access import queries, store
from access.models import Action
from access.rows import UserRow
from access.store import logins
from tests import factories
from tests.cast import Cast
from tests.factories import TESTER

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse battery"


@pytest.fixture
def alice(settings) -> UserRow:
    # The real hasher takes a good part of a second by design.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    user = factories.make_user("alice")
    store.set_password(user.id, PASSWORD, actor=TESTER)
    return user


def log_in(client: Client, password: str = PASSWORD, **given: str):
    return client.post("/login", {"username": "alice", "password": password, **given})


def is_logged_in(client: Client) -> bool:
    return client.get("/projects").status_code == 200


def test_a_link_shows_a_button_and_does_nothing_yet(cast: Cast) -> None:
    link = store.create_login_link(cast.alice.id, actor=TESTER)
    client = Client()

    response = client.get(link.path)

    assert response.status_code == 200
    assert f'action="{link.path}"' in response.content.decode()
    assert not is_logged_in(client)
    assert queries.find_login_link(link.secret)


def test_pressing_the_button_logs_in_once(cast: Cast) -> None:
    link = store.create_login_link(cast.alice.id, actor=TESTER)
    first, second = Client(), Client()

    answers = [client.post(link.path).status_code for client in (first, second)]

    assert answers == [302, 410]
    assert (is_logged_in(first), is_logged_in(second)) == (True, False)


def test_the_button_needs_the_csrf_token(cast: Cast) -> None:
    link = store.create_login_link(cast.alice.id, actor=TESTER)

    response = Client(enforce_csrf_checks=True).post(link.path)

    assert response.status_code == 403
    assert queries.find_login_link(link.secret)


@pytest.mark.parametrize("secret", ["nope", "a" * 52, "%00", "a" * 5000, "%ED%A0%80"])
def test_a_link_that_never_was_is_of_no_use(db: None, secret: str) -> None:
    client = Client()

    assert client.get(f"/login/link/{secret}").status_code == 410
    assert client.post(f"/login/link/{secret}").status_code == 410


def test_a_link_is_kept_out_of_caches_and_referrers(cast: Cast) -> None:
    link = store.create_login_link(cast.alice.id, actor=TESTER)

    response = Client().get(link.path)

    assert "no-store" in response.headers["Cache-Control"]
    assert response.headers["Referrer-Policy"] == "same-origin"


def test_logging_in_gives_a_new_session_in_a_cookie_that_scripts_cannot_read(cast: Cast) -> None:
    link = store.create_login_link(cast.alice.id, actor=TESTER)
    client = Client()

    cookie = client.post(link.path).cookies["sessionid"]

    assert (cookie["httponly"], cookie["samesite"]) == (True, "Lax")


def test_behind_https_the_session_cookie_is_secure(cast: Cast, settings) -> None:
    settings.SESSION_COOKIE_SECURE = True
    link = store.create_login_link(cast.alice.id, actor=TESTER)

    assert Client().post(link.path, secure=True).cookies["sessionid"]["secure"] is True


def test_logging_in_is_recorded_without_the_secret(cast: Cast) -> None:
    link = store.create_login_link(cast.alice.id, actor=TESTER)
    Client().post(link.path)

    action = Action.objects.latest("id")

    assert (action.verb, action.actor_label, action.reason) == ("login", "alice", "link")
    assert link.secret not in repr(list(Action.objects.values_list()))


def test_a_right_password_logs_in(alice: UserRow) -> None:
    client = Client()

    assert log_in(client).status_code == 302
    assert is_logged_in(client)


@pytest.mark.parametrize(
    ("username", "password"),
    [("alice", "wrong"), ("nobody", PASSWORD), ("alice", ""), ("alice\x00", PASSWORD)],
)
def test_a_wrong_name_or_password_does_not(alice: UserRow, username: str, password: str) -> None:
    client = Client()

    response = client.post("/login", {"username": username, "password": password})

    assert response.status_code == 422
    assert not is_logged_in(client)


def test_a_wrong_name_and_a_wrong_password_are_told_alike(alice: UserRow) -> None:
    answers = [
        Client().post("/login", {"username": name, "password": "wrong"}).context["form"].errors
        for name in ("alice", "nobody")
    ]

    assert answers[0] == answers[1]


def test_a_person_without_a_password_cannot_log_in_by_an_empty_one(alice: UserRow) -> None:
    factories.make_user("bob")

    for password in ("", "!", "None"):
        response = Client().post("/login", {"username": "bob", "password": password})
        assert response.status_code == 422


def test_too_many_wrong_passwords_shut_out_the_right_one_too(alice: UserRow) -> None:
    client = Client()
    for _ in range(logins.ATTEMPTS_PER_ADDRESS):
        assert log_in(client, "wrong").status_code == 422

    assert log_in(client).status_code == 429
    assert not is_logged_in(client)


def test_a_password_is_in_no_log_line(alice: UserRow, caplog) -> None:
    caplog.set_level(logging.DEBUG)

    log_in(Client(), "a wrong secret")
    log_in(Client())

    assert PASSWORD not in caplog.text
    assert "a wrong secret" not in caplog.text


@pytest.mark.parametrize(
    ("wanted", "given"),
    [
        ("/p/acme/receipts?q=a", "/p/acme/receipts?q=a"),
        ("", "/"),
        ("//evil.example", "/"),
        ("https://evil.example/", "/"),
        ("/\\evil.example", "/"),
        ("javascript:alert(1)", "/"),
    ],
)
def test_after_logging_in_the_way_leads_to_our_own_pages_alone(
    alice: UserRow, wanted: str, given: str
) -> None:
    response = log_in(Client(), next=wanted)

    assert response.headers["Location"] == given


def test_logging_out_ends_the_session_in_the_database(cast: Cast) -> None:
    browser = cast.browser(cast.alice)
    key = browser.cookies["sessionid"].value

    assert browser.post("/logout").status_code == 302

    assert not Session.objects.filter(session_key=key).exists()
    assert not is_logged_in(browser)


def test_a_spent_link_leads_to_the_password_form(cast: Cast) -> None:
    page = Client().get("/login/link/nope").content.decode()

    assert "used already, has expired or never existed" in page
    assert 'name="password"' in page


def test_nobody_is_logged_out_by_a_link(cast: Cast) -> None:
    browser = cast.browser(cast.alice)

    assert browser.get("/logout").status_code == 405
    assert is_logged_in(browser)


def test_a_new_password_ends_other_sessions(alice: UserRow) -> None:
    client = Client()
    log_in(client)

    store.set_password(alice.id, "another password", actor=TESTER)

    assert not is_logged_in(client)


@pytest.mark.parametrize("theme", ["auto", "light", "dark"])
def test_a_theme_is_kept_in_a_cookie(db: None, theme: str) -> None:
    response = Client().post("/preferences", {"theme": theme, "next": "/projects"})

    assert response.cookies["theme"].value == theme
    assert response.headers["Location"] == "/projects"


def test_a_theme_leads_to_no_other_site(db: None) -> None:
    response = Client().post("/preferences", {"theme": "dark", "next": "//evil.example"})

    assert response.headers["Location"] == "/"


def test_a_word_that_is_no_theme_sets_no_cookie(db: None) -> None:
    response = Client().post("/preferences", {"theme": "</script>", "next": "/"})

    assert response.status_code == 422
    assert "theme" not in response.cookies


def test_the_log_in_page_carries_where_to_go(db: None) -> None:
    page = Client().get("/login?next=/p/acme/tokens").content.decode()

    hidden = re.findall(r'<input[^>]*name="next"[^>]*>', page)

    assert any('value="/p/acme/tokens"' in field for field in hidden)
