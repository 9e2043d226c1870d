"""JSON as Go reads it into a struct, where Python's reader says something else."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.domain import go_json, json_spans
from events.domain.go_json import Body, Fields
from events.domain.json_spans import NotJson

FIELDS = Fields({"id": int, "type": str, "workspace_id": str, "items_changed": bool})
DEEP = 10_000

READ: dict[str, tuple[str, dict[str, Any]]] = {
    "all members": (
        '{"id":1,"type":"t","items_changed":true}', {"id": 1, "type": "t", "items_changed": True},
    ),
    "null fills nothing": ("null", {}),
    "null after spaces": (" \t\r\n null \n", {}),
    "a member that is null": ('{"id":null,"type":"t"}', {"type": "t"}),
    "an unknown member": ('{"id":1,"more":[{"id":2}]}', {"id": 1}),
    "another case": ('{"ID":1,"Type":"t","Workspace_Id":"w"}',
                     {"id": 1, "type": "t", "workspace_id": "w"}),
    "the letter k of Kelvin": ('{"wor\u212aspace_id":"w"}', {"workspace_id": "w"}),
    "the long s": ('{"work\u017fpace_id":"w"}', {"workspace_id": "w"}),
    "a name that only grows to another": ('{"\ufb05ype":"t"}', {}),
    "a name written with an escape": ('{"t\\u0079pe":"t"}', {"type": "t"}),
    "the last of two wins": ('{"id":1,"id":2}', {"id": 2}),
    "the last of two cases wins": ('{"id":1,"ID":2}', {"id": 2}),
    "the last wins between cases": ('{"ID":2,"id":1,"Id":3,"id":4}', {"id": 4}),
    "null does not undo the one before": ('{"id":1,"id":null}', {"id": 1}),
    "a number of 5,000 digits elsewhere": ('{"id":1,"x":' + "9" * 5_000 + "}", {"id": 1}),
    "a number past int64 elsewhere": ('{"id":1,"x":9223372036854775808}', {"id": 1}),
    "1e999 elsewhere": ('{"id":1,"x":1e999}', {"id": 1}),
    "the greatest int64": ('{"id":9223372036854775807}', {"id": 2**63 - 1}),
    "minus zero": ('{"id":-0}', {"id": 0}),
    "half a surrogate": ('{"type":"a\\ud800b"}', {"type": "a\ufffdb"}),
    "two halves": ('{"type":"\\ud83d\\ude00"}', {"type": "\U0001f600"}),
    "a delete character": ('{"type":"\x7f"}', {"type": "\x7f"}),
    "false": ('{"items_changed":false}', {"items_changed": False}),
    "nested as deep as Go goes": (
        '{"id":1,"x":' + "[" * (DEEP - 1) + "]" * (DEEP - 1) + "}", {"id": 1},
    ),
}  # fmt: skip

REFUSED = {
    "one level deeper": '{"id":1,"x":' + "[" * DEEP + "]" * DEEP + "}",
    "deeper than any stack": "[" * 1_000_000,
    "a text for a number": '{"id":"1"}',
    "a fraction": '{"id":1.5}',
    "a whole number with a point": '{"id":1.0}',
    "a whole number with an exponent": '{"id":1e3}',
    "what one member was and another is not": '{"id":"x","id":1}',
    "past int64": '{"id":9223372036854775808}',
    "far past int64": '{"id":' + "9" * 5_000 + "}",
    "a number for a text": '{"type":1}',
    "a list for a text": '{"type":["t"]}',
    "an object for a text": '{"type":{}}',
    "true for a number": '{"id":true}',
    "a number for a truth": '{"items_changed":1}',
    "a list": "[]",
    "a text": '"x"',
    "true": "true",
    "a number": "1",
    "nothing": "",
    "spaces": "  ",
    "text behind": '{"id":1} x',
    "a second value": "{}{}",
    "a comma too many": '{"id":1,}',
    "no comma": '{"id":1 "type":"t"}',
    "no colon": '{"id" 1}',
    "no name": "{1:2}",
    "an open object": '{"id":1',
    "an open text": '{"type":"t',
    "a leading zero": '{"x":01}',
    "a point without digits": '{"x":1.}',
    "a plus sign": '{"x":+1}',
    "NaN": '{"x":NaN}',
    "Infinity": '{"x":-Infinity}',
    "a line feed in a text": '{"type":"a\nb"}',
    "an unknown escape": '{"type":"\\x41"}',
    "a short escape": '{"type":"\\u12"}',
    "another space": '{"id":\u00a01}',
    "a byte order mark": '\ufeff{"id":1}',
    "the wrong closing mark": '{"x":[1}',
    "a closing mark alone": "]",
    "single quotes": "{'id':1}",
}


@pytest.mark.parametrize("name", READ)
def test_a_struct_is_filled_as_go_does(name: str) -> None:
    text, expected = READ[name]

    found = go_json.unmarshal(text, FIELDS)

    assert found is not None
    assert filled(found) == expected


@pytest.mark.parametrize("name", REFUSED)
def test_what_go_gives_an_error_for_is_no_body(name: str) -> None:
    assert go_json.unmarshal(REFUSED[name], FIELDS) is None


def test_bytes_that_are_not_utf8_are_replaced_one_by_one() -> None:
    text = go_json.text_of(b'{"type":"\xe2\x82\xff\xed\xa0\x80"}')

    assert go_json.unmarshal(text, FIELDS) == Body({"type": "\ufffd" * 6}, True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", 0), ("+7", 7), ("-7", -7), ("007", 7), ("-0", 0), ("9" * 18, 10**18 - 1),
        ("-9223372036854775808", -(2**63)), ("-9223372036854775809", None), ("", None),
        ("-", None), ("+-1", None), ("1_0", None), (" 1", None), ("1\n", None), ("1e1", None),
        ("\u0661", None), ("0" * 9_999, 0),
    ],
)  # fmt: skip
def test_integers_are_read_as_go_parses_them(text: str, expected: int | None) -> None:
    assert go_json.parse_int64(text.encode()) == expected


EVENT = Fields(
    {
        "id": int, "type": str, "workspace_id": str, "items_changed": bool, "title": str,
        "source": str, "timestamp": int, "count": int,
    }
)  # fmt: skip
RECORDED = json.loads((Path(__file__).parents[2] / "data" / "go_json.json").read_text())["cases"]


def test_what_go_itself_answered_is_answered_here() -> None:
    for coded, expected in RECORDED:
        text = go_json.text_of(base64.b64decode(coded))
        found = go_json.unmarshal(text, EVENT)

        answer = found and {
            name: str(value) if name in ("id", "timestamp") else value
            for name, value in found.members.items()
            if name in EVENT.kinds and value
        }
        assert (text, answer) == (text, expected)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


def value_of(text: str, span: json_spans.Span) -> Any:
    if span.kind == json_spans.OBJECT:
        return {name: value_of(text, one) for name, one in span.members}
    if span.kind == json_spans.ARRAY:
        return [value_of(text, one) for one in span.items]
    return json.loads(json_spans.token_of(text, span))


@given(VALUES, st.sampled_from([None, 1]), st.booleans())
def test_places_in_a_text_say_what_the_common_reader_does(
    value: Any, indent: int | None, is_ascii: bool
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=is_ascii)

    assert value_of(text, json_spans.read(text)) == value


def is_json(text: str) -> bool:
    def refuse(word: str) -> None:
        raise ValueError(word)

    try:
        json.loads(text, parse_constant=refuse)
    except ValueError:
        return False
    return True


def is_read(text: str) -> bool:
    try:
        json_spans.read(text)
    except NotJson:
        return False
    return True


@given(st.text(st.sampled_from('{}[],:"0123e+-. \\nutrlfase\n'), max_size=12))
def test_what_is_json_for_the_common_reader_is_json_here_and_nothing_else(text: str) -> None:
    assert is_read(text) == is_json(text)


def filled(body: Body | None) -> Any:
    return body and {one: body.members[one] for one in body.members if one in FIELDS.kinds}


PAIRS = st.lists(
    st.tuples(
        st.sampled_from(["id", "ID", "type", "workspace_id", "items_changed", "x", "x y"]),
        st.sampled_from(['"t"', "1", "-2", "1.5", "null", "true", "[]", '{"id":1}', "1e3"]),
    ),
    max_size=5,
)


@given(PAIRS)
def test_the_quick_way_and_the_careful_way_fill_the_same(pairs: list[tuple[str, str]]) -> None:
    text = "{" + ",".join(f'"{name}":{value}' for name, value in pairs) + "}"

    quick, careful = go_json.unmarshal(text, FIELDS), go_json.unmarshal(f"\n{text}", FIELDS)

    assert filled(quick) == filled(careful)
    assert careful is None or not careful.is_plain
