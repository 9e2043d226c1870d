"""Messages turned into rows: what is kept of each, and what is not."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.domain import bus_settings, recording, rows
from events.domain.recording import Recorder
from events.domain.records import BARE, FRAME, JUNK, PREFIXED
from events.domain.rows import Row

T = 1_790_000_000_000_000
EVENT = {"id": 0, "type": "item_updated", "workspace_id": "ws-1", "title": "Ada", "timestamp": 1}


def sign(raw: bytes) -> bytes:
    return hmac.digest(b"key", raw, hashlib.sha256)


def recorder(**settings: Any) -> Recorder:
    bus = "watch" if settings.get("profile") == "watch" else "activity"
    return Recorder(bus_settings.settings_of(bus, settings), sign)


def row(message: str | bytes, scope: str = "ws-1", **settings: Any) -> Row:
    raw = message.encode() if isinstance(message, str) else message
    return recorder(**settings).record(T, scope, raw).row


def event(**members: Any) -> str:
    return json.dumps({**EVENT, **members}, separators=(",", ":"))


def test_a_message_becomes_a_row_with_its_body_masked() -> None:
    message = f"007|5|{event()}"

    found = recorder().record(T, "ws-1", message.encode())

    assert found.masked == ("title",)
    assert found.row == Row(
        T, PREFIXED, "7", 5, "ws-1", found.row.fingerprint, len(message), event(title="***")
    )
    assert len(found.row.fingerprint) == 16


def test_junk_is_kept_as_a_hash_a_length_and_the_reason_alone() -> None:
    found = row("secret", profile="v2")

    assert found == Row(T, JUNK, None, None, "ws-1", found.fingerprint, 6, note="json")
    assert found.fingerprint == base64.urlsafe_b64encode(sign(b"secret")[:12]).decode()


def test_a_liveness_frame_is_kept_as_it_is() -> None:
    assert row("hb|1|a", profile="v3") == Row(T, FRAME, None, None, "ws-1", "", 6, "hb|1|a")


def test_a_liveness_frame_of_another_bus_is_not_kept() -> None:
    settings = {"profile": "generic", "id": "$.seq", "heartbeat": "$.type == 'hb'"}

    assert row('{"type":"hb"}', **settings).body is None


def test_what_a_receiver_skips_is_kept_with_the_reason() -> None:
    found = row(f"e|5|{event(workspace_id='ws-2')}", profile="v1")

    assert (found.form, found.id, found.scope, found.note) == (
        PREFIXED, 5, "ws-2", "workspace_mismatch",
    )  # fmt: skip


def fingerprint(body: str, **settings: Any) -> str:
    return row(body, **{"profile": "v1", **settings}).fingerprint


def test_the_fingerprint_of_an_event_does_not_depend_on_its_id_or_form() -> None:
    bare, again = fingerprint(event(id=5)), fingerprint(event(id=66))

    assert bare == again == fingerprint(f"7|9|{event(id=0)}") == fingerprint(f"8|9|{event()}")
    assert bare != fingerprint(event(timestamp=2))
    assert bare != fingerprint(event(title="Bob"))


def test_the_fingerprint_of_an_event_written_with_care_leaves_its_id_out_as_well() -> None:
    first = '{"type":"t","workspace_id":"ws-1","ID":%d,"x":[1.50,null]}'

    assert fingerprint(first % 5) == fingerprint(first % 6)
    assert fingerprint(first % 5) != fingerprint(first.replace("1.50", "2") % 5)


def test_the_fingerprint_leaves_every_spelling_of_the_id_out() -> None:
    first = '{"id":5,"type":"t","workspace_id":"ws-1","ID":%d}'

    assert fingerprint(first % 6) == fingerprint(first % 7)


@pytest.mark.parametrize("profile", ["v1", "generic"])
def test_bodies_that_differ_far_below_have_two_fingerprints(profile: str) -> None:
    settings = {"profile": profile, "id": "$.id"} if profile == "generic" else {}
    deep = [
        fingerprint(
            event(id=5, x="DEEP").replace('"DEEP"', "[" * 300 + one + "]" * 300), **settings
        )
        for one in "12"
    ]

    assert deep[0] != deep[1]


def test_a_wide_body_has_one_fingerprint_under_two_ids() -> None:
    settings = {"profile": "generic", "id": "$.id"}

    wide = [fingerprint(json.dumps({"id": one, "x": [[1]] * 300}), **settings) for one in (1, 2)]

    assert wide[0] == wide[1]


def test_the_fingerprint_is_of_the_body_before_masking() -> None:
    found = [row(event(id=5, title=title), profile="v1") for title in ("Ada", "Bob")]

    assert found[0].body == found[1].body
    assert found[0].fingerprint != found[1].fingerprint


def test_the_fingerprint_of_any_bus_leaves_its_id_and_epoch_out() -> None:
    settings = {"profile": "generic", "id": "$.seq", "epoch": "$.epoch"}
    message = '{"seq":%d,"epoch":"%s","n":1}'

    assert fingerprint(message % (5, "a"), **settings) == fingerprint(
        message % (6, "b"), **settings
    )


LONG = "x" * 70_000


def test_of_a_message_over_64_kib_the_beginning_is_kept() -> None:
    message = event(id=5, collection=LONG)

    found = row(message, profile="v0")

    assert (found.form, found.id, found.note) == (BARE, 5, recording.CUT)
    assert found.length == len(message)
    assert found.body is not None
    assert len(found.body) == 4_096
    assert '"Ada"' not in found.body


def test_a_message_of_64_kib_is_kept_whole() -> None:
    short = event(id=5, collection="")
    message = event(id=5, collection="x" * (recording.LONGEST - len(short)))

    assert len(message) == recording.LONGEST
    assert row(message, profile="v0").note == ""


def test_a_cut_leaves_no_half_of_a_character() -> None:
    found = row(event(id=5, collection="\u20ac" * 70_000), profile="v0")

    assert found.body is not None
    assert 4_090 < len(found.body.encode()) <= 4_096


def test_a_body_that_is_not_utf8_is_kept_in_base64_and_masked() -> None:
    raw = event(id=5, collection="COLL").encode().replace(b"COLL", b"\xff\xfe")

    found = row(raw, profile="v0")

    assert found.encoding == rows.BASE64
    assert found.kept == raw.replace(b"Ada", b"***")


def test_a_replacement_character_that_was_sent_is_text() -> None:
    found = row(event(id=5, collection="\ufffd"), profile="v0")

    assert found.encoding == ""


def test_a_cut_of_base64_can_be_read() -> None:
    raw = event(id=5, collection="COLL").encode().replace(b"COLL", b"\xff" * 70_000)

    found = row(raw, profile="v0")

    assert found.kept is not None
    assert len(found.kept) == recording.BEGINNING // 3 * 3


def test_a_name_that_no_column_can_hold_is_shortened_and_stays_apart_from_others() -> None:
    first, second = (row(f"{'e' * 70_000}{one}|5|{event()}", profile="v1") for one in "ab")

    assert first.epoch != second.epoch
    assert max(len(str(one.epoch)) for one in (first, second)) <= 255


def test_an_entry_of_a_stream_becomes_a_row() -> None:
    settings = {"stream": "s", "mask": ["$.name"]}

    found = recorder(profile="generic", **settings).record_entry(
        T, "s", "1790000000000-3", [(b"name", b"Ada"), (b"n", b"1")]
    )

    assert found.row.body == '{"name":"***","n":"1"}'
    assert (found.row.length, found.row.scope, found.masked) == (9, "s", ("$.name",))


def test_a_bus_of_pads_has_no_entries() -> None:
    with pytest.raises(ValueError, match="stream"):
        recorder().record_entry(T, "s", "1-1", [])


PIECES = [b"|", b"7|5|", b'{"id":5', b',"title":"secret"', b',"workspace_id":"ws-1"}', b"\xff",
          b"hb|1", b"secret", b'"', b"\\u0000", b"}"]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=12).map(b"".join))
def test_no_bytes_stop_a_recorder_and_nothing_personal_gets_through(raw: bytes) -> None:
    for settings in ({"profile": "v1"}, {"profile": "v3"}, {"profile": "watch"},
                     {"profile": "generic", "id": "$.id"}):  # fmt: skip
        found = row(raw, **settings)

        read = rows.read(json.loads(rows.json_of(found, T)), T)
        assert read == found
        assert b'"secret"' not in (found.kept or b"")
