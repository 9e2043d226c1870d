from __future__ import annotations

import hashlib
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from access.domain import tokens


def test_a_token_shows_its_prefix_and_carries_256_random_bits() -> None:
    made = tokens.make_token()

    start, prefix, secret = made.text.split("_")

    assert (start, prefix, len(secret)) == ("cf", made.prefix, 52)


def test_two_tokens_are_never_alike() -> None:
    texts = {tokens.make_token().text for _ in range(100)}

    assert len(texts) == 100


def test_a_made_token_is_read_again() -> None:
    made = tokens.make_token()

    assert tokens.parse_token(made.text) == made


def test_the_stored_hash_is_the_sha_256_of_the_whole_text() -> None:
    made = tokens.make_token()

    assert made.secret_hash == hashlib.sha256(made.text.encode()).hexdigest()


def test_the_repr_of_a_token_does_not_tell_its_text() -> None:
    made = tokens.make_token()

    assert made.text not in repr(made)
    assert made.text.rpartition("_")[2] not in f"{made}"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "cf_",
        "cf_abcdefgh_",
        "cf_abcdefgh_" + "a" * 51,
        "cf_abcdefgh_" + "a" * 53,
        "cf_abcdefgh_" + "A" * 52,
        "cf_abcdefgh_" + "a" * 51 + "1",
        "xx_abcdefgh_" + "a" * 52,
        "cf_abcdefgh_" + "a" * 52 + "\n",
        "cf_abcdefgh_" + "\ud800" * 52,
    ],
)
def test_what_no_token_of_ours_can_be_is_refused(text: str) -> None:
    assert tokens.parse_token(text) is None


@given(st.text())
def test_no_text_makes_the_reader_fail(text: str) -> None:
    assert tokens.parse_token(text) is None


@given(st.text(st.characters(), max_size=20))
def test_every_text_has_a_hash_and_equal_texts_have_equal_ones(text: str) -> None:
    assert tokens.is_same_hash(tokens.hash_secret(text), tokens.hash_secret(text))
    assert not tokens.is_same_hash(tokens.hash_secret(text), tokens.hash_secret(text + "x"))


def test_a_lone_surrogate_in_a_secret_is_hashed_too() -> None:
    assert len(tokens.hash_secret("\udfff")) == 64


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("90d", timedelta(days=90)),
        ("12h", timedelta(hours=12)),
        ("30m", timedelta(minutes=30)),
        ("2w", timedelta(weeks=2)),
        ("99999d", timedelta(days=99999)),
    ],
)
def test_a_duration_is_a_number_and_a_unit(text: str, expected: timedelta) -> None:
    assert tokens.parse_duration(text) == expected


@pytest.mark.parametrize(
    "text", ["", "90", "d", "0d", "-1d", "1.5h", "90D", "٣d", "100000d", "1 d"]
)
def test_another_text_is_no_duration(text: str) -> None:
    with pytest.raises(tokens.BadDuration):
        tokens.parse_duration(text)
