"""The canonical text: equal bodies have equal texts, and no body is too strange to have one."""

from __future__ import annotations

import json
import random
import sys
import tracemalloc
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ledger.domain import canonical
from ledger.domain.canonical import Number

# A busy machine is no failure.
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

PLACE = "\ue000"

integers = st.integers(min_value=-(10**30), max_value=10**30).map(str)
fractions = st.from_regex(
    r"-?(0|[1-9][0-9]{0,6})\.[0-9]{1,8}([eE][+-]?[0-9]{1,4})?", fullmatch=True
)
numbers = st.one_of(integers, fractions, st.just("-0")).map(Number)
characters = st.characters(codec=None, categories=None)
texts = st.one_of(
    st.text(characters, max_size=8),
    st.sampled_from([PLACE, f'"{PLACE}"', f"x{PLACE}", "\\ue000", f"\\{PLACE}", "1", ""]),
)
scalars = st.one_of(st.none(), st.booleans(), numbers, texts)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=4)),
    max_leaves=16,
)
bodies = st.dictionaries(texts, values, max_size=6)


def joined(value: Any) -> Any:
    """A value as JSON can hold it: two escapes of one surrogate pair are one character."""
    if type(value) is str:
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    if type(value) is dict:
        return {joined(name): joined(item) for name, item in value.items()}
    if type(value) is list:
        return [joined(item) for item in value]
    return value


def write(value: Any, dice: random.Random) -> str:
    """JSON of a value with members, white space and escapes as the dice fall."""
    space = dice.choice(["", " ", "\n\t", "\r\n "])
    if type(value) is Number:
        return space + value.token + space
    if type(value) is str:
        return space + json.dumps(value) + space
    if type(value) is dict:
        members = list(value.items())
        dice.shuffle(members)
        return "{" + ",".join(write(k, dice) + ":" + write(v, dice) for k, v in members) + "}"
    if type(value) is list:
        return "[" + ",".join(write(item, dice) for item in value) + "]" + space
    return json.dumps(value)


def escaped(text: str, dice: random.Random) -> str:
    """A JSON string's text with some of its letters written as escapes."""
    return "".join(
        f"\\u{ord(c):04x}" if c.isalnum() and c.isascii() and dice.random() < 0.5 else c
        for c in text
    )


@patient
@given(values)
def test_the_quick_writer_and_the_slow_one_agree(value: Any) -> None:
    assert canonical.canonical_text(value, without=()) == canonical.write_slowly(value).encode()


@patient
@given(values.map(joined))
def test_a_canonical_text_reads_back_as_the_value_and_is_its_own_canonical_text(value: Any) -> None:
    text = canonical.canonical_text(value, without=())

    again = canonical.parse(text)

    assert again == value
    assert canonical.canonical_text(again, without=()) == text


@patient
@given(bodies.map(joined), st.randoms(use_true_random=False))
def test_order_white_space_and_escapes_make_no_difference(
    body: dict[str, Any], dice: random.Random
) -> None:
    sent = write(body, dice).encode()

    assert canonical.canonical_text(canonical.parse(sent)) == canonical.canonical_text(body)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (rb'{"a":"\u0061\/"}', rb'{"a":"a/"}'),
        ('{"é":1}'.encode(), rb'{"\u00e9":1}'),
        ('{"a":"😀"}'.encode(), rb'{"a":"\ud83d\uDE00"}'),
        (rb'{"a":1,"b":2}', b' {"b" : 2,\r\n\t"a":1} '),
        (rb'{"a":1,"sent":{"attempt":1}}', rb'{"sent":{"attempt":2},"a":1}'),
    ],
)
def test_two_spellings_of_one_body_are_equal(one: bytes, other: bytes) -> None:
    texts = {canonical.canonical_text(canonical.parse(raw)) for raw in (one, other)}

    assert len(texts) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (b'{"n":1}', b'{"n":1.0}'),
        (b'{"n":1}', b'{"n":1e0}'),
        (b'{"n":0}', b'{"n":-0}'),
        (b'{"n":18014398509481984}', b'{"n":18014398509481985}'),
        (b'{"n":1}', b'{"n":"1"}'),
        (b'{"n":1}', '{"n":"\ue0001\ue000"}'.encode()),
        (b'{"a":{"sent":1}}', b'{"a":{"sent":2}}'),
        (b'{"a":[1,2]}', b'{"a":[2,1]}'),
        (rb'{"a":"\ud800"}', rb'{"a":"\ufffd"}'),
        (b'{"a":null}', b"{}"),
    ],
)
def test_what_was_sent_otherwise_is_another_body(one: bytes, other: bytes) -> None:
    texts = {canonical.canonical_text(canonical.parse(raw)) for raw in (one, other)}

    assert len(texts) == 2


