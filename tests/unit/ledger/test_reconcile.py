"""What became of an expected object, whether a list is accounted for, and how lists are read."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.domain.expected import BadExpected, read_expected, take_ids
from ledger.domain.reconcile import (
    RULE_WORDS,
    STATES,
    Span,
    Standing,
    Window,
    account_for,
    find_hole,
    stand,
)
from ledger.domain.statement import Statement
from tests.unit.ledger.shelf import at, make, skip

IMPORTED: dict[str, Any] = {"source": {"system": "oban", "instance": "prod-1", "via": "import"}}
COMPLETE = {"complete_until": at("12:00"), "silent": 0, "gaps": 0, "dropped": 0, "unnumbered": 0}
ALL_DONE = {"done": 3}


def job(number: str, task: str = "payout.send") -> dict[str, Any]:
    return {"job": {"id": number, "task": task}}


def done(leaf: int, number: str, clock: str | None = None, **more: Any) -> Statement:
    return make(leaf, "done", clock, **{**job(number), **more})


def row(leaf: int, number: str, clock: str) -> Statement:
    given = {"id": number, "task": "payout.send", "state": "completed"}
    return make(leaf, "observe", clock, job=given, source={"via": "row"}, what="row")


AGAIN: dict[str, tuple[list[Statement], tuple[str, ...]]] = {
    "done once": ([done(0, "1")], ()),
    "done by two jobs": ([done(0, "1"), done(1, "2")], ("r1",)),
    "done by three jobs": ([done(0, "1"), done(1, "2"), done(2, "3")], ("r1", "r2")),
    "done twice by one job": ([done(0, "1", "09:00"), done(1, "1", "09:30")], ("r1",)),
    "told twice at once by the worker": ([done(0, "1", "09:00"), done(1, "1", "09:00")], ("r1",)),
    "other work on the same object": (
        [done(0, "1"), make(1, "done", **job("2", "mail.receipt"))],
        (),
    ),
    "told live and imported": (
        [done(0, "1", "09:00"), done(1, "1", "09:00:20", **IMPORTED)],
        (),
    ),
    "imported first": ([done(0, "1", "09:00:20", **IMPORTED), done(1, "1", "09:00")], ()),
    "an import tells of another end": (
        [done(0, "1", "09:00"), done(1, "1", "09:30", **IMPORTED)],
        ("r1",),
    ),
    "two imports of one end": (
        [done(0, "1", "09:00", **IMPORTED), done(1, "1", "09:00:01", **IMPORTED)],
        (),
    ),
    "told and seen in the table": ([done(0, "1", "09:00"), row(1, "1", "10:00")], ()),
    "seen in the table twice": ([row(0, "1", "09:00"), row(1, "1", "10:00")], ()),
    "two jobs in the table": ([row(0, "1", "09:00"), row(1, "2", "10:00")], ("r1",)),
    "set aside": ([done(0, "1"), done(1, "2", state="quarantined")], ()),
    "two without a job": ([make(0, "done"), make(1, "done")], ("r1",)),
}


@pytest.mark.parametrize("case", AGAIN)
def test_work_that_was_done_again_is_named(case: str) -> None:
    statements, again = AGAIN[case]

    assert account_for(statements).again == again
    assert account_for(statements[::-1]).again == again


def test_an_object_that_nothing_names_has_nothing_recorded() -> None:
    assert account_for([]).became == "nothing_recorded"
    assert account_for([skip(0)]).became == "skipped"


def span(first: str, last: str | None = None) -> Span:
    return Span("oban/prod-1", at(first), None if last is None else at(last))


HOLES: dict[str, tuple[list[Span], tuple[str, str], tuple[str, str] | None]] = {
    "nothing": ([], ("09:00", "12:00"), ("09:00", "12:00")),
    "watched before": ([span("08:00")], ("09:00", "12:00"), None),
    "watched from the first moment": ([span("09:00")], ("09:00", "12:00"), None),
    "watched too late": ([span("10:00")], ("09:00", "12:00"), ("09:00", "10:00")),
    "an import and live after it": (
        [span("10:00"), span("08:00", "10:00")],
        ("09:00", "12:00"),
        None,
    ),
    "between an import and live": (
        [span("10:30"), span("08:00", "10:00")],
        ("09:00", "12:00"),
        ("10:00", "10:30"),
    ),
    "an import that ends too soon": (
        [span("08:00", "11:00")],
        ("09:00", "12:00"),
        ("11:00", "12:00"),
    ),
    "two imports that overlap": (
        [span("08:00", "11:00"), span("08:30", "09:30"), span("10:00", "13:00")],
        ("09:00", "12:00"),
        None,
    ),
    "watched after it": ([span("13:00")], ("09:00", "12:00"), ("09:00", "12:00")),
}


@pytest.mark.parametrize("case", HOLES)
def test_the_first_part_that_was_not_watched_is_found(case: str) -> None:
    spans, (first, last), hole = HOLES[case]

    found = find_hole(spans, Window(at(first), at(last)))

    assert found == (hole and (at(hole[0]), at(hole[1])))


def test_without_a_beginning_the_window_begins_with_the_first_thing_watched() -> None:
    window = Window(None, at("12:00"))

    assert find_hole([span("10:00")], window) is None
    assert find_hole([span("08:00", "09:00"), span("10:00")], window) == (at("09:00"), at("10:00"))
    assert find_hole([], window) is not None


def standing(
    feed: dict[str, Any] | None = None,
    counts: dict[str, int] | None = None,
    spans: list[Span] | None = None,
    window: tuple[str, str] = ("09:00", "12:00"),
    **more: Any,
) -> Standing:
    return stand(
        Window(at(window[0]), at(window[1])),
        [span("08:00")] if spans is None else spans,
        {**COMPLETE, **(feed or {})},
        ALL_DONE if counts is None else counts,
        **more,
    )


STANDINGS: dict[str, tuple[dict[str, Any], str, str, int]] = {
    "all accounted for": ({}, "accounted", "accounted", 0),
    "some without a record": (
        {"counts": {"done": 2, "nothing_recorded": 1}},
        "unrecorded",
        "unrecorded",
        1,
    ),
    "nothing watched": ({"spans": []}, "not_watched", "not-watched", 2),
    "watched too late": ({"spans": [span("10:00")]}, "not_watched", "not-watched", 2),
    "not watched, and without a record": (
        {"spans": [span("10:00")], "counts": {"nothing_recorded": 1}},
        "not_watched",
        "not-watched",
        2,
    ),
    "receipts not read yet": ({"lag": 3}, "feed_incomplete", "behind", 2),
    "a gap": ({"feed": {"complete_until": at("10:00"), "gaps": 1}}, "feed_incomplete",
              "feed-missing", 2),
    "a gap after the window": ({"feed": {"complete_until": at("12:00"), "gaps": 1}}, "accounted",
                               "accounted", 0),
    "a silent sender": ({"feed": {"complete_until": at("10:00"), "silent": 1}},
                        "feed_incomplete", "feed-missing", 2),
    "something lost": ({"feed": {"complete_until": None, "dropped": 4}}, "feed_incomplete",
                       "feed-missing", 2),
    "a disputed spool": ({"feed": {"complete_until": at("10:00"), "disputed": 1}},
                         "feed_incomplete", "feed-missing", 2),
    "known up to before the end": ({"feed": {"complete_until": at("11:54")}}, "feed_incomplete",
                                   "feed-open", 2),
    "known nearly to the end": ({"feed": {"complete_until": at("11:56")}}, "accounted",
                                "accounted", 0),
    "nobody numbers": ({"feed": {"complete_until": None, "unnumbered": 1}}, "feed_incomplete",
                       "feed-unnumbered", 2),
    "nobody numbers, and that will do": (
        {"feed": {"complete_until": None, "unnumbered": 1}, "takes_unnumbered": True},
        "accounted", "accounted", 0),
    "nothing is known of feeds": ({"feed": dict.fromkeys(COMPLETE)}, "feed_incomplete",
                                  "feed-unnumbered", 2),
    "a gap is not forgiven": (
        {"feed": {"complete_until": None, "gaps": 1}, "takes_unnumbered": True},
        "feed_incomplete", "feed-missing", 2),
    "an import alone, whatever is missing now": (
        {"spans": [span("08:00", "13:00")], "feed": {"complete_until": None, "gaps": 1}},
        "accounted", "accounted", 0),
}  # fmt: skip


@pytest.mark.parametrize("case", STANDINGS)
def test_a_list_stands_by_the_first_rule_that_matches(case: str) -> None:
    given_, code, rule, exit_code = STANDINGS[case]

    found = standing(**given_)

    assert (found.code, found.rule, found.exit_code) == (code, rule, exit_code)
    assert found.rule in RULE_WORDS
    assert found.sentence.endswith(".")


@given(
    st.fixed_dictionaries({name: st.integers(0, 3) for name in STATES}),
    st.fixed_dictionaries(
        {name: st.one_of(st.none(), st.integers(0, 2)) for name in ("gaps", "silent", "dropped")}
        | {"complete_until": st.one_of(st.none(), st.datetimes().map(lambda t: at("09:00")))}
    ),
    st.lists(st.sampled_from([span("08:00"), span("10:00"), span("08:00", "09:30")])),
    st.booleans(),
)
def test_nothing_incomplete_is_ever_called_accounted(
    counts: dict[str, int], feed: dict[str, Any], spans: list[Span], unnumbered: bool
) -> None:
    found = standing(feed, counts, spans, takes_unnumbered=unnumbered)

    is_broken = any(feed[name] for name in ("gaps", "silent", "dropped"))
    if found.exit_code < 2:
        assert find_hole(spans, Window(at("09:00"), at("12:00"))) is None
        assert not is_broken
    assert found.exit_code != 0 or counts["nothing_recorded"] == 0


LISTS: dict[str, tuple[str, list[str]]] = {
    "one id a line": ("PO-1\nPO-2\n", ["PO-1", "PO-2"]),
    "no last newline": ("PO-1\nPO-2", ["PO-1", "PO-2"]),
    "a header": ("id\nPO-1\n", ["PO-1"]),
    "a header of the type": ("Payout,amount\nPO-1,5\n", ["PO-1"]),
    "a column of the type's id": ("amount;payout_id\n5;PO-1\n", ["PO-1"]),
    "tabs": ("x\tid\n5\tPO-1\n", ["PO-1"]),
    "quotes and line ends inside": ('id,note\r\n"PO,1","a\r\nb"\r\nPO-2,\r\n', ["PO,1", "PO-2"]),
    "a byte order mark": ("\ufeffid\nPO-1\n", ["PO-1"]),
    "white space": ("id\n  PO-1 \n", ["PO-1"]),
    "kept from being a formula": ("id\n'=PO\n'+1\n'x\n", ["=PO", "+1", "'x"]),
    "a blank line": ("id\n\nPO-1\n", ["PO-1"]),
    "nothing": ("", []),
    "another script": ("id\n注文-1\n", ["注文-1"]),
}


@pytest.mark.parametrize("case", LISTS)
def test_a_list_is_read(case: str) -> None:
    text, ids = LISTS[case]

    assert read_expected(text.splitlines(keepends=True), "payout", most=9).ids == ids


BAD_LISTS: dict[str, tuple[str, str, str]] = {
    "no column of ids": ("a,b\n1,2\n", "", "none is called id"),
    "two columns of ids": ("id,payout\n1,2\n", "", "several could be it"),
    "no such column": ("a,b\n1,2\n", "c", "There is no column c; there are a, b."),
    "an id that is too long": ("x" * 256, "", "Line 1 has an id of 256 characters"),
    "a short line": ("a,id\n1\n", "", "Line 2 has 1 fields; the id is in field 2."),
    "too many": ("1\n2\n3\n4\n", "", "The list has more than 3 objects"),
}


@pytest.mark.parametrize("case", BAD_LISTS)
def test_a_list_that_cannot_be_read_is_refused_in_words(case: str) -> None:
    text, column, told = BAD_LISTS[case]

    with pytest.raises(BadExpected) as raised:
        read_expected(text.splitlines(keepends=True), "payout", column, most=3)

    assert told in str(raised.value)


def test_an_object_that_is_listed_again_counts_once_and_is_told() -> None:
    found = read_expected("a\nb\na\n\na\n".splitlines(keepends=True), "payout", most=9)

    assert (found.ids, found.again, found.listed_again, found.blank) == (
        ["a", "b"], {"a": 2}, 2, 1,
    )  # fmt: skip
    assert take_ids(["a", "b", "a"]).again == {"a": 1}


@given(st.text())
def test_any_text_is_a_list_or_is_refused(text: str) -> None:
    try:
        found = read_expected(text.splitlines(keepends=True), "payout", most=100)
    except BadExpected:
        return

    assert len(set(found.ids)) == len(found.ids)
    assert isinstance(found.blank, int)
