"""One stored message as a person looks at it, and the spans of a roll."""

from __future__ import annotations

import base64

from events.domain.phase_spans import Change, Span, spans_of
from events.domain.records import JUNK, PREFIXED
from events.domain.rows import Row
from events.domain.times import micros, moment
from events.domain.wire_looks import hex_lines, look_of, type_of


def row(body: str | None, form: str = PREFIXED, encoding: str = "", note: str = "") -> Row:
    return Row(0, form, "7", 1_876_951_040_000_000_001, "ws-1", "f", 9, body, encoding, note)


def test_a_prefix_is_written_again_beside_the_body() -> None:
    look = look_of(row('{"type":"item_updated"}'))

    assert look is not None
    assert look["prefix"] == "7|1876951040000000001|"
    assert (look["raw"], type_of(look)) == ('{"type":"item_updated"}', "item_updated")


def test_numbers_that_a_browser_would_round_are_texts() -> None:
    look = look_of(row('{"id":1876951040000000001,"n":3,"x":1e400}'))

    assert look is not None
    assert look["json"] == {"id": "1876951040000000001", "n": 3, "x": "1e400"}


def test_bytes_that_are_no_text_are_shown_as_escapes_and_in_hex() -> None:
    packed = base64.b64encode(b"\xff\x00{").decode()

    look = look_of(row(packed, JUNK, "b64"))

    assert look is not None
    assert (look["raw"], look["base64"], look["json"]) == ("\\xff\\u0000{", True, None)
    assert look["hex"] == [{"offset": "0000", "bytes": "ff 00 7b", "ascii": "..{"}]


def test_a_body_that_was_not_kept_has_no_look() -> None:
    assert look_of(row(None)) is None
    assert type_of(None) is None


def test_a_body_that_was_cut_says_so() -> None:
    look = look_of(row('{"a"', note="cut"))

    assert look is not None
    assert (look["cut"], look["json"]) == (True, None)


def test_hex_has_sixteen_bytes_a_line() -> None:
    assert [one["offset"] for one in hex_lines(bytes(33))] == ["0000", "0010", "0020"]


def test_phases_that_run_side_by_side_are_one_span() -> None:
    changes = [Change(0, "r1", "S0"), Change(0, "r2", "S0"), Change(5, "r2", "1")]

    assert spans_of(changes, 9) == [
        Span(0, 5, ("S0",), is_illegal=False), Span(5, 9, ("S0", "S1"), is_illegal=False),
    ]  # fmt: skip


def test_bare_readers_beside_writers_of_epochs_are_an_illegal_span() -> None:
    (before, mixed, after) = spans_of(
        [Change(0, "r1", "S0"), Change(3, "r2", "2"), Change(6, "r1", "2")], 9
    )

    assert [one.is_illegal for one in (before, mixed, after)] == [False, True, False]
    assert mixed.label == "S0 and S2, which loses events"


def test_a_replica_that_tells_no_phase_makes_no_span() -> None:
    assert spans_of([Change(0, "r1", "")], 9) == []


def test_a_time_beyond_those_that_can_be_asked_for_is_the_last_or_the_first_of_them() -> None:
    assert moment(2**62).year == 9998
    assert moment(-(2**62)).year == 2
    assert micros(moment(1_791_190_800_000_001)) == 1_791_190_800_000_001