def test_a_text_is_sorted_by_code_point_and_has_no_white_space() -> None:
    raw = '{"b": [1, 2.50], "a": {"\U0001f600": true, "\uffff": null}, "B": "x y"}'.encode()

    text = canonical.canonical_text(canonical.parse(raw))

    assert text == rb'{"B":"x y","a":{"\uffff":null,"\ud83d\ude00":true},"b":[1,2.50]}'


def test_a_stub_leaves_out_sent_and_data_of_the_top_level_only() -> None:
    body = canonical.parse(b'{"data":1,"kind":"done","sent":2,"x":{"data":3,"sent":4}}')

    assert canonical.stub_text(body) == b'{"kind":"done","x":{"data":3,"sent":4}}'


def test_a_long_integer_keeps_its_digits() -> None:
    digits = b"9" * 5000

    text = canonical.canonical_text(canonical.parse(b'{"n":' + digits + b"}"))

    assert text == b'{"n":' + digits + b"}"


def test_nul_and_lone_surrogates_survive() -> None:
    raw = rb'{"a":"x\u0000y","b":"\udc00\ud800"}'

    assert canonical.canonical_text(canonical.parse(raw)) == raw


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"", "empty"),
        (b" \r\n\t", "empty"),
        (b"\xff", "utf8"),
        (b'{"a":"\xed\xa0\x80"}', "utf8"),
        (b"\xef\xbb\xbf{}", "json"),
        (b"\xc2\xa0{}", "json"),
        (b"\xc2\xa0", "json"),
        (b'{"a":1', "json"),
        (b"{} {}", "json"),
        (b'{"a":NaN}', "json"),
        (b'{"a":-Infinity}', "json"),
        (b'{"a":01}', "json"),
        (b'{"a":1.}', "json"),
        (b'{"a":+1}', "json"),
        (b'{"a":"\n"}', "json"),
        (rb'{"a":"\x00"}', "json"),
        (rb'{"a":"\u00"}', "json"),
        (b"{'a':1}", "json"),
        (b'{"a":1,}', "json"),
        (b'{"a":1,"a":1}', "duplicate"),
        (rb'{"a":1,"\u0061":1}', "duplicate"),
        (b"[" * 100_000, "depth"),
        (b"[" * 100_000 + b"]" * 100_000, "depth"),
        (b"[" * 201 + b"]" * 201, "depth"),
        (b'{"a":' * 201 + b"1" + b"}" * 201, "depth"),
    ],
)
def test_what_is_no_strict_json_is_refused_with_its_code(raw: bytes, code: str) -> None:
    with pytest.raises(canonical.NotCanonical) as refusal:
        canonical.parse(raw)

    assert refusal.value.code == code


def test_two_hundred_levels_are_read() -> None:
    raw = b"[" * 200 + b"]" * 200

    assert canonical.canonical_text(canonical.parse(raw)) == raw


def test_brackets_in_texts_and_beside_each_other_are_no_depth() -> None:
    raw = b'["' + b"[" * 300 + b'",' + b",".join([b"[]"] * 300) + b"]"

    assert canonical.canonical_text(canonical.parse(raw)) == raw


