"""Identifiers: what sorts, what reads back, and what is refused."""

from __future__ import annotations

import os
import threading
import uuid
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kit import ids

# A busy machine is no failure.
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

AT = datetime(2026, 10, 5, 9, 0, 30, 123456, tzinfo=UTC)
uuids = st.integers(0, 2**128 - 1).map(lambda number: uuid.UUID(int=number))
any_text = st.text(st.characters(codec=None, categories=None), max_size=40)


def milliseconds(value: uuid.UUID) -> int:
    return value.int >> 80


def test_a_uuid7_has_the_version_the_variant_and_the_time_given() -> None:
    made = ids.uuid7(AT)

    assert (made.version, made.variant) == (7, uuid.RFC_4122)
    assert milliseconds(made) == 1_791_190_830_123


def test_a_uuid7_without_a_time_has_the_clocks() -> None:
    with time_machine.travel(AT, tick=False):
        ids._start_over()

        assert milliseconds(ids.uuid7()) == 1_791_190_830_123


@pytest.mark.parametrize("at", [None, AT])
def test_uuid7s_rise_in_the_order_they_are_made(at: datetime | None) -> None:
    made = [ids.uuid7(at) for _ in range(5000)]

    assert made == sorted(set(made))


def test_uuid7s_drawn_at_once_rise_and_go_on_from_those_of_their_time() -> None:
    before = ids.uuid7(AT)

    made = ids.uuid7s(AT, 1_000)

    rising = [before, *made, ids.uuid7(AT)]
    assert rising == sorted(set(rising))
    assert {milliseconds(one) for one in made} == {1_791_190_830_123}


def test_no_uuid7s_are_drawn_for_nothing() -> None:
    assert ids.uuid7s(AT, 0) == []


def test_a_clock_that_steps_back_does_not_make_uuid7s_fall() -> None:
    with time_machine.travel(AT, tick=False) as clock:
        ids._start_over()
        first = ids.uuid7()
        clock.shift(timedelta(hours=-1))

        assert ids.uuid7() > first


def test_a_uuid7_of_an_older_time_sorts_before() -> None:
    assert ids.uuid7(AT - timedelta(days=1)) < ids.uuid7(AT)


def test_a_time_far_ahead_does_not_bend_the_clock() -> None:
    ids.uuid7(AT + timedelta(days=36_500))

    assert milliseconds(ids.uuid7()) < milliseconds(ids.uuid7(AT + timedelta(days=36_000)))


def test_uuid7s_of_one_time_rise_although_other_times_are_asked_for_between() -> None:
    made = []
    for _ in range(500):
        made.append(ids.uuid7(AT))
        ids.uuid7(AT + timedelta(milliseconds=7))

    assert made == sorted(made)


def test_threads_never_get_one_uuid7_twice() -> None:
    made: list[uuid.UUID] = []
    threads = [
        threading.Thread(target=lambda: made.extend(ids.uuid7(AT) for _ in range(500)))
        for _ in range(4)
    ]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(set(made)) == 2000


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_child_of_fork_does_not_go_on_from_its_parents_number() -> None:
    reading, writing = os.pipe()
    ids.uuid7(AT)

    child = os.fork()
    if child == 0:
        try:
            os.write(writing, bytes([not ids._by_caller.tails]))
        finally:
            os._exit(0)
    os.waitpid(child, 0)

    assert os.read(reading, 1) == b"\x01"
    os.close(reading)
    os.close(writing)


@patient
@given(uuids)
def test_a_ref_reads_back(value: uuid.UUID) -> None:
    assert ids.uuid_of(ids.ref_of(value)) == value


@patient
@given(uuids, uuids)
def test_refs_sort_like_their_uuids(one: uuid.UUID, other: uuid.UUID) -> None:
    assert (ids.ref_of(one) < ids.ref_of(other)) == (one < other)


@pytest.mark.parametrize(
    ("number", "ref"),
    [
        (0, "r" + "0" * 26),
        (2**128 - 1, "r7" + "z" * 25),
        (0x01563E3AB5D3D6764C61EFB99302BD5B, "r01arz3ndektsv4rrffq69g5fav"),
    ],
)
def test_a_ref_is_crockford_base32(number: int, ref: str) -> None:
    assert ids.ref_of(uuid.UUID(int=number)) == ref


REF = ids.ref_of(uuid.UUID(int=2**127 + 12345))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "r",
        REF[1:],
        REF.upper(),
        "R" + REF[1:],
        REF[:-1],
        REF + "0",
        REF + "\n",
        " " + REF,
        "r8" + REF[2:],
        REF[:-1] + "i",
        REF[:-1] + "l",
        REF[:-1] + "o",
        REF[:-1] + "u",
        REF[:-1] + "\u0661",
        "n42",
    ],
)
def test_what_is_no_ref_is_none(text: str) -> None:
    assert ids.uuid_of(text) is None


def test_a_public_id_is_a_letter_and_sixteen_characters_and_never_changes() -> None:
    assert ids.public_id("b", "acme", "lobby") == "bbmbj4vz2f5p2hdnp"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("a", "bc"), ("ab", "c")),
        (("a", ""), ("a",)),
        (("1:a,",), ("a",)),
        (("\ud800",), ("\ufffd",)),
        (("a", "b"), ("b", "a")),
    ],
)
def test_natural_keys_that_differ_have_public_ids_that_differ(
    one: tuple[str, ...], other: tuple[str, ...]
) -> None:
    assert ids.public_id("b", *one) != ids.public_id("b", *other)


@pytest.mark.parametrize(
    ("text", "segment"),
    [
        ("exec_a1", "exec_a1"),
        ("payout:PO-88213", "payout:PO-88213"),
        ("a" * 100, "a" * 100),
        ("a" * 101, "~" + "YWFh" * 33 + "YWE"),
        ("", "~"),
        (".", "~Lg"),
        ("..", "~Li4"),
        ("~", "~fg"),
        ("a/b", "~YS9i"),
        ("é", "~w6k"),
        ("a\n", "~YQo"),
        ("\x00", "~AA"),
        ("\ud800", "~7aCA"),
    ],
)
def test_a_text_has_one_segment(text: str, segment: str) -> None:
    assert ids.segment(text) == segment
    assert ids.find_segment(segment) == text


@patient
@given(any_text)
def test_a_segment_reads_back(text: str) -> None:
    assert ids.find_segment(ids.segment(text)) == text


@pytest.mark.parametrize(
    "segment",
    [
        "",
        "~YQ",  # "a", which stands as itself
        "~YS9i=",
        "~YS9j" + "A",
        "~Lh",  # bits set that no byte uses
        "~L",
        "~Lg\n",
        "~/w",
        "~_w",  # the byte ff, which is no UTF-8
        "~ Lg",
        "~~",
        "a/b",
        "a.b",
        "a b",
        "é",
        "a" * 101,
        "abc\n",
    ],
)
def test_what_segment_would_not_write_is_none(segment: str) -> None:
    assert ids.find_segment(segment) is None


@patient
@given(st.text("~ABYZabyz019_-=.", max_size=8))
def test_no_two_segments_stand_for_one_text(segment: str) -> None:
    text = ids.find_segment(segment)

    assert text is None or ids.segment(text) == segment
