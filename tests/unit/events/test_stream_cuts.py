"""A fold is the same wherever it is cut, and stays small however long it goes on."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from events.domain.cross import CrossWatch
from events.domain.findings import Finding
from events.domain.records import BARE, FRAME, HOLE, JUNK, PREFIXED, REPLAY, SECOND, Record
from events.domain.stream import Stream
from events.domain.stream_settings import StreamSettings
from tests.unit.events.stream_cast import E1, START, fold, record

BASED = 1_876_951_040_000_000_000
SETTINGS = {
    "dense tokens": StreamSettings("i1", "b", "opaque", "dense", ((5 * SECOND, 9 * SECOND),)),
    "sparse generations": StreamSettings("i1", "b", "generation", "sparse"),
    "dense generations": StreamSettings("i1", "b", "generation", "dense"),
    "dense, any JSON": StreamSettings("i1", "b", "generic", "dense"),
}
numbers = st.one_of(
    st.integers(1, 40),
    st.integers(95, 140),
    st.integers(BASED, BASED + 9),
    st.sampled_from([BASED + 256 * step for step in range(5)]),
    st.sampled_from([BASED + 10**15, 2**63 - 1, 2**62]),
)
messages = st.builds(
    record,
    at=st.just(0),
    epoch=st.sampled_from([None, None, "7", "8", "9"]),
    number=numbers,
    body=st.sampled_from(["", "", "", "x", "y"]),
    replica=st.sampled_from(["r1", "r1", "r2", "r3"]),
    scope=st.sampled_from(["ws-1", "ws-1", "ws-2"]),
    source=st.sampled_from(["live", "live", "live", "live", REPLAY]),
)
others = st.builds(
    record,
    at=st.just(0),
    epoch=st.none(),
    number=st.none(),
    replica=st.sampled_from(["r1", "r2"]),
    form=st.sampled_from([FRAME, FRAME, JUNK, HOLE]),
)
heads = st.tuples(
    st.just(0), st.sampled_from(["n1", "n2"]), st.sampled_from([None, "7"]), st.integers(0, 150)
)
steps = st.sampled_from([0.0, 0.1, 0.5, 1.0, 2.0, 3.0, 31.0, 95.0, 3_700.0])
# Most ids follow the one before, as on a bus that lives; drawn ones alone would be noise.
walks = st.lists(st.tuples(st.one_of(messages, messages, messages, others, heads), steps))
climbs = st.integers(0, 25)


def history(walk: list[tuple[Any, float]], climb: int) -> list[Any]:
    now = float(START)
    told: list[Any] = []
    for one, step in walk:
        now += step
        at = round(now * SECOND)
        if isinstance(one, Record):
            until = at + 5 * SECOND if one.form == HOLE else 0
            told.append(one._replace(at=at, until=until))
            for number in range(1, climb if one.form in (PREFIXED, BARE) else 0):
                following = (one.id or 0) + number
                told.append(one._replace(at=at + number, id=following, fingerprint=f"f{following}"))
        else:
            told.append((at, *one[1:]))
    return told


@pytest.mark.parametrize("name", SETTINGS)
@given(walk=walks, climb=climbs, places=st.frozensets(st.integers(0, 60), max_size=8))
def test_a_history_gives_the_same_findings_and_spaces_wherever_it_is_cut(
    name: str, walk: list[tuple[Any, float]], climb: int, places: frozenset[int]
) -> None:
    told = history(walk, climb)

    whole, ordinals = fold(SETTINGS[name], told)
    cut, other_ordinals = fold(SETTINGS[name], told, places)

    assert cut.findings == whole.findings
    assert cut.spaces == whole.spaces
    assert other_ordinals == ordinals


@pytest.mark.parametrize("name", SETTINGS)
@given(walk=walks, climb=climbs)
def test_a_history_that_is_cut_everywhere_gives_the_same_state(
    name: str, walk: list[tuple[Any, float]], climb: int
) -> None:
    told = history(walk, climb)[:60]

    whole, _ = fold(SETTINGS[name], told)
    cut, _ = fold(SETTINGS[name], told, frozenset(range(len(told))))

    assert (cut.findings, cut.spaces) == (whole.findings, whole.spaces)


@pytest.mark.parametrize("name", SETTINGS)
@given(walk=walks, climb=climbs)
def test_each_message_is_counted_in_the_space_that_it_was_told(
    name: str, walk: list[tuple[Any, float]], climb: int
) -> None:
    told = [one for one in history(walk, climb) if isinstance(one, Record)]

    kept, ordinals = fold(SETTINGS[name], told)

    counts: dict[tuple[str, int], list[int]] = {}
    for one, ordinal in zip(told, ordinals, strict=True):
        if ordinal >= 0:
            counts.setdefault((one.replica, ordinal), []).append(one.id or 0)
    assert {key: len(ids) for key, ids in counts.items()} == {
        key: one.count for key, one in kept.spaces.items()
    }
    assert {key: (min(ids), max(ids), ids[-1]) for key, ids in counts.items()} == {
        key: (one.least, one.greatest, one.last) for key, one in kept.spaces.items()
    }


@given(walk=walks, places=st.frozensets(st.integers(0, 40), max_size=6))
def test_a_watch_across_installations_is_the_same_wherever_it_is_cut(
    walk: list[tuple[Any, float]], places: frozenset[int]
) -> None:
    told = [one for one in history(walk, 3) if isinstance(one, Record)]
    owners = ("i1", "i2", "i3")
    told = [one._replace(installation=owners[n % 3]) for n, one in enumerate(told)]
    told = [one._replace(epoch=E1) if one.epoch == "7" else one for one in told]

    assert _watched(told, places) == _watched(told, frozenset())


def _watched(told: list[Record], places: frozenset[int]) -> dict[str, Finding]:
    watch, found = CrossWatch(), {}
    for place, one in enumerate(told):
        if place in places:
            found |= {one.key: one for one in watch.drain().findings}
            watch = CrossWatch(json.loads(json.dumps(watch.state())))
        watch.take(one)
    return found | {one.key: one for one in watch.drain().findings}


def test_the_state_of_many_wild_messages_is_small() -> None:
    stream = Stream(SETTINGS["dense, any JSON"])
    for place in range(20_000):
        number = (place * 7_919) % 50_021 + 1
        stream.take(record(START + place / 100, str(place // 999), number, f"b{place}"))
        if place % 1_000 == 0:
            stream.drain()

    size = len(json.dumps(stream.state()))

    assert size < 600_000


def test_holes_are_kept_to_a_number_and_to_a_number_of_pieces() -> None:
    told = [record(START + n / 1_000, "7", 2 * n + 1) for n in range(600)]
    told += [record(START + 1, "7", 100_001)]
    told += [record(START + 1 + n / 1_000, "7", 2 * n + 1_201) for n in range(600)]
    stream = Stream(SETTINGS["dense generations"])

    for one in told:
        stream.take(one)
    stream.drain()

    assert len(json.dumps(stream.state())) < 32_000


def test_a_lane_that_went_through_many_epochs_remembers_little_of_them() -> None:
    stream = Stream(SETTINGS["dense tokens"])
    for epoch in range(20):
        for number in range(1, 2_001):
            stream.take(record(START + epoch * 100 + number / 100, f"t{epoch}", number))
        stream.drain()

    assert len(json.dumps(stream.state())) < 80_000


def test_a_lane_of_a_thousand_short_epochs_keeps_the_newest_of_them() -> None:
    stream = Stream(SETTINGS["dense tokens"])
    for epoch in range(1_000):
        stream.take(record(START + epoch, f"t{epoch}", 1))
    stream.drain()

    assert len(json.dumps(stream.state())) < 40_000


@pytest.mark.slow
@pytest.mark.parametrize("name", SETTINGS)
@given(walk=walks, climb=climbs, places=st.frozensets(st.integers(0, 90), max_size=20))
@settings(max_examples=2_000)
def test_two_thousand_histories_are_the_same_wherever_they_are_cut(
    name: str, walk: list[tuple[Any, float]], climb: int, places: frozenset[int]
) -> None:
    told = history(walk, climb)

    whole, _ = fold(SETTINGS[name], told)
    cut, _ = fold(SETTINGS[name], told, places)

    assert (cut.findings, cut.spaces) == (whole.findings, whole.spaces)


@pytest.mark.slow
def test_an_ordinary_message_costs_less_than_15_microseconds() -> None:
    told = [record(START + n / 30_000, "7", n + 1) for n in range(50_000)]
    stream = Stream(SETTINGS["dense generations"])

    begun = time.process_time()
    for one in told:
        stream.take(one)
    spent = time.process_time() - begun

    assert spent / len(told) < 15e-6


def story() -> list[Any]:
    """Tell a history in which all that a state has to carry is carried over some cut."""
    now = float(START)
    told: list[Any] = []

    def tell(step: float, epoch: str | None, *ids: int, **named: Any) -> None:
        nonlocal now
        for number in ids:
            now += step
            told.append(record(now, epoch, number, **named))

    tell(0.1, "t1", 1, 2, 9)
    tell(0.1, "t1", 1, 2, 3, 4, 9, replica="r2")
    tell(3, "t1", 4, 10, 3, 11, 8)
    told.append((round(now * SECOND), "n1", "t1", 15))
    tell(3, "t1", 12, 15, 16)
    for _ in range(4):
        tell(40, None, None, form=FRAME, replica="r2")  # type: ignore[arg-type]
    tell(1, "t1", 17, 18)
    tell(0.1, None, *(None,) * 70, form=JUNK)  # type: ignore[arg-type]
    for token in range(2, 72):
        tell(0.2, f"t{token}", 5, 6)
    tell(0.2, "t70", 7, 8)
    tell(0.2, "t71", 7, 8, 1, 2, 3, 4)
    tell(4_000, None, 5, 6)
    return told


def test_a_story_that_uses_all_of_the_state_may_be_cut_at_each_place() -> None:
    told = story()
    whole, _ = fold(SETTINGS["dense tokens"], told)

    for place in range(len(told)):
        cut, _ = fold(SETTINGS["dense tokens"], told, frozenset({place}))
        assert (cut.findings, cut.spaces) == (whole.findings, whole.spaces), place


def test_a_shared_namespace_is_found_over_any_cut() -> None:
    told = [
        record(START + n, None, n, f"b{n}", installation=owner)
        for n in range(1, 12)
        for owner in ("i1", "i2")
    ]
    whole = _watched(told, frozenset())

    assert [one.code for one in whole.values()] == ["SHARED_NAMESPACE"]
    for place in range(len(told)):
        assert _watched(told, frozenset({place})) == whole
