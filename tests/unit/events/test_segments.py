"""Segments: when they end, what they say of themselves, and how they are read back."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.domain import open_segments, rows, segments
from events.domain.records import BARE, FRAME, HOLE, JUNK, PREFIXED, REPLAY, Record
from events.domain.rows import Row
from events.domain.segments import Builder, Lane, Segment
from ledger.domain import canonical

T = 1_790_000_000_000_000
SECOND = 1_000_000
LANE = Lane("i1", "activity", "tail", "generation", "3d9f4b6e-6f3a-4a53-9a44-0d6ad5b1f0c1")


def row(at: int = T, number: int | None = 5, epoch: str | None = "7", **members: Any) -> Row:
    form = members.pop("form", BARE if epoch is None else PREFIXED)
    given = {"scope": "ws-1", "fingerprint": "AAAAAAAAAAAAAAAA", "length": 300, "body": "{}"}
    return Row(at, form, epoch, number, **{**given, **members})


def segments_of(*given: Row) -> list[Segment]:
    builder = Builder(LANE)
    found = [builder.add(one) for one in given]
    return [one for one in (*found, builder.close()) if one is not None]


def read_back(segment: Segment, leaf: int = 0) -> list[Record]:
    body = segment.body
    return segments.records_of(body, body["data"]["messages"], leaf)


def test_a_segment_is_a_receipt_that_says_its_lane_its_time_and_its_epochs() -> None:
    (segment,) = segments_of(
        row(T, 803),
        row(T + 10, 805),
        row(T + 20, 802),
        row(T + 30, 1, "8"),
        row(T + 40, 806, None),
        row(T + 50, None, None, form=FRAME, body="hb|1"),
        row(T + 60, None, None, form=JUNK, body=None, note="json"),
        rows.hole(T + 70, T + 2 * SECOND, "reconnect"),
    )

    body = segment.body
    messages = body.pop("data")["messages"]
    assert body == {
        "schema": "counterfoil.receipt/1",
        "id": open_segments.segment_id(LANE, 0),
        "kind": "observe",
        "what": "segment",
        "occurred_at": "2026-09-21T14:13:22.000000Z",
        "source": {"system": "redis", "instance": "i1", "via": "client"},
        "installation": "i1",
        "bus": "activity",
        "replica": "tail",
        "profile": "generation",
        "incarnation": LANE.incarnation,
        "n": 0,
        "from": "2026-09-21T14:13:20.000000Z",
        "to": "2026-09-21T14:13:22.000000Z",
        "count": 7,
        "frames": 1,
        "junk": 1,
        "holes": 1,
        "epochs": [
            {"epoch": "7", "first": "803", "last": "802", "least": "802", "greatest": "805",
             "count": 3},
            {"epoch": "8", "first": "1", "last": "1", "least": "1", "greatest": "1", "count": 1},
            {"epoch": None, "first": "806", "last": "806", "least": "806", "greatest": "806",
             "count": 1},
        ],
    }  # fmt: skip
    assert messages[0] == [0, "prefixed", "7", "803", "ws-1", "AAAAAAAAAAAAAAAA", 300, "{}"]
    assert messages[4][2:4] == [None, "806"]
    assert messages[6][6:] == [300, None, "", "json"]
    assert messages[7] == [70, "hole", None, None, "", "", 1_999_930, None, "", "reconnect"]
    assert (segment.rows, segment.begins, segment.ends) == (8, T, T + 2 * SECOND)


def test_a_segment_ends_after_a_thousand_rows() -> None:
    found = segments_of(*(row(T + at, at) for at in range(2_500)))

    assert [one.rows for one in found] == [1_000, 1_000, 500]
    assert [one.n for one in found] == [0, 1, 2]


def test_a_segment_ends_after_a_second() -> None:
    found = segments_of(row(T), row(T + SECOND - 1), row(T + SECOND), row(T + SECOND + 1))

    assert [(one.begins, one.rows) for one in found] == [(T, 2), (T + SECOND, 2)]


def test_a_clock_that_steps_back_begins_another_segment() -> None:
    found = segments_of(row(T), row(T - 1), row(T))

    assert [(one.begins, one.rows) for one in found] == [(T, 1), (T - 1, 2)]


BIG = {
    "quotes": '"' * 60_000,
    "control characters": "\\u0001" * 10_000,
    "three bytes a character": "\u20ac" * 20_000,
    "four bytes a character": "\U0001f600" * 15_000,
}


@pytest.mark.parametrize("name", BIG)
def test_a_segment_never_comes_to_more_than_768_kib(name: str) -> None:
    found = segments_of(*(row(T + at, at, body=BIG[name]) for at in range(40)))

    assert max(len(one.raw) for one in found) <= open_segments.MOST_BYTES
    assert sum(one.rows for one in found) == 40
    assert max(one.rows for one in found) > 3


def test_a_thousand_epochs_of_the_longest_names_stay_within_the_bound() -> None:
    long = "\u00e9" * 240

    found = segments_of(*(row(T + at, at, f"{long}{at}") for at in range(1_000)))

    assert max(len(one.raw) for one in found) <= open_segments.MOST_BYTES
    assert sum(len(one.body["epochs"]) for one in found) == 1_000


def test_a_segment_is_named_by_its_lane_its_incarnation_and_its_number() -> None:
    ids = {
        open_segments.segment_id(Lane(*names, "generation", incarnation), n)
        for names in (("i1", "b", "r"), ("i2", "b", "r"), ("i1", "c", "r"), ("i1", "b", "s"))
        for incarnation in ("x", "y")
        for n in (0, 1)
    }

    assert len(ids) == 16
    assert all(uuid.UUID(one).version == 5 for one in ids)


def test_what_was_masked_is_counted_and_many_names_are_not_all_told() -> None:
    builder = Builder(LANE)
    builder.add(row(), ("title", "actor"))
    builder.add(row(), ("title",))
    for at in range(100):
        builder.add(row(), (f"x{at}",))

    segment = builder.close()

    assert segment is not None
    told = segment.body["masked"]
    assert (told["title"], told["actor"], told[open_segments.OTHERS]) == (2, 1, 70)
    assert len(told) == open_segments.MOST_MASKED + 1


def test_records_come_back_as_they_were_with_their_places() -> None:
    given = [
        row(T, 2**63 - 1),
        row(T + 1, 2**53 + 1, None, publisher="p1"),
        row(T + 2, 10**30, "e\x00\ud800", source=REPLAY),
        row(T + 3, None, None, form=JUNK, note="json", body=None),
    ]
    (segment,) = segments_of(*given)

    found = read_back(segment, leaf=9)

    assert [(one.at, one.form, one.epoch, one.id, one.publisher, one.source) for one in found] == [
        (one.at, one.form, one.epoch, one.id, one.publisher, one.source) for one in given
    ]
    assert [one.place for one in found] == [(9, 0), (9, 1), (9, 2), (9, 3)]
    assert {(one.installation, one.bus, one.replica) for one in found} == {
        ("i1", "activity", "tail")
    }


def test_a_hole_comes_back_with_its_end() -> None:
    (segment,) = segments_of(rows.hole(T, T + 60 * SECOND, "buffer_full"))

    (record,) = read_back(segment)

    assert (record.form, record.at, record.until) == (HOLE, T, T + 60 * SECOND)


ROWS = st.builds(
    Row,
    at=st.integers(T, T + SECOND - 1),
    form=st.sampled_from([BARE, PREFIXED, JUNK, FRAME]),
    epoch=st.none() | st.text(max_size=20),
    id=st.none() | st.integers(-(2**70), 2**70),
    scope=st.text(max_size=20),
    fingerprint=st.sampled_from(["", "AAAAAAAAAAAAAAAA"]),
    length=st.integers(0, 2**40),
    body=st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
    encoding=st.sampled_from(["", rows.BASE64]),
    note=st.sampled_from(["", "cut", "json"]),
    publisher=st.text(max_size=8),
    source=st.sampled_from(["live", REPLAY]),
)


@given(ROWS)
def test_every_row_survives_json_as_any_reader_gives_it(given_row: Row) -> None:
    text = rows.json_of(given_row, T)

    assert rows.read(json.loads(text), T) == given_row
    assert rows.read(canonical.parse(text.encode()), T) == given_row


GOOD = [0, "prefixed", "7", "5", "ws-1", "f", 300, "{}"]
FAULTY: dict[str, Any] = {
    "null": None,
    "a text": "prefixed",
    "too short": GOOD[:6],
    "too long": [*GOOD, "", "", "", "", ""],
    "a time that is a text": ["0", *GOOD[1:]],
    "a time that is a fraction": [0.5, *GOOD[1:]],
    "a time of 40 digits": [10**40, *GOOD[1:]],
    "a form that nobody has": [0, "other", *GOOD[2:]],
    "an epoch that is a number": [*GOOD[:2], 7, *GOOD[3:]],
    "an id that is a number": [*GOOD[:3], 5, *GOOD[4:]],
    "an id that is a word": [*GOOD[:3], "five", *GOOD[4:]],
    "an id of 5,000 digits": [*GOOD[:3], "9" * 5_000, *GOOD[4:]],
    "a scope that is null": [*GOOD[:4], None, *GOOD[5:]],
    "a length that is true": [*GOOD[:6], True],
    "a length below zero": [*GOOD[:6], -1],
    "a body that is an object": [*GOOD[:7], {}],
    "a note that is a number": [*GOOD, "", 7],
}


@pytest.mark.parametrize("name", FAULTY)
def test_a_faulty_row_is_left_out_and_counted(name: str) -> None:
    stub = {"installation": "i1", "bus": "b", "replica": "r", "from": "2026-09-21T14:13:20Z"}

    found = segments.read_messages(stub, [GOOD, FAULTY[name], GOOD], 3)

    assert found.faulty == 1
    assert [one.place for one in found.records] == [(3, 0), (3, 2)]


@pytest.mark.parametrize("start", [None, 5, "noon", "2026-09-21T14:13:20"])
def test_a_segment_without_a_time_has_no_records(start: Any) -> None:
    found = segments.read_messages({"from": start}, [GOOD, GOOD])

    assert found == ([], 2)


def test_a_body_that_is_no_base64_is_as_good_as_none() -> None:
    found = rows.read([*GOOD[:7], "@@", rows.BASE64], T)

    assert found is not None
    assert found.kept is None