@pytest.mark.parametrize(
    ("raw", "pointers"),
    [
        (b'{"a":1,"a":2}', ("/a",)),
        (b'{"a":1,"a":2,"a":3}', ("/a",)),
        (b'{"x":[0,{"a/b":1,"a/b":2}]}', ("/x/1/a~1b",)),
        (b'{"":1,"":2,"~":{"k":1,"k":2}}', ("/", "/~0/k")),
        (b'{"a":{"k":1,"k":2},"a":3}', ("/a",)),
        (b'{"a":1,"b":{"a":1}}', ()),
    ],
)
def test_members_named_twice_are_pointed_at_and_the_last_counts(
    raw: bytes, pointers: tuple[str, ...]
) -> None:
    value, doubled = canonical.parse_any(raw)

    assert doubled == pointers
    assert canonical.plain(value) == json.loads(raw)


def test_a_long_name_over_many_doubled_members_takes_no_memory() -> None:
    raw = b'{"%s":[%s]}' % (b"x" * 200_000, b",".join([b'{"a":1,"a":2}'] * 20_000))

    tracemalloc.start()
    _, doubled = canonical.parse_any(raw)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert 0 < len(doubled) < 20
    assert peak < 64 << 20


def test_no_member_of_the_top_level_hides_behind_others() -> None:
    names = [*map(str, range(100)), "id"]
    raw = "{" + ",".join(f'"{name}":1,"{name}":2' for name in names) + "}"

    assert "/id" in canonical.parse_any(raw.encode())[1]


def test_an_integer_that_python_is_told_not_to_convert_is_none() -> None:
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)

    try:
        assert Number("9" * 641).as_int() is None
    finally:
        sys.set_int_max_str_digits(limit)


@patient
@given(st.binary(max_size=60) | st.text('{}[]":,\\u0aeE+-. \n', max_size=40).map(str.encode))
def test_bytes_either_parse_as_the_standard_library_reads_them_or_are_refused(raw: bytes) -> None:
    try:
        value = canonical.parse(raw)
    except canonical.NotCanonical:
        return

    assert canonical.canonical_text(value, without=()) == canonical.write_slowly(value).encode()
    json.loads(raw)


@pytest.mark.parametrize(
    ("token", "value"),
    [
        ("0", 0),
        ("-7", -7),
        ("18014398509481985", 18014398509481985),
        ("1.5", 1.5),
        ("0.1", 0.1),
        ("1e3", 1000.0),
        ("1e400", "1e400"),
        ("0.1000000000000000000000001", "0.1000000000000000000000001"),
        ("1e-999999999999999999999", "1e-999999999999999999999"),
        ("1e-400000000", "1e-400000000"),
        ("9" * 4001, "9" * 4001),
    ],
)
def test_a_number_is_plain_where_python_holds_it_and_its_token_where_not(
    token: str, value: object
) -> None:
    assert canonical.plain([{"n": Number(token)}]) == [{"n": value}]
    assert type(canonical.plain(Number(token))) is type(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("4", "4"),
        (Number("4"), "4"),
        (Number("-4"), "-4"),
        (Number("4.0"), None),
        (Number("4e1"), None),
        (True, None),
        (None, None),
        ([], None),
    ],
)
def test_a_whole_number_stands_for_its_digits(value: object, text: str | None) -> None:
    assert canonical.text_of(value) == text


def test_a_number_is_no_text() -> None:
    number = Number("4")

    assert not isinstance(number, str)
    assert number != "4"
    assert f"{number}" == "4"


@pytest.mark.parametrize("raw", [b'{"a": "x', b'{"a": "\x01"}', b"{a}", b'"\\u12"'])
def test_what_is_wrong_with_json_is_told_with_its_place_in_plain_english(raw):
    with pytest.raises(canonical.NotCanonical) as refused:
        canonical.parse(raw)

    assert refused.value.code == "json"
    assert " at line 1 column " in refused.value.detail
    assert " at at " not in refused.value.detail
