from __future__ import annotations

import ast
import uuid
from pathlib import Path

import pytest

from counterfoil import ids

DNS = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"


def test_v5_gives_the_example_of_rfc_9562():
    assert ids.v5(DNS, "www.example.com") == "2ed6657d-e927-568b-95e1-2665a8aea6a2"


def test_v8_gives_the_example_of_rfc_9562():
    assert ids.v8_sha256(DNS, "www.example.com") == "5c146b14-3c52-8afd-938a-375d0df1fbf6"


def test_v4_stamped_differs_from_v5_in_the_version_digit_alone():
    five, four = ids.v5(DNS, "payout"), ids.v4_stamped(DNS, "payout")

    assert [n for n in range(36) if five[n] != four[n]] == [14]
    assert (uuid.UUID(four).version, uuid.UUID(four).variant) == (4, uuid.RFC_4122)


def test_v7_is_ordered_by_time_and_never_given_twice():
    made = [ids.v7() for _ in range(2000)]

    assert len(set(made)) == 2000
    assert uuid.UUID(made[0]).version == 7 and uuid.UUID(made[0]).variant == uuid.RFC_4122
    assert [m[:13] for m in made] == sorted(m[:13] for m in made)


def test_the_done_of_a_token_is_always_the_same_and_that_of_another_is_not():
    token = ids.v7()

    assert ids.done_of(token) == str(uuid.uuid5(uuid.UUID(token), "done"))
    assert ids.done_of(ids.v7()) != ids.done_of(token)


def test_every_module_is_written_in_the_words_of_python_3_9():
    for path in Path(ids.__file__).parent.rglob("*.py"):
        ast.parse(path.read_text(), str(path), feature_version=(3, 9))


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        (DNS, True),
        (DNS.upper(), True),
        (DNS.replace("-", ""), False),
        ("{" + DNS + "}", False),
        ("6b-a7b8109dad11d180b400c04fd430c8", False),
        ("101", False),
        ("", False),
    ],
)
def test_only_the_usual_form_of_a_uuid_is_one(text, is_one):
    assert ids.is_uuid(text) is is_one
