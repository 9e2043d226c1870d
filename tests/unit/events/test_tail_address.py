"""Where a Redis is, and what of it is shown."""

from __future__ import annotations

import pytest

from events.integrations import grants
from events.integrations.redis_address import Address, BadAddress, read_address
from events.integrations.redis_link import ALLOWED, Link, NotPermitted


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("redis://cache", Address(host="cache")),
        ("redis://cache:6380/3", Address(host="cache", port=6380, database=3)),
        ("redis://u:p%40ss@cache/0", Address(host="cache", user="u", password="p@ss")),
        ("redis://:secret@cache", Address(host="cache", password="secret")),
        ("redis://[::1]:7000", Address(host="::1", port=7000)),
        ("rediss://cache?ssl_cert_reqs=none",
         Address(host="cache", is_encrypted=True, is_checked=False)),
        ("unix:///run/redis.sock?db=2", Address(path="/run/redis.sock", database=2)),
    ],
)  # fmt: skip
def test_an_address_is_read(text: str, meant: Address) -> None:
    assert read_address(text) == meant


@pytest.mark.parametrize(
    "text",
    ["", "cache:6379", "http://cache", "redis://cache:x", "redis://cache/a", "redis://c?retry=1",
     "redis://cache:99999999"],
)  # fmt: skip
def test_what_is_no_address_is_refused_without_being_repeated(text: str) -> None:
    with pytest.raises(BadAddress) as refused:
        read_address(text.replace("cache", "hunter2"))

    assert "hunter2" not in str(refused.value)


def test_an_address_shows_no_password() -> None:
    address = read_address("redis://u:hunter2@cache:6380/0")

    assert "hunter2" not in repr(address) + address.shown
    assert address.shown == "cache:6380"


@pytest.mark.parametrize(
    "words",
    [("PUBLISH", "a", "b"), ("SET", "a", "b"), ("CONFIG", "GET", "x"), ("CLIENT", "KILL", "x"),
     ("EVAL", "return 1", "0"), ("DEL", "a"), ("PUBSUB", "CHANNELS")],
)  # fmt: skip
def test_a_command_that_does_more_than_look_is_never_sent(words: tuple[str, ...]) -> None:
    link = Link.__new__(Link)

    with pytest.raises(ValueError, match="A tail does not send"):
        link.send(*words)


def test_the_line_that_makes_a_user_grants_each_command_that_is_sent() -> None:
    line = grants.line_of(["pad:events:*"], ["pad:event_seq"])

    assert "&pad:events:*" in line and "%R~pad:event_seq" in line and "-@all" in line
    granted = {word[1:].replace("|", " ").upper() for word in line.split() if word[0] == "+"}
    assert granted == ALLOWED - {"AUTH", "SELECT"}


@pytest.mark.parametrize(
    ("said", "words", "line"),
    [
        ("NOPERM this user has no permissions to access one of the channels used as arguments",
         ("PSUBSCRIBE", "pad:events:*"), "ACL SETUSER eve &pad:events:*"),
        ("NOPERM this user has no permissions to run the 'psubscribe' command",
         ("PSUBSCRIBE", "pad:events:*"), "ACL SETUSER eve +psubscribe"),
        ("NOPERM No permissions to access a key", ("GET", "k"), "ACL SETUSER eve %R~k"),
        ("NOPERM User eve has no permissions to run the 'xinfo|stream' command",
         ("XINFO", "STREAM", "k"), "ACL SETUSER eve +xinfo|stream"),
        ("NOPERM No permissions to access a key", ("XINFO", "STREAM", "k"),
         "ACL SETUSER eve %R~k"),
    ],
)  # fmt: skip
def test_a_refusal_names_the_line_that_lifts_it(
    said: str, words: tuple[str, ...], line: str
) -> None:
    advised = grants.advised(NotPermitted(said), Address(host="c", user="eve"), words)

    assert str(advised).endswith(f"This permits it: {line}")
