"""Any JSON bus is read by the paths that its settings name."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.domain import bus_settings, conditions, json_paths
from events.domain.decoded import Answer, Decoded, Frame, Reject
from events.domain.generic import ENTRIES_A_MS, Reader

LIVE = {"id": "$.seq", "epoch": "$.meta.epoch", "channels": ["events:*"]}


def reader(**settings: Any) -> Reader:
    return Reader(bus_settings.settings_of("live", {"profile": "generic", **LIVE, **settings}))


def read(message: str | bytes, channel: str = "events:eu:orders", **settings: Any) -> Answer:
    raw = message.encode() if isinstance(message, str) else message
    return reader(**settings).decode(channel, raw)


def short(found: Answer) -> str:
    if isinstance(found, Decoded):
        return str(found.id) if found.epoch is None else f"{found.epoch}:{found.id}"
    return "frame" if isinstance(found, Frame) else found.code  # type: ignore[union-attr]


MESSAGES: dict[str, tuple[str, str]] = {
    "an id and an epoch": ('{"seq":5,"meta":{"epoch":"e1"}}', "e1:5"),
    "an id alone": ('{"seq":5}', "5"),
    "an epoch that is a number": ('{"seq":5,"meta":{"epoch":7}}', "7:5"),
    "an epoch that is null": ('{"seq":5,"meta":{"epoch":null}}', "5"),
    "an epoch that is empty": ('{"seq":5,"meta":{"epoch":""}}', "5"),
    "an epoch that is true": ('{"seq":5,"meta":{"epoch":true}}', "epoch_not_text"),
    "an epoch that is a list": ('{"seq":5,"meta":{"epoch":[1]}}', "epoch_not_text"),
    "an epoch below a text": ('{"seq":5,"meta":"epoch"}', "5"),
    "an epoch of 26 digits": (f'{{"seq":5,"meta":{{"epoch":{"1" * 26}}}}}', f"{'1' * 26}:5"),
    "an id as a text": ('{"seq":"9007199254740993"}', "9007199254740993"),
    "an id past 2^63": ('{"seq":9223372036854775808}', "9223372036854775808"),
    "an id of 39 digits": ('{"seq":' + "9" * 39 + "}", "9" * 39),
    "an id of 40 digits": ('{"seq":' + "9" * 40 + "}", "id_out_of_range"),
    "an id of 5,000 digits as a text": ('{"seq":"' + "9" * 5_000 + '"}', "id_out_of_range"),
    "an id of 5,000 digits": ('{"seq":' + "9" * 5_000 + "}", "id_not_integer"),
    "id 0": ('{"seq":0}', "0"),
    "a negative id": ('{"seq":-5}', "-5"),
    "1e+14": ('{"seq":1e+14}', "id_not_integer"),
    "a whole number with a point": ('{"seq":5.0}', "id_not_integer"),
    "1e+14 as a text": ('{"seq":"1e+14"}', "id_not_integer"),
    "spaces before it": ('{"seq":" 5"}', "id_not_integer"),
    "true": ('{"seq":true}', "id_not_integer"),
    "a list": ('{"seq":[5]}', "id_not_integer"),
    "null": ('{"seq":null}', "id_missing"),
    "none": ('{"other":5}', "id_missing"),
    "not an object": ("[5]", "id_missing"),
    "two of one name, the last counts": ('{"seq":4,"seq":5}', "5"),
    "deep": ('{"x":' + "[" * 3_000 + "]" * 3_000 + ',"seq":5}', "5"),
    "white space around": (' {"seq":5}\n', "5"),
    "no JSON": ("hello", "json"),
    "nothing": ("", "json"),
    "two values": ('{"seq":5}{}', "json"),
    "NaN": ('{"seq":NaN}', "json"),
    "a JSON null": ("null", "json"),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_a_message_is_read_by_its_paths(name: str) -> None:
    message, expected = MESSAGES[name]

    assert short(read(message)) == expected


PREFIXED: dict[str, tuple[str, str]] = {
    "a prefix": ('e1|5|{"seq":9}', "e1:5"),
    "a body that is no object": ("e1|5|[1]", "e1:5"),
    "an empty epoch": ("|5|{}", "empty_epoch"),
    "an id that is none": ("e1|x|{}", "id_not_integer"),
    "a body that is no JSON": ("e1|5|x", "json"),
    "bare": ('{"seq":9,"text":"a|b|c"}', "9"),
    "neither": ("e1|5", "json"),
}


@pytest.mark.parametrize("name", PREFIXED)
def test_a_prefixed_message_is_read_by_its_prefix(name: str) -> None:
    message, expected = PREFIXED[name]

    assert short(read(message, form="prefixed")) == expected


CHANNELS: dict[str, tuple[str, str, str]] = {
    "the channel itself": ("", '{"seq":5}', "events:eu:orders"),
    "its second part": ("channel:1", '{"seq":5}', "eu"),
    "a part that it lacks": ("channel:7", '{"seq":5}', "events:eu:orders"),
    "a member": ("$.topic", '{"seq":5,"topic":"orders"}', "orders"),
    "a number": ("$.topic", '{"seq":5,"topic":12}', "12"),
    "no such member": ("$.topic", '{"seq":5}', "channel_not_text"),
}


@pytest.mark.parametrize("name", CHANNELS)
def test_a_message_belongs_to_the_channel_that_the_settings_say(name: str) -> None:
    channel, message, expected = CHANNELS[name]

    found = reader(channel=channel).decode("events:eu:orders", message.encode())

    assert (found.scope if isinstance(found, Decoded) else short(found)) == expected


def test_a_message_that_meets_the_condition_is_a_liveness_frame() -> None:
    settings = {"heartbeat": "$.type == 'hb'"}

    assert read('{"type":"hb"}', **settings) == Frame('{"type":"hb"}')
    assert short(read('{"type":"order","seq":5}', **settings)) == "5"


@pytest.mark.parametrize(
    ("condition", "value", "expected"),
    [
        ("$.type == 'hb'", {"type": "hb"}, True),
        ("$.type=='hb'", {"type": "order"}, False),
        ('$.type == "hb"', {"type": "hb"}, True),
        ("$.type != 'order'", {"type": "hb"}, True),
        ("$.n == 1", {"n": 1}, True),
        ("$.n == 1", {"n": True}, False),
        ("$.ok == true", {"ok": True}, True),
        ("$.seq == null", {}, True),
        ("$.seq != null", {"seq": 0}, True),
        ("$.a['b c'][1] == 'x'", {"a": {"b c": ["y", "x"]}}, True),
        ("$.type == 'hb'", ["hb"], False),
    ],
)
def test_a_condition_compares_what_lies_at_a_path(
    condition: str, value: Any, expected: bool
) -> None:
    assert conditions.parse(condition)(value) is expected


@pytest.mark.parametrize(
    "condition", ["", "$.type", "type == 'hb'", "$.type = 'hb'", "$.type == hb", "$.a == [1]",
                  "$..a == 1", "$.a == 'it''s'"]
)  # fmt: skip
def test_what_is_no_condition_is_refused(condition: str) -> None:
    with pytest.raises(ValueError, match=r"condition|value|path|read"):
        conditions.parse(condition)


ENTRY = "1790000000000-3"


def test_an_entry_of_a_stream_has_its_own_id_where_no_path_names_one() -> None:
    found = reader(id="", form="stream", stream="s").entry("s", ENTRY, [(b"name", b"Ada")])

    assert isinstance(found, Decoded)
    assert divmod(found.id, ENTRIES_A_MS) == (1_790_000_000_000, 3)
    assert found.body == '{"name":"Ada"}'
    assert found.scope == "s"


@given(
    st.lists(st.tuples(st.integers(0, 10**13 - 1), st.integers(0, ENTRIES_A_MS - 1)), min_size=2)
)
def test_entries_keep_their_order(entries: list[tuple[int, int]]) -> None:
    one = reader(id="", form="stream", stream="s")
    numbers = [one.entry("s", f"{ms}-{n}", []) for ms, n in sorted(entries)]

    found = [each.id for each in numbers if isinstance(each, Decoded)]
    assert len(found) == len(entries)
    assert found == sorted(found)
    assert len(set(found)) == len(set(entries))


def test_the_fields_of_an_entry_are_the_members_that_paths_name() -> None:
    pairs = [(b"seq", b"5"), (b"meta", b"x"), (b"beat", b"\xff")]
    one = reader(form="stream", stream="s", heartbeat="$.type == 'hb'")

    assert short(one.entry("s", ENTRY, pairs)) == "5"
    assert short(one.entry("s", ENTRY, [(b"type", b"hb")])) == "frame"
    assert short(one.entry("s", ENTRY, [])) == "id_missing"
    assert short(reader(id="", form="stream").entry("s", "later", [])) == "id_not_integer"
    assert short(reader(id="", form="stream").entry("s", "1-9999999", [])) == "id_out_of_range"


@pytest.mark.parametrize("path", ["$.a.b", "$['a']['b']", "$.a['b']"])
def test_a_path_may_be_written_in_either_way(path: str) -> None:
    assert json_paths.parse(path) == ("a", "b")


@given(st.binary() | st.text(st.sampled_from('{}[],:"seq0e1|\\')).map(str.encode))
def test_no_bytes_stop_a_reader(raw: bytes) -> None:
    for form in ("json", "prefixed"):
        found = reader(form=form, channel="$.topic", heartbeat="$.a == 1").decode("c", raw)

        assert isinstance(found, Decoded | Reject | Frame)


@given(st.recursive(st.none() | st.integers() | st.text(), lambda one: st.lists(one)
                    | st.dictionaries(st.sampled_from(["seq", "meta", "epoch"]), one)))  # fmt: skip
def test_no_json_stops_a_reader(value: Any) -> None:
    assert isinstance(read(json.dumps(value)), Decoded | Reject)
