"""What holds of the detectors for any history of a kind: nothing missed, nothing made up."""

from __future__ import annotations

import random
from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from events.domain.findings import Finding
from events.domain.records import FRAME, HOLE, SECOND, Record
from events.domain.stream_settings import StreamSettings
from tests.unit.events.stream_cast import START, fold, record

DENSE = StreamSettings("i1", "b", "generation", "dense")
TOKENS = StreamSettings("i1", "b", "opaque", "dense")
SPARSE = StreamSettings("i1", "b", "generation", "sparse")
LATE = 10**18


def holding(settings_of: StreamSettings, told: list[Record]) -> list[Finding]:
    kept, _ = fold(settings_of, told)
    return [one for one in kept.findings.values() if one.holds(LATE)]


def missing_of(gaps: list[Finding]) -> list[int]:
    """Give the ids that gaps name, in order."""
    ids: list[int] = []
    for gap in gaps:
        for part in str(gap.facts["ids"]).split(", "):
            first, _, last = part.partition(" to ")
            ids += range(int(first), int(last or first) + 1)
    return sorted(ids)


@given(
    first=st.integers(1, 10**12),
    count=st.integers(1, 60),
    beside=st.lists(st.tuples(st.integers(0, 59), st.sampled_from([FRAME, HOLE, "replay"]))),
)
def test_ids_in_a_row_are_no_finding_whatever_comes_between(
    first: int, count: int, beside: list[tuple[int, str]]
) -> None:
    told: list[Record] = []
    for place in range(count):
        told.append(record(START + place, "7", first + place))
        for _, what in (one for one in beside if one[0] == place):
            at = START + place + 0.5
            if what == "replay":
                told.append(record(at, "7", first, "another", source="replay"))
            else:
                until = round((at + 0.1) * SECOND)
                told.append(record(at, None, None, form=what, until=until))  # type: ignore[arg-type]

    assert holding(DENSE, told) == []


@given(steps=st.lists(st.integers(1, 10**6), max_size=60))
def test_ids_that_rise_on_a_sparse_bus_are_no_finding(steps: list[int]) -> None:
    told = [record(START + n, "7", number) for n, number in enumerate(accumulate(steps))]

    assert holding(SPARSE, told) == []


@given(lost=st.sets(st.integers(2, 99)), seed=st.integers(0, 999))
def test_gaps_name_the_ids_that_one_replica_lost_and_no_other(lost: set[int], seed: int) -> None:
    all_ids = [
        record(
            START + n / 10 + random.Random(f"{seed} {n} {replica}").random(),
            "7",
            n,
            replica=replica,
        )
        for n in range(1, 101)
        for replica in ("r1", "r2")
        if replica == "r2" or n not in lost
    ]
    told = sorted(all_ids, key=lambda one: (one.id, one.replica))

    found = holding(DENSE, told)

    assert {one.code for one in found} <= {"GAP"}
    assert {(one.replica, one.facts["fault"]) for one in found} <= {("r1", "delivery")}
    assert missing_of(found) == sorted(lost)


@given(burned=st.sets(st.integers(2, 99)))
def test_an_id_that_no_replica_received_was_burned(burned: set[int]) -> None:
    told = [
        record(START + n / 10, "7", n, replica=replica)
        for n in range(1, 101)
        for replica in ("r1", "r2", "r3")
        if n not in burned
    ]

    found = holding(DENSE, told)

    assert {(one.code, one.facts["fault"]) for one in found} <= {("GAP", "burned")}
    for replica in ("r1", "r2", "r3"):
        assert missing_of([one for one in found if one.replica == replica]) == sorted(burned)


@given(seed=st.integers(0, 9_999), reach=st.integers(1, 6))
def test_messages_a_little_out_of_order_are_that_and_nothing_else(seed: int, reach: int) -> None:
    chance = random.Random(seed)
    ids = sorted(range(2, 200), key=lambda one: one + chance.random() * reach)
    told = [record(START + n / 1_000, "7", one) for n, one in enumerate([1, *ids])]

    assert {one.code for one in holding(DENSE, told)} <= {"INTERLEAVE"}


@given(lives=st.lists(st.tuples(st.integers(1, 500), st.integers(1, 40)), min_size=1, max_size=8))
def test_each_life_of_a_counter_is_one_change_and_one_space(lives: list[tuple[int, int]]) -> None:
    told, at = [], float(START)
    for epoch, (first, count) in enumerate(lives):
        for number in range(first, first + count):
            at += 1
            told.append(record(at, f"token-{epoch}", number))

    kept, _ = fold(TOKENS, told)

    found = [one for one in kept.findings.values() if one.holds(LATE)]
    assert [one.code for one in found] == ["EPOCH_CHANGE"] * (len(lives) - 1)
    assert [(one.first, one.last, one.count) for one in kept.spaces.values()] == [
        (first, first + count - 1, count) for first, count in lives
    ]


@given(lives=st.lists(st.integers(20, 60), min_size=2, max_size=6), start=st.integers(100, 900))
def test_each_restart_without_an_epoch_is_found(lives: list[int], start: int) -> None:
    """Each life begins far below the end of the one before and does not reach it."""
    told, at, first = [], float(START), start * len(lives)
    for count in lives:
        for number in range(first, first + count):
            at += 1
            told.append(record(at, None, number, f"{at}"))
        first -= start

    found = holding(StreamSettings("i1", "b", "bare", "sparse"), told)

    assert [one.code for one in found] == ["RESET_NO_EPOCH"] * (len(lives) - 1)
