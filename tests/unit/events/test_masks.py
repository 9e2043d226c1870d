"""Personal members are masked before anything is stored, and nothing else is touched."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.domain import generic, go_json, masks, pad, profiles
from events.domain.go_json import Fields
from events.domain.masks import Mask, Masked

EVENT = masks.mask_of(profiles.GENERATION, None)
WATCH = masks.mask_of(profiles.WATCH, None)


def value_of(text: str, fields: Fields = pad.EVENT) -> dict[str, Any] | None:
    body = go_json.unmarshal(text, fields)
    return body.members if body is not None and body.is_plain else None


def masked(mask: Mask, text: str) -> Masked:
    found = mask(text, value_of(text))
    assert found is not None
    return found


def test_what_is_personal_in_an_event_is_masked_and_the_rest_is_kept() -> None:
    text = json.dumps(
        {
            "id": 0, "type": "item_updated", "workspace_id": "ws-1", "item_id": "i-1",
            "collection": "tasks", "title": "Call Ada", "doc_type": "note", "actor": "ada",
            "actor_name": "Ada L", "source": "web", "user_id": "u-7", "timestamp": 1, "seq": 9,
        }
    )  # fmt: skip

    found = masked(EVENT, text)

    assert json.loads(found.text) == {
        "id": 0, "type": "item_updated", "workspace_id": "ws-1", "item_id": "i-1",
        "collection": "tasks", "title": "********", "doc_type": "****", "actor": "***",
        "actor_name": "*****", "source": "***", "user_id": "***", "timestamp": 1, "seq": 9,
    }  # fmt: skip
    assert set(found.members) == masks.PERSONAL_EVENT


def test_what_is_personal_in_a_notification_is_masked() -> None:
    names = [name for name, kind in pad.NOTIFICATION.kinds.items() if kind is str]
    text = json.dumps({"ID": 0, **dict.fromkeys(names, "secret"), "Timestamp": 1})

    found = WATCH(text, value_of(text, pad.NOTIFICATION))

    assert found is not None
    hidden = {name for name, one in json.loads(found.text).items() if one == "******"}
    assert hidden == masks.PERSONAL_NOTIFICATION == set(found.members)


# name: a body of Pad's that says "secret", however it is written
HARD: dict[str, str] = {
    "another case": '{"Title":"secret"}',
    "a name written with an escape": '{"t\\u0069tle":"secret"}',
    "a name written with an escape behind one that looks alike":
        '{"x\\"title":"ab","t\\u0069tle":"secret"}',
    "two of one name": '{"title":"secret","title":"secret"}',
    "the letter s of old": '{"\u017fource":"secret"}',
    "spaces around the colon": '{"title" : \t"secret"}',
    "an unknown member": '{"assignee_email":"secret"}',
    "an unknown member beside a personal one": '{"title":"secret","note":"secret","n":1}',
    "an unknown member of no clean name": '{"x\\"y":"secret","title":"a"}',
    "an unknown object with a personal name in it": '{"x":{"title":"secret"},"title":"a"}',
    "an unknown object with two of one name": '{"x":{"a":"secret","a":"secret"}}',
    "an unknown object": '{"assignee":{"mail":["secret"]}}',
    "an unknown object's name": '{"watchers":{"secret":1}}',
    "quotes in it": '{"title":"a \\"secret\\" b"}',
    "a backslash at its end": '{"title":"secret\\\\"}',
    "a quote at its beginning": '{"title":"\\"secret"}',
    "separators in it": '{"title":"secret|7|{}"}',
    "deep": '{"x":' + "[" * 5_000 + '"secret"' + "]" * 5_000 + "}",
}  # fmt: skip


@pytest.mark.parametrize("name", HARD)
def test_a_personal_text_is_masked_however_it_is_written(name: str) -> None:
    found = masked(EVENT, HARD[name])

    assert "secret" not in found.text
    assert found.members
    assert masked(EVENT, found.text).text == found.text


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Ada Lovelace", "*" * 12),
        ("ada@example.com", "*" * 15),
        ("491701234567", "*" * 12),
        ("\u0041da L", "*" * 5),
        ("n" * 33, "*" * 33),
        ("n" * 32, "n" * 32),
        ("last-edited_by", "last-edited_by"),
        ("Title", "Title"),
    ],
)
@pytest.mark.parametrize("value", ["1", '"secret"', '{"x":1}', "null"])
def test_a_name_that_no_programmer_gave_is_masked_too(name: str, shown: str, value: str) -> None:
    text = f'{{"id":0,"{name}":{value},"title":"a"}}'

    found = masked(EVENT, text)

    assert f'"{shown}":' in found.text
    assert "secret" not in found.text
    assert set(found.members) <= {shown, shown.lower(), "title"}
    assert masked(EVENT, found.text).text == found.text


def test_the_length_stays_to_be_seen_in_characters() -> None:
    text = '{"title":"\u00e9\\u00e9\\n\U0001f600","actor":""}'

    assert masked(EVENT, text) == Masked('{"title":"****","actor":""}', ("title",))


def test_what_needs_no_mask_comes_out_byte_for_byte() -> None:
    text = ' {"id": 0,\n"type":"a\\u003cb","x":1.50,"y":1e+14,"z":[ ],"n":null,"title":""} '

    assert masked(EVENT, text) == Masked(text, ())


def test_numbers_beside_a_masked_text_keep_the_way_they_were_written() -> None:
    text = '{"x":1.50,"big":123456789012345678901,"title":"ab"}'

    assert masked(EVENT, text).text == '{"x":1.50,"big":123456789012345678901,"title":"**"}'


@pytest.mark.parametrize("text", ["", "hello", "{", '{"title":"a"}x', "[" * 20_000])
def test_what_is_no_json_has_no_masked_form(text: str) -> None:
    for mask in (EVENT, masks.mask_of(profiles.GENERIC, ["$.a"]), masks.mask_of("generic", None)):
        assert mask(text, None) is None


def test_named_paths_are_masked_besides_what_pad_has() -> None:
    mask = masks.mask_of(profiles.GENERATION, ["$.collection"])

    found = masked(mask, '{"id":1,"collection":"hr","title":"x"}')

    assert found == Masked('{"id":1,"collection":"**","title":"*"}', ("title", "$.collection"))


PATHS: dict[str, tuple[list[str], str, str]] = {
    "a member": (["$.name"], '{"name":"Ada","n":1}', '{"name":"***","n":1}'),
    "below": (["$.user.name"], '{"user":{"name":"Ada"}}', '{"user":{"name":"***"}}'),
    "an item": (["$.to[1]"], '{"to":["Ada","Bob"]}', '{"to":["Ada","***"]}'),
    "all items": (["$.to[*].name"], '{"to":[{"name":"Ada"},{"name":"B"}]}',
                  '{"to":[{"name":"***"},{"name":"*"}]}'),
    "a name with a space": (["$['full name']"], '{"full name":"Ada"}', '{"full name":"***"}'),
    "a number": (["$.phone"], '{"phone":12345}', '{"phone":"*****"}'),
    "zero": (["$.phone"], '{"phone":0}', '{"phone":"*"}'),
    "an object": (["$.user"], '{"user":{"a":1}}', '{"user":"*******"}'),
    "true": (["$.vip"], '{"vip":true}', '{"vip":"****"}'),
    "null stays": (["$.name"], '{"name":null}', '{"name":null}'),
    "what is not there": (["$.name"], '{"other":"Ada"}', '{"other":"Ada"}'),
    "both of two": (["$.name"], '{"name":"Ada","name":"Bob"}', '{"name":"***","name":"***"}'),
    "an inner one of its name stays": (["$.name"], '{"name":"Ada","x":{"name":"Bob"}}',
                                       '{"name":"***","x":{"name":"Bob"}}'),
    "the inner one alone": (["$.name"], '{"name":1,"x":{"name":"Bob"}}',
                            '{"name":"*","x":{"name":"Bob"}}'),
    "one inside another": (["$.user.name", "$.user"], '{"user":{"name":"Ada"}}',
                           '{"user":"**************"}'),
    "a name with an escape": (["$.name"], '{"n\\u0061me":"Ada"}', '{"n\\u0061me":"***"}'),
    "in a list at the top": (["$[0].name"], '[{"name":"Ada"}]', '[{"name":"***"}]'),
    "an escape elsewhere": (["$.name"], '{"x\\"name":"b","name":"Ada"}',
                            '{"x\\"name":"b","name":"***"}'),
    "another name that looks alike": (
        ["$.name"], '{"x\\"name":"ab","n\\u0061me":"Ada"}', '{"x\\"name":"ab","n\\u0061me":"***"}',
    ),
    "none": ([], '{"name":"Ada"}', '{"name":"Ada"}'),
}  # fmt: skip


@pytest.mark.parametrize("name", PATHS)
def test_a_path_of_another_bus_is_masked(name: str) -> None:
    paths, text, expected = PATHS[name]
    mask = masks.mask_of(profiles.GENERIC, paths)
    value, is_plain = generic.parse(text)

    found = mask(text, value if is_plain and isinstance(value, dict) else None)

    assert found is not None
    assert found.text == expected
    again = mask(found.text, None)
    assert again is not None
    assert again.text == expected
    assert mask(text, None) == found


def test_of_a_bus_without_a_word_on_masking_no_text_is_kept_but_kinds_times_and_its_paths() -> None:
    mask = masks.mask_of(profiles.GENERIC, None, ["$.seq", "$.meta.epoch"])
    text = (
        '{"seq":"5","type":"order","at":"2026-10-05T09:00:00.5Z","day":"2026-10-05","n":1.0,'
        '"meta":{"epoch":"e1","type":"x"},"name":"Ada","tags":["a",{"b":"cd"}]}'
    )

    found = mask(text, None)

    assert found == Masked(
        '{"seq":"5","type":"order","at":"2026-10-05T09:00:00.5Z","day":"2026-10-05","n":1.0,'
        '"meta":{"epoch":"e1","type":"*"},"name":"***","tags":["*",{"b":"**"}]}',
        ("name", "meta", "tags"),
    )


def test_texts_below_any_path_are_masked_as_one() -> None:
    mask = masks.mask_of(profiles.GENERIC, None)

    found = mask('{"x":' + "[" * 200 + '"secret"' + "]" * 200 + "}", None)

    assert found is not None
    assert "secret" not in found.text
    assert json.loads(found.text)


@pytest.mark.parametrize("path", ["name", "$", "$.", "$.a[", "$.a[x]", "$..a", "$.a" * 20])
def test_a_path_that_cannot_be_read_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match=r"path|read|steps"):
        masks.mask_of(profiles.GENERIC, [path])


NAMES = ["title", "Title", "actor", "type", "id", "x", 'q"title', "workspace_id"]
TEXTS = st.text(st.sampled_from('SECRET"\\:,{}\n\u00e9'), max_size=8)
BODIES = st.lists(
    st.tuples(
        st.sampled_from(NAMES),
        st.one_of(TEXTS, st.integers(), st.lists(TEXTS, max_size=2), st.none()),
    ),
    max_size=6,
)


@given(BODIES, st.booleans())
def test_masking_keeps_json_and_all_that_is_not_personal_and_hides_the_rest(
    members: list[tuple[str, Any]], is_wide: bool
) -> None:
    colon, comma = (" : ", " , ") if is_wide else (":", ",")
    pairs = (json.dumps(name) + colon + json.dumps(value) for name, value in members)
    text = "{" + comma.join(pairs) + "}"

    found = masked(EVENT, text)

    kept = json.loads(found.text, object_pairs_hook=lambda given: given)
    for (name, value), (after_name, after) in zip(members, kept, strict=True):
        is_number = isinstance(value, int) and name in ("x", 'q"title')
        is_kept = name in ("type", "id", "workspace_id") or is_number or value in (None, "", [])
        assert after_name == name.replace('q"title', "*" * 7)
        assert after == value if is_kept else set(after) == {"*"}
    assert masked(EVENT, found.text).text == found.text
