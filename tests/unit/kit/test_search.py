"""The query grammar: what it reads, what it refuses and where, and what it writes back."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kit import search
from kit.search import FieldSpec, Term

NOW = datetime(2026, 10, 5, 9, 0, 30, tzinfo=UTC)
KNOWN = {
    spec.name if spec.type != "path" else f"{spec.name}.": spec
    for spec in (
        FieldSpec("kind", "word", ("done", "skip", "cancel")),
        FieldSpec("task"),
        FieldSpec("reason", "text", ("paused", "in_flight")),
        FieldSpec("key"),
        FieldSpec("key", "path"),
        FieldSpec("data", "path"),
        FieldSpec("subject", "pair"),
        FieldSpec("executions", "number"),
        FieldSpec("gen", "ordinal"),
        FieldSpec("after", "time"),
        FieldSpec("occurred.after", "time"),
    )
}


def parse(text: str) -> search.Query:
    return search.parse(text, KNOWN)


READ = {
    "one value": ("kind:skip", Term("kind", ("skip",))),
    "comma means or": ("kind:skip,done", Term("kind", ("skip", "done"))),
    "minus means not": ("-kind:skip", Term("kind", ("skip",), negated=True)),
    "quotes hold a space": ('task:"a b"', Term("task", ("a b",))),
    "quotes hold a comma": ('task:"a,b",c', Term("task", ("a,b", "c"))),
    "quotes hold a colon": ('task:"a:b"', Term("task", ("a:b",))),
    "later colons belong to the value": ("task:a:b", Term("task", ("a:b",))),
    "an escaped quote": (r'task:"a\"b\\c"', Term("task", ('a"b\\c',))),
    "a backslash outside quotes": (r"task:a\b", Term("task", (r"a\b",))),
    "an empty value in quotes": ('task:""', Term("task", ("",))),
    "an empty value among others": ('task:a,""', Term("task", ("a", ""))),
    "a typed path": ("key.scope:exec_a1", Term("key", ("exec_a1",), path="scope")),
    "the bare name of a path": ("key:exec_a1", Term("key", ("exec_a1",))),
    "a deep path": ("data.a.b:1", Term("data", ("1",), path="a.b")),
    "a path in quotes": ('data."a: b":1', Term("data", ("1",), path="a: b")),
    "greater": ("executions:>1", Term("executions", ("1",), comparison=">")),
    "at least": ("gen:>=2", Term("gen", ("2",), comparison=">=")),
    "equal, spelled out": ("executions:=1", Term("executions", ("1",))),
    "a generation that is no number": ("gen:g2", Term("gen", ("g2",))),
    "a sign that is text": ("task:>1", Term("task", (">1",))),
    "a quoted sign is text": ('gen:">1"', Term("gen", (">1",))),
    "a pair": ("subject:payout:PO-1", Term("subject", ("payout:PO-1",))),
    "a pair with a space": ('subject:payout:"PO 1"', Term("subject", ("payout:PO 1",))),
    "an age": ("after:2h", Term("after", ("2h",))),
    "a name with a dot": ("occurred.after:2026-10-05", Term("occurred.after", ("2026-10-05",))),
    "free text beside suggestions": ("reason:mine", Term("reason", ("mine",))),
}


@pytest.mark.parametrize(("text", "term"), READ.values(), ids=READ.keys())
def test_a_term_is_read(text: str, term: Term) -> None:
    query = parse(text)

    assert query.terms == (term,)
    assert query.words == query.faults == ()


FAULTS = {
    "an unknown qualifier": ("kind:skip knd:x", 10, "unknown-name"),
    "an unknown qualifier behind a minus": ("-knd:x", 1, "unknown-name"),
    "a word outside the vocabulary": ("kind:skip,nope", 10, "bad-value"),
    "no value": ("a kind:", 2, "no-value"),
    "no value after a comma": ("task:a,", 0, "no-value"),
    "no value before a comma": ("task:,a", 0, "no-value"),
    "no number": ("executions:many", 11, "bad-value"),
    "a number too long for a database": ("executions:>" + "9" * 30, 12, "bad-value"),
    "a number in other digits": ("executions:٣", 11, "bad-value"),
    "a comparison without a number": ("executions:>", 0, "no-value"),
    "a comparison of text": ("gen:>b", 5, "bad-value"),
    "two values compared": ("executions:>1,2", 0, "many-compared"),
    "no time": ("after:yesterday", 6, "bad-value"),
    "a day that never was": ("after:2026-02-30", 6, "bad-value"),
    "a pair without an id": ("subject:payout", 8, "bad-value"),
    "a path without a name": ("data:1", 0, "no-path"),
    "a path with a dot and no name": ("data.:1", 0, "no-path"),
    "a quote left open": ('abc task:"a b', 9, "open-quote"),
    "a minus before a word": ("-abc", 0, "lone-minus"),
    "a minus alone": ("a - b", 2, "lone-minus"),
    "nothing between quotes": ('""', 0, "empty-word"),
    "no name before the colon": (":a", 0, "unknown-name"),
    "a NUL": ("task:a\x00b", 6, "character"),
    "a lone surrogate": ("\ud800", 0, "character"),
    "too long": ("a" * 4_001, 4_000, "too-long"),
    "too many words": ("a " * 100 + "b", 200, "too-many"),
    "many more words than may be": ("a " * 100 + "b c d e:f", 200, "too-many"),
    "too many values": ("task:" + ",".join("a" * 101), 0, "too-many"),
}


@pytest.mark.parametrize(("text", "position", "code"), FAULTS.values(), ids=FAULTS.keys())
def test_a_fault_names_its_place(text: str, position: int, code: str) -> None:
    (fault,) = parse(text).faults

    assert (fault.position, fault.code) == (position, code)


def test_an_unknown_qualifier_names_the_nearest_known_one_first() -> None:
    (fault,) = parse("knd:skip").faults

    assert fault.allowed[0] == "kind"
    assert set(fault.allowed) == {spec.name for spec in KNOWN.values()} - {"data"} | {
        "data.NAME",
        "key.NAME",
    }


def test_a_bad_value_names_what_is_allowed() -> None:
    (fault,) = parse("kind:nope").faults

    assert fault.allowed == ("done", "skip", "cancel")
    assert fault.message == 'kind: takes one of done, skip, cancel, not "nope".'
    assert fault.length == len("nope")


def test_what_was_understood_stands_beside_the_faults() -> None:
    query = parse("kind:skip knd:x abc executions:many")

    assert query.terms == (Term("kind", ("skip",)),)
    assert query.words == ("abc",)
    assert len(query.faults) == 2


def test_links_keep_what_was_too_much() -> None:
    query = parse("kind:skip " + "a " * 99 + "b  c")

    assert search.without(query, Term("kind", ("skip",))) == "a " * 99 + "b  c"


def test_bare_words_are_kept_as_they_are() -> None:
    query = parse('8ee956d2 a,b "urn:x:1" "-5" "two words"')

    assert query.words == ("8ee956d2", "a,b", "urn:x:1", "-5", "two words")
    assert query.faults == ()


MOMENTS = {
    "minutes": ("15m", datetime(2026, 10, 5, 8, 45, 30, tzinfo=UTC)),
    "hours": ("2h", datetime(2026, 10, 5, 7, 0, 30, tzinfo=UTC)),
    "days": ("7d", datetime(2026, 9, 28, 9, 0, 30, tzinfo=UTC)),
    "a date is its first moment": ("2026-10-05", datetime(2026, 10, 5, tzinfo=UTC)),
    "a time": ("2026-10-05T09:00:30Z", NOW),
    "another zone": ("2026-10-05T11:00:30+02:00", NOW),
    "a small t": ("2026-10-05t09:00:30z", NOW),
    "nanoseconds are cut": (
        "2026-10-05T09:00:30.123456789Z",
        NOW.replace(microsecond=123456),
    ),
    "tenths": ("2026-10-05T09:00:30.5Z", NOW.replace(microsecond=500_000)),
}


@pytest.mark.parametrize(("text", "at"), MOMENTS.values(), ids=MOMENTS.keys())
def test_a_time_is_resolved_against_the_given_now(text: str, at: datetime) -> None:
    assert search.moment(text, NOW) == at


NO_MOMENTS = (
    "",
    "2h30m",
    "-2h",
    "h",
    "999999d",
    "20261005",
    "2026-10-05T09:00:30",
    "2026-10-05T24:00:01Z",
    "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59-14:00",
    "2026-10-05T09:00:30+99:99",
)


@pytest.mark.parametrize("text", NO_MOMENTS)
def test_what_is_no_time_is_refused(text: str) -> None:
    assert not search.is_time(text)


def test_a_pair_is_parted_at_its_first_colon() -> None:
    assert search.pair("payout:PO:1") == ("payout", "PO:1")


letters = st.characters(exclude_categories=["Cs"], exclude_characters="\x00")
texts = st.text(st.sampled_from('ab1 ,:"\\><=-.\n') | letters, max_size=12)
names = st.sampled_from(["task", "key", "reason"])
numbers = st.integers(-(10**17), 10**17).map(str)
terms = st.one_of(
    st.builds(
        Term,
        names,
        st.lists(texts, min_size=1, max_size=4).map(tuple),
        st.booleans(),
    ),
    st.builds(
        Term,
        st.sampled_from(["executions", "gen"]),
        numbers.map(lambda one: (one,)),
        st.booleans(),
        st.sampled_from(["=", ">", ">=", "<", "<="]),
    ),
    st.builds(
        Term,
        st.sampled_from(["key", "data"]),
        texts.map(lambda one: (one,)),
        st.booleans(),
        path=texts.filter(bool),
    ),
    st.builds(Term, st.just("gen"), texts.map(lambda one: (one,))),
)


@example([Term("gen", (">b",)), Term("gen", ("=1",))], ["-a", "a:b", '"'])
@given(st.lists(terms, max_size=6), st.lists(texts.filter(bool), max_size=4))
def test_what_is_written_reads_the_same(some: list[Term], words: list[str]) -> None:
    query = parse(search.render(some, words))

    assert query.faults == ()
    assert query.terms == tuple(some)
    assert query.words == tuple(words)


@given(st.text(st.sampled_from('ab:,- ">=<\\.key0dtsk\x00'), max_size=60))
def test_no_text_is_ignored_or_breaks_the_parser(text: str) -> None:
    query = parse(text)

    assert bool(text.split()) == bool(query.terms or query.words or query.faults)
    assert all(0 <= fault.position <= len(text) for fault in query.faults)
    if not query.faults:
        again = parse(search.render(query.terms, query.words))
        assert (again.terms, again.words) == (query.terms, query.words)


def test_a_term_can_be_taken_away() -> None:
    query = parse('kind:skip task:"a b" abc')

    assert search.without(query, query.terms[0]) == 'task:"a b" abc'


def test_a_facet_replaces_what_was_asked_of_its_name() -> None:
    query = parse("kind:skip,done -kind:cancel key.scope:a abc")

    assert search.with_term(query, "kind", "done") == "-kind:cancel key.scope:a kind:done abc"
    assert search.with_term(query, "key", "b c", path="scope") == (
        'kind:skip,done -kind:cancel key.scope:"b c" abc'
    )


def test_a_value_can_be_excluded_beside_the_others() -> None:
    query = parse("kind:skip")

    assert search.with_term(query, "task", "a", negated=True) == "kind:skip -task:a"


def test_links_keep_what_was_not_understood() -> None:
    query = parse("kind:skip knd:x abc")

    assert search.without(query, query.terms[0]) == "abc knd:x"


def test_completion_offers_names_first() -> None:
    found = search.suggest("abc -k", 6, KNOWN)

    assert [one.text for one in found] == ["key.", "key:", "kind:"]
    assert {(one.start, one.end, one.origin) for one in found} == {(5, 6, "field")}


def test_completion_offers_values_and_marks_recent_ones() -> None:
    found = search.suggest("reason:x,p zz", 10, KNOWN, {"reason": ["paused", "paid late"]})

    assert [(one.text, one.origin) for one in found] == [
        ("paused", "value"),
        ('"paid late"', "recent"),
    ]
    assert {(one.start, one.end) for one in found} == {(9, 10)}


def test_completion_in_an_open_quote_replaces_the_quote() -> None:
    (found,) = search.suggest('reason:"pai', 11, KNOWN, {"reason": ["paid late"]})

    assert (found.text, found.start, found.end) == ('"paid late"', 7, 11)


def test_completion_offers_ages_for_a_time() -> None:
    found = search.suggest("after:", 6, KNOWN)

    assert [one.text for one in found] == list(search.RELATIVE_TIMES)


def test_completion_after_a_space_offers_every_name() -> None:
    assert len(search.suggest("kind:skip ", 10, KNOWN)) == len(KNOWN)
