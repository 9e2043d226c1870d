"""Checks across installations: feeds, forks, shared names, and what equal tokens are worth."""

from __future__ import annotations

import json

import pytest

from events.domain.cross import CrossWatch
from events.domain.tokens import ENOUGH, bits_of, is_telling
from tests.unit.events.stream_cast import E1, Body, codes_of, findings, message, record, told


def pair(epoch: str | None, number: int, ours: object, theirs: object, at: float = 0) -> list[Body]:
    return [
        message(at, epoch, number, ours),
        message(at + 0.1, epoch, number, theirs, installation="i2"),
    ]


def test_one_token_id_and_body_in_two_installations_is_a_feed() -> None:
    (feed,) = findings(pair(E1, 1, "x", "x"))

    assert (feed["code"], feed["installation"], feed["facts"]["other"]) == (
        "CROSS_FEED",
        "i2",
        "i1",
    )


def test_a_feed_is_told_once_and_counted() -> None:
    records = [one for number in range(1, 10) for one in pair(E1, number, number, number)]

    (feed,) = findings(records)

    assert (feed["id"], feed["facts"]["count"]) == ("1", 8)


def test_one_message_that_three_replicas_of_an_installation_saw_is_counted_once() -> None:
    records = [
        message(at, E1, 1, "x", replica=replica, installation=installation)
        for at, (installation, replica) in enumerate(
            (("i1", "r1"), ("i2", "r1"), ("i2", "r2"), ("i1", "r2"), ("i2", "r3"))
        )
    ]

    (feed,) = findings(records)

    assert "count" not in feed["facts"]


def test_a_token_that_goes_on_in_two_installations_is_forked() -> None:
    assert codes_of(pair(E1, 1, "ours", "theirs")) == [("FORKED_EPOCH", "1")]


def test_a_fork_is_found_where_the_ids_meet_and_not_where_one_is_alone() -> None:
    records = [*told((E1, 1), (E1, 2)), *told((E1, 3, "x"), (E1, 4), installation="i2")]

    assert codes_of(records) == []


@pytest.mark.parametrize(
    ("theirs", "code", "rule"),
    [
        ("y", "FORKED_EPOCH", "another_body_of_a_name"),
        ("x", "CROSS_FEED", "same_event_of_a_name"),
    ],
)
def test_a_short_token_that_is_no_number_is_a_hint_that_chance_may_explain(
    theirs: str, code: str, rule: str
) -> None:
    (found,) = findings(pair("e1", 1, "x", theirs))

    assert (found["code"], found["severity"], found["rule"]) == (code, "warning", rule)
    assert "both may have chosen it" in found["sentence"]


def test_a_short_token_in_another_channel_is_no_hint() -> None:
    first, second = pair("e1", 1, "x", "y")

    assert codes_of([first, second | {"scope": "elsewhere"}], density="sparse") == []


@pytest.mark.parametrize("epoch", ["1", "17", "1790000000", None])
def test_numbers_and_bare_ids_of_two_installations_may_be_equal(epoch: str | None) -> None:
    for bodies in (("x", "x"), ("x", "y")):
        records = pair(epoch, 1, *bodies)
        assert codes_of(records, profile="generation", density="sparse") == []


def test_an_installation_that_is_registered_twice_feeds_nobody() -> None:
    records = [*pair(E1, 1, "x", "x"), *pair(E1, 2, "y", "z")]

    assert codes_of(records, aliases=[["i1", "i2"]]) == []


def test_an_alias_takes_back_what_was_told_of_the_pair() -> None:
    watch = CrossWatch()
    watch.take(record(0, E1, 1, "x"))
    watch.take(record(1, E1, 1, "x", installation="i2"))
    (told_one,) = watch.drain().findings

    watch.alias("i1", "i2")

    assert watch.drain().dropped == [told_one.key]


def test_replicas_of_one_installation_share_its_token() -> None:
    records = [*told((E1, 1)), *told((E1, 1), replica="r2")]

    assert codes_of(records) == []


def test_replayed_messages_are_not_held_against_another_installation() -> None:
    first, second = pair(E1, 1, "x", "x")

    assert codes_of([first, second | {"source": "replay"}]) == []


@pytest.mark.parametrize("epoch", ["3", None])
def test_a_watch_over_many_messages_stays_small(epoch: str | None) -> None:
    watch = CrossWatch()
    for number in range(1, 20_000):
        watch.take(record(number, epoch, number, f"{number:016}"))
    watch.drain()

    assert len(json.dumps(watch.state())) < 70_000


@pytest.mark.parametrize("epoch", ["3", None])
def test_many_equal_bodies_under_equal_ids_are_shared_names(epoch: str | None) -> None:
    records = [one for n in range(1, 9) for one in pair(epoch, n, f"body {n}", f"body {n}", n)]

    found = findings(records, profile="generation", density="sparse")

    assert [(one["code"], one["facts"]["other"]) for one in found] == [("SHARED_NAMESPACE", "i1")]


def test_one_body_again_and_again_is_not_enough_for_shared_names() -> None:
    records = [one for n in range(1, 40) for one in pair("3", n, "tick", "tick", n * 61)]

    assert codes_of(records, profile="generation", density="sparse") == []


def test_equal_bodies_an_hour_apart_are_a_copy_and_no_shared_names() -> None:
    ours = [message(n, "3", n, f"body {n}") for n in range(1, 20)]
    theirs = [message(3_700 + n, "3", n, f"body {n}", installation="i2") for n in range(1, 20)]

    assert codes_of([*ours, *theirs], profile="generation", density="sparse") == []


@pytest.mark.parametrize(
    "token", [E1, E1.replace("-", ""), "01J8ZQ4V9K3M7T2B6XWNDC5RPE", "9f86d081884c7d659a2feaa0"]
)
def test_a_token_that_was_drawn_holds_enough_chance(token: str) -> None:
    assert bits_of(token) >= ENOUGH
    assert is_telling(token)


@pytest.mark.parametrize(
    "token",
    ["1", "1790000000", "e1", "kZfTqWbn", "production-2026-09-01", "a" * 64, "0" * 32,
     "00000000-0000-0000-0000-000000000000", "the-first-epoch-of-our-bus", ""],
)  # fmt: skip
def test_a_token_that_was_counted_or_named_holds_too_little(token: str) -> None:
    assert bits_of(token) < ENOUGH
    assert not is_telling(token)
