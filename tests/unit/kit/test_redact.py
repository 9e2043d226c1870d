"""Secrets on their way out: what is hidden, and what stays readable."""

from __future__ import annotations

import json

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from kit import redact

SECRET = "s3cretS3cretS3cret"
OURS = "cf_ab2cd3ef_" + "abcdefgh2345" * 4 + "wxyz"

HIDDEN = {
    "an address": ("postgres://u:s3cretS3cretS3cret@db/x", "postgres://u:***@db/x"),
    "an address without a user": ("redis://:s3cretS3cretS3cret@h:6379/0", "redis://:***@h:6379/0"),
    "an @ in the password": ("pg://u:p@s3cretS3cretS3cret@h/x", "pg://u:***@h/x"),
    "a slash in the password": ("pg://u:p/s3cretS3cretS3cret@h/x", "pg://u:***@h/x"),
    "a token as the user": (
        "https://s3cretS3cretS3cret@git.example/r",
        "https://***@git.example/r",
    ),
    "two addresses": (
        "amqp://a:s3cretS3cretS3cret@h1 amqp://b:s3cretS3cretS3cret@h2",
        "amqp://a:***@h1 amqp://b:***@h2",
    ),
    "two addresses and a comma": (
        "redis://:s3cretS3cretS3cret@h1,redis://:x@h2",
        "redis://:***@h1,redis://:***@h2",
    ),
    "a query member": ("http://h/x?token=s3cretS3cretS3cret&a=1", "http://h/x?token=***&a=1"),
    "a connection string": (
        "host=db password=s3cretS3cretS3cret user=u",
        "host=db password=*** user=u",
    ),
    "a quoted setting": ("password='s3cret S3cretS3cret' x", "password=*** x"),
    "a setting with a prefix": ("MY_DB_PASSWORD=s3cretS3cretS3cret", "MY_DB_PASSWORD=***"),
    "a member of JSON": ('{"password": "s3cretS3cretS3cret", "a": 1}', '{"password": ***, "a": 1}'),
    "a header": ("Authorization: Bearer s3cretS3cretS3cret", "Authorization: ***"),
    "a basic header": ("authorization: Basic czNjcmV0UzNjcmV0", "authorization: ***"),
    "a digest header": (
        'Authorization: Digest username="u", response="s3cretS3cretS3cret"\nHost: h',
        "Authorization: ***\nHost: h",
    ),
    "a header in a dict": (
        "{'Authorization': 'Token s3cretS3cretS3cret', 'Accept': '*'}",
        "{'Authorization': ***, 'Accept': '*'}",
    ),
    "a header in a list of pairs": (
        "[(b'authorization', b'Token s3cretS3cretS3cret'), (b'a', b'b')]",
        "[(b'authorization', ***), (b'a', b'b')]",
    ),
    "JSON in a text": (
        r'"{\"password\": \"s3cretS3cretS3cret\", \"a\"}"',
        r'"{\"password\": ***, \"a\"}"',
    ),
    "a comma in a setting": ("password=a,s3cretS3cretS3cret x", "password=*** x"),
    "a bearer alone": ("sent Bearer s3cretS3cretS3cret to us", "sent Bearer *** to us"),
    "our token": (f"token {OURS} is wrong", "token cf_ab2cd3ef_*** is wrong"),
    "our token in an address": (f"/ping/{OURS}?x=1", "/ping/cf_ab2cd3ef_***?x=1"),
    "an odd token of ours": ("cf_" + "A1" * 12, "cf_***"),
}


@pytest.mark.parametrize(("text", "shown"), HIDDEN.values(), ids=HIDDEN.keys())
def test_a_secret_is_hidden(text: str, shown: str) -> None:
    assert redact.text(text) == shown
    assert SECRET not in shown


@pytest.mark.parametrize(("text", "shown"), HIDDEN.values(), ids=HIDDEN.keys())
def test_hiding_again_changes_nothing(text: str, shown: str) -> None:
    assert redact.text(shown) == shown


PLAIN = (
    "https://host:8443/path?page=2",
    "http://localhost:8000/@user",
    "ssh://git@host/repo.git",
    "sqlite:///var/x.db",
    "key.scope:exec_a1 kind:skip",
    "the token has expired",
    "authorization failed",
    "no authorization, please try again",
    "key-value token: ***, and more",
    "cf_ab2cd3ef",
    "oban/prod-1/101",
    "2026-10-05T09:00:30Z",
    "someone@example.org wrote",
)


@pytest.mark.parametrize("text", PLAIN)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact.text(text) == text


def test_an_address_with_a_password_is_recognised() -> None:
    assert redact.has_password("redis://:x@h/0")
    assert redact.has_password("host=db password=x")
    assert not redact.has_password("redis://h:6379/0")
    assert not redact.has_password("postgresql:///test?host=/run/postgresql")


@pytest.mark.parametrize(
    "name",
    ["password", "Authorization", "set-cookie", "api_key", "HTTP_AUTHORIZATION", "SECRET_KEY"],
)
def test_a_member_is_hidden_by_its_name(name: str) -> None:
    event = redact.processor(None, "info", {"headers": {name: SECRET}, name: SECRET})

    assert SECRET not in json.dumps(event)


def test_other_members_and_numbers_stay() -> None:
    event = {"token_prefix": "ab2cd3ef", "key": "a", "tokens": 3, "id": "x", "ok": None, "f": 1.5}

    assert redact.processor(None, "info", dict(event)) == event


def test_secrets_are_found_at_depth_and_in_objects() -> None:
    class Odd:
        def __repr__(self) -> str:
            return f"<Odd redis://:{SECRET}@h>"

    deep: object = f"Bearer {SECRET}"
    for _ in range(20):
        deep = [deep]
    event = {
        "a": [{"b": (f"Bearer {SECRET}",)}],
        "deep": deep,
        "odd": Odd(),
        "bytes": OURS.encode(),
    }
    event["error"] = ValueError(f"redis://:{SECRET}@h is down")

    shown = str(redact.processor(None, "info", event))

    assert SECRET not in shown
    assert OURS not in shown
    assert "is down" in shown


def test_a_traceback_is_covered_behind_the_formatter() -> None:
    chain = [structlog.processors.format_exc_info, redact.processor]
    try:
        raise ValueError(f"postgres://u:{SECRET}@h refused")
    except ValueError:
        event: structlog.typing.EventDict = {"event": "x", "exc_info": True}
        for step in chain:
            event = step(None, "error", event)

    assert "postgres://u:***@h refused" in event["exception"]
    assert SECRET not in str(event)


@given(st.text(st.characters(categories=["L", "N"]), min_size=8, max_size=30), st.text(max_size=20))
def test_a_password_of_letters_never_gets_out(secret: str, around: str) -> None:
    shown = redact.text(f"{around} amqp://user:{secret}@host {around}")

    assert f":{secret}@" not in shown


@pytest.mark.timeout(5)
@pytest.mark.parametrize(
    "piece", ["a", "a://", "a://b:c", "authorization:", "token_", "cf_", "'", "token  "]
)
def test_a_long_line_is_read_in_time(piece: str) -> None:
    redact.text(piece * (50_000 // len(piece)))
