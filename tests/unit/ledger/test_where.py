"""A query as SQL: each mark has its value, in the order in which both stand in the statement."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.search import FieldSpec, Query, Term, parse
from ledger.domain import words
from ledger.queries.as_of import AsOf
from ledger.queries.conditions import source_condition
from ledger.queries.fields import FIELDS, INDEXED, SCANNED
from ledger.queries.selection import Where
from ledger.queries.where import where

NOON = datetime(2026, 10, 5, 12, tzinfo=UTC)
NOW = AsOf(41, NOON, is_now=True)
THEN = AsOf(41, NOON, is_now=False)
CUTS = [pytest.param(NOW, id="now"), pytest.param(THEN, id="as of")]
PLAIN = {name: spec for name, spec in FIELDS.items() if spec.type != "path"}


def of(q: str, as_of: AsOf = NOW) -> Where:
    query = parse(q, FIELDS)
    assert not query.faults
    return where(7, query, as_of)


def value_of(spec: FieldSpec) -> str:
    return {
        "word": spec.allowed[0] if spec.allowed else "word",
        "time": "2h",
        "number": "3",
        "ordinal": "3",
        "pair": "payout:PO-1",
    }.get(spec.type, f"value of {spec.name}")


def flat(found: Where) -> str:
    """Put each value in the place of its mark, to read the two together."""
    text, parameters = found.ones(9)
    assert text.count("%s") == len(parameters)
    for value in parameters:
        text = text.replace("%s", repr(value), 1)
    return text


def has_a_value_for_each_mark(found: Where) -> bool:
    statements = (found.ones(9), found.newest("e.leaf_index", 9, "e.leaf_index < %s", 5))
    return all(text.count("%s") == len(parameters) for text, parameters in statements)


@pytest.mark.parametrize("as_of", CUTS)
@pytest.mark.parametrize("name", sorted(PLAIN))
def test_each_qualifier_has_as_many_marks_as_values(name: str, as_of: AsOf) -> None:
    spec = PLAIN[name]
    one, other = value_of(spec), spec.allowed[-1] if spec.type == "word" else value_of(spec)

    for negated in (False, True):
        found = where(7, Query((Term(name, (one, other), negated),)), as_of)

        assert has_a_value_for_each_mark(found)
        assert any(one.startswith("NOT coalesce(") for one in found.conditions) == negated


@st.composite
def queries(draw: st.DrawFn) -> Query:
    names = draw(st.lists(st.sampled_from(sorted(PLAIN)), max_size=6))
    terms = tuple(
        Term(name, (value_of(PLAIN[name]),) * draw(st.integers(1, 3)), draw(st.booleans()))
        for name in names
    )
    return Query(terms, tuple(draw(st.lists(st.sampled_from(["101", "n3", "r1"]), max_size=2))))


@given(queries(), st.sampled_from([NOW, THEN]))
def test_any_query_has_as_many_marks_as_values(query: Query, as_of: AsOf) -> None:
    found = where(7, query, as_of)

    assert has_a_value_for_each_mark(found)


def test_values_stand_in_the_order_of_their_marks_in_the_past() -> None:
    found = of("pointer:pending task:mail", THEN)

    assert "past.at_leaf <= 41)" in flat(found)
    assert "e.project_id = 7 AND e.leaf_index <= 41" in flat(found)
    assert "e.task IN ('mail')" in flat(found)


def test_now_reads_pointers_from_the_entry_and_the_past_reads_them_from_their_events() -> None:
    assert "pointer_event" not in flat(of("pointer:resolved"))
    assert "e.pointer_state = 'resolved'" in flat(of("pointer:resolved"))
    assert "coalesce(p.pointer_state, '') = 'resolved'" in flat(of("pointer:resolved", THEN))


@pytest.mark.parametrize("as_of", CUTS)
def test_the_first_leaf_alone_can_be_asked_for(as_of: AsOf) -> None:
    cut = AsOf(0, as_of.at, is_now=as_of.is_now)

    found = where(7, Query((Term("kind", ("done",)),)), cut)

    assert "e.leaf_index <= 0 " in flat(found)
    assert found.first == 0


def test_what_is_pending_is_not_yet_due_and_what_dangles_is() -> None:
    assert "(e.pointer_state = 'waiting' AND e.due_at > " in flat(of("pointer:pending"))
    assert "e.due_at <= " in flat(of("pointer:dangling"))


def test_unresolved_stands_for_every_state_that_needs_someone() -> None:
    text = flat(of("pointer:unresolved"))

    assert all(f"'{state}'" in text for state in words.UNRESOLVED)
    assert "'pending'" not in text


def test_an_age_counts_back_from_the_clock_of_the_page() -> None:
    assert NOON - timedelta(hours=2) in of("after:2h", THEN).parameters


@pytest.mark.parametrize(
    ("q", "is_slow"),
    [
        ("", False),
        ("101", False),
        ("queue:q", True),
        ("queue:q 101", False),
        ("queue:q task:t", False),
        ("-task:t", True),
        ("data.event:stop", True),
        ("data.event:stop task:t", False),
        ("before:2h", True),
        ("after:2h", False),
        ("executions:>1", True),
    ],
)
def test_a_query_without_an_index_looks_at_the_newest_only(q: str, is_slow: bool) -> None:
    found = of(q, AsOf(SCANNED + 9, NOON, is_now=True))

    assert found.first == (10 if is_slow else 0)
    assert ("e.leaf_index >= %s" in found.text()) == is_slow


def test_paths_are_left_to_be_read_from_the_bodies() -> None:
    found = of("data.event:stop key.scope:e1 task:t")

    assert [(term.name, term.path) for term in found.paths] == [
        ("data", "event"),
        ("key", "scope"),
    ]
    assert "stop" not in found.parameters


def test_counts_are_cut_at_the_leaf_and_the_clock() -> None:
    assert "one.leaf_index <= 41) > 1" in flat(of("executions:>1", THEN))
    assert flat(of("deliveries:>=2", THEN)).count(repr(NOON)) == 2


def test_a_long_or_unstorable_name_is_looked_for_as_its_column_holds_it() -> None:
    (name,) = of(f"task:{'x' * 300}").parts[0].parameters

    assert len(name) < 255
    assert name.startswith("x" * 200 + "~")


@pytest.mark.parametrize(
    ("value", "parameters"),
    [
        ("oban", ["oban"]),
        ("oban/", ["oban", ""]),
        ("oban/prod-1", ["oban", "prod-1"]),
        ("a/b/c", ["a", "b/c", "a/b", "c"]),
        ("/", ["", ""]),
    ],
)
def test_a_source_is_parted_at_each_of_its_slashes(value: str, parameters: list[str]) -> None:
    condition, found = source_condition(value, "e.")

    assert list(found) == parameters
    assert condition.count("%s") == len(parameters)


def test_a_source_of_slashes_alone_stays_a_short_statement() -> None:
    condition, found = source_condition("/" * 3_000, "e.")

    assert condition.count("%s") == len(found) <= 64


def test_what_has_an_index_is_a_qualifier() -> None:
    assert set(FIELDS) >= INDEXED


@pytest.mark.parametrize(
    ("q", "indexes"),
    [
        ("pointer:unresolved", ["entry_by_pointer"] * 6),
        ("verdict:skip.paused", ["entry_by_verdict", "entry_by_pointer"]),
        ("task:mail,payout", ["entry_by_task"] * 2),
        ("job:7", ["entry_by_job_number"]),
        ("job:oban/prod/7", ["entry_by_job"]),
        ("task:mail scope:e1", ["entry_by_scope"]),
        ("task:mail subject:payout:PO-1", [""]),
        ("-task:mail", [""]),
    ],
)
def test_each_part_of_the_term_that_finds_fewest_is_led_by_an_index(
    q: str, indexes: list[str]
) -> None:
    assert [part.index for part in of(q).parts] == indexes


def test_what_a_pointer_reads_as_was_kept_without_an_index_of_earlier_times() -> None:
    assert [part.index for part in of("pointer:cycle task:mail", THEN).parts] == ["entry_by_task"]


@pytest.mark.parametrize(
    ("q", "is_by_time"),
    [("after:2h", True), ("task:t after:2h", True), ("job:7 after:2h", False), ("task:t", False)],
)
def test_what_happened_since_a_moment_is_counted_by_time_unless_a_term_finds_few(
    q: str, is_by_time: bool
) -> None:
    assert of(q).is_by_time == is_by_time
