"""Each message on the wire, as each version of the receiver reads it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.domain import profiles, wire
from events.domain.decoded import Answer, Decoded, Frame, Reject, Skip

VECTORS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[2] / "data" / "pad_wire_vectors.json").read_text()
)
VERSIONS = ("v0", "v1", "v2", "v3")
MATRIX = [(one, version) for one in VECTORS for version in VERSIONS]
BODY = '{"id":0,"type":"item_updated","workspace_id":"ws-1","timestamp":1}'


def bare(**members: Any) -> str:
    event = {"id": 5, "type": "item_updated", "workspace_id": "ws-1", "timestamp": 1}
    return json.dumps({**event, **members}, separators=(",", ":"))


def answer_of(decoded: Answer) -> dict[str, Any]:
    match decoded:
        case Decoded():
            return {"ok": True, "epoch": decoded.epoch, "id": decoded.id}
        case Reject():
            return {"reject": decoded.code}
        case Skip():
            return {"skip": decoded.code}
        case Frame():
            return {"heartbeat": True}


def expected_of(vector: dict[str, Any], version: str) -> dict[str, Any]:
    row = vector[vector[version][1:] if isinstance(vector[version], str) else version]
    kept = {name: one for name, one in row.items() if name not in ("title", "coverage")}
    if isinstance(kept.get("epoch"), int):
        kept["epoch"] = str(kept["epoch"])
    return kept


@pytest.mark.parametrize(
    ("vector", "version"), MATRIX, ids=[f"{one['n']}-{version}" for one, version in MATRIX]
)
def test_a_vector_is_read_as_it_says(vector: dict[str, Any], version: str) -> None:
    found = wire.decode(version, "ws-1", vector["in"].encode())

    assert answer_of(found) == expected_of(vector, version)


@pytest.mark.parametrize("version", VERSIONS)
def test_separators_in_a_title_stay_where_they_are(version: str) -> None:
    found = wire.decode(version, "ws-1", bare(title="a|b|c").encode())

    assert isinstance(found, Decoded)
    assert (found.epoch, found.id, found.type, found.at) == (None, 5, "item_updated", 1)
    assert found.value is not None
    assert found.value["title"] == "a|b|c"


CASES: dict[str, tuple[str, str]] = {
    # name: message, and what v0, v1, v2 and v3 make of it, "=" for what the one before does;
    # "7:5" is an epoch and an id, "+" marks what is skipped
    "C01 a prefix and a body": (f"7|5|{BODY}", "json 7:5 = ="),
    "C01 a text as the epoch": (f"e-1|5|{BODY}", "json e-1:5 epoch_not_integer ="),
    "C02 a bare message": (bare(), "5 = = ="),
    "C04 an empty epoch": (f"|5|{BODY}", "json empty_epoch epoch_not_integer ="),
    "C04 an id that is none": (f"7|x|{BODY}", "json id_not_integer = ="),
    "C04 a body that is no JSON": ("7|5|{", "json = = ="),
    "C04 neither form": ("hello", "json = = ="),
    "C04 a prefix without an id": (f"7|{BODY}", "json = = ="),
    "C04 nothing at all": ("", "json = = ="),
    "C05 epoch 0": (f"0|5|{BODY}", "json 0:5 epoch_not_positive ="),
    "C05 epoch -3": (f"-3|5|{BODY}", "json -3:5 epoch_not_positive ="),
    "C05 id 0": (f"7|0|{BODY}", "json 7:0 id_not_positive ="),
    "C05 id -4": (f"7|-4|{BODY}", "json 7:-4 id_not_positive ="),
    "C05 bare id 0": (bare(id=0), "0 = id_not_positive ="),
    "C05 bare id -7": (bare(id=-7), "-7 = id_not_positive ="),
    "C29 garbage": ("\x00\x01garbage", "json = = ="),
    "C30 a body that is null": ("7|5|null", "json +empty_workspace workspace_mismatch ="),
    "C30 a body of another workspace": (
        "7|5|" + bare(workspace_id="ws-2"), "json +workspace_mismatch workspace_mismatch =",
    ),
    "a body without members": ("7|5|{}", "json +empty_workspace workspace_mismatch ="),
    "a bare null": ("null", "+empty_workspace = id_not_positive ="),
    "bare and without members": ("{}", "+empty_workspace = id_not_positive ="),
    "bare and of another workspace": (
        bare(workspace_id="ws-2"), "+workspace_mismatch = workspace_mismatch =",
    ),
    "a space before two separators": (
        " " + bare(title="a|b|c"), "5 id_not_integer epoch_not_integer =",
    ),
    "a space before one separator": (" " + bare(title="a|b"), "5 = = ="),
    "a line feed after the JSON": (bare() + "\n", "5 = = ="),
    "bytes after the JSON": (bare() + "x", "json = = ="),
    "bytes after the body": (f"7|5|{BODY}{BODY}", "json = = ="),
    "signs and leading zeros": (f"+007|+0005|{BODY}", "json +007:5 7:5 ="),
    "4,999 leading zeros": (f"7|{'0' * 4_999}5|{BODY}", "json 7:5 = ="),
    "id -0": (f"7|-0|{BODY}", "json 7:0 id_not_positive ="),
    "an id with a point": (f"7|5.0|{BODY}", "json id_not_integer = ="),
    "an id with an underscore": (f"7|1_000|{BODY}", "json id_not_integer = ="),
    "an id after a space": (f"7| 5|{BODY}", "json id_not_integer = ="),
    "an id before a line feed": (f"7|5\n|{BODY}", "json id_not_integer = ="),
    "an id in other digits": (f"7|\u0665|{BODY}", "json id_not_integer = ="),
    "an id in hexadecimal": (f"7|0x5|{BODY}", "json id_not_integer = ="),
    "a lone sign": (f"7|+|{BODY}", "json id_not_integer = ="),
    "no id": (f"7||{BODY}", "json id_not_integer = ="),
    "the greatest id": (f"7|9223372036854775807|{BODY}", "json 7:9223372036854775807 = ="),
    "an id past it": (f"7|9223372036854775808|{BODY}", "json id_not_integer = ="),
    "the least id": (
        f"7|-9223372036854775808|{BODY}", "json 7:-9223372036854775808 id_not_positive =",
    ),
    "an id of 5,000 digits": (f"7|{'9' * 5_000}|{BODY}", "json id_not_integer = ="),
    "an id past 2^53": (f"7|9007199254740993|{BODY}", "json 7:9007199254740993 = ="),
    "the greatest epoch": (f"9223372036854775807|5|{BODY}", "json 9223372036854775807:5 = ="),
    "an epoch of 26 digits": (
        f"{'1' * 26}|5|{BODY}", "json 11111111111111111111111111:5 epoch_not_integer =",
    ),
    "1e+15 as the epoch": (f"1e+15|5|{BODY}", "json 1e+15:5 epoch_not_integer ="),
    "epoch 1.5": (f"1.5|5|{BODY}", "json 1.5:5 epoch_not_integer ="),
    "the worst epoch is told first": ("x|y|z", "json id_not_integer epoch_not_integer ="),
    "a body that is no JSON is told before id 0": ("7|0|{", "json = = ="),
    "id 0 is told before the workspace": ("7|0|null", "json +empty_workspace id_not_positive ="),
    "an object before the separators": ("{}|5|{}", "json = = ="),
    "a list": ("[]", "json = = ="),
    "a number": ("42", "json = = ="),
    "a bare text": ('"hb"', "json = = ="),
    "NaN is no JSON": (bare().replace("1}", "NaN}"), "json = = ="),
}  # fmt: skip


def short(found: Answer) -> str:
    match found:
        case Decoded():
            return str(found.id) if found.epoch is None else f"{found.epoch}:{found.id}"
        case Skip():
            return f"+{found.code}"
        case Frame():
            return "frame"
        case Reject():
            return found.code


def spelled_out(expected: str) -> tuple[str, ...]:
    found: list[str] = []
    for one in expected.split():
        found.append(found[-1] if one == "=" else one)
    return tuple(found)


@pytest.mark.parametrize("name", CASES)
def test_a_message_is_read_by_each_version_as_its_grammar_says(name: str) -> None:
    message, expected = CASES[name]

    found = tuple(short(wire.decode(version, "ws-1", message.encode())) for version in VERSIONS)

    assert found == spelled_out(expected)


FRAMES = ("hb|1", "hb|2", "hb|2|instance-a|1699999999", "hb|1|", "hb|1||a:b.c_d", "hb|" + "1" * 61)


@pytest.mark.parametrize("message", FRAMES)
def test_a_liveness_frame_is_one_for_the_newest_version_alone(message: str) -> None:
    assert wire.decode("v3", "ws-1", message.encode()) == Frame(message)
    assert wire.decode("watch+hb", "watchevents", message.encode()) == Frame(message)
    assert isinstance(wire.decode("v2", "ws-1", message.encode()), Reject)
    assert isinstance(wire.decode("watch", "watchevents", message.encode()), Reject)


NO_FRAMES = {
    "hb|": "json",
    "hb|x": "json",
    "hb|{}": "json",
    "HB|1": "json",
    " hb|1": "json",
    "hb|1\n": "json",
    "hb|1|<script>": "epoch_not_integer",
    "hb|1|a b": "epoch_not_integer",
    "hb|1|é": "epoch_not_integer",
    "hb|" + "1" * 62: "json",
    "hb|1|" + "a" * 60: "epoch_not_integer",
}


@pytest.mark.parametrize("message", NO_FRAMES)
def test_c59_what_only_looks_like_a_liveness_frame_cannot_be_read(message: str) -> None:
    assert wire.decode("v3", "ws-1", message.encode()) == Reject(NO_FRAMES[message])


WATCHED = '{"ID":0,"WorkspaceID":"ws-9","Kind":"comment","Timestamp":7}'
WATCH: dict[str, tuple[str, str]] = {
    "a notification": (f"u-1|100|{WATCHED}", "u-1:100"),
    "another workspace's": (f"u-1|100|{WATCHED}".replace("ws-9", "ws-8"), "u-1:100"),
    "id 0": (f"u-1|0|{WATCHED}", "u-1:0"),
    "a negative id": (f"u-1|-1|{WATCHED}", "u-1:-1"),
    "a body that is null": ("u-1|5|null", "u-1:5"),
    "an epoch that begins like an object": (f"{{x|5|{WATCHED}", "{x:5"),
    "bare JSON": (WATCHED, "not_prefixed"),
    "two parts": ("u-1|5", "not_prefixed"),
    "nothing": ("", "not_prefixed"),
    "an empty epoch": (f"|5|{WATCHED}", "empty_epoch"),
    "an id that is none": (f"u-1|1e3|{WATCHED}", "id_not_integer"),
    "a body that is no JSON": ("u-1|5|x", "json"),
    "a kind of the wrong type": ('u-1|5|{"Kind":1}', "json"),
}


@pytest.mark.parametrize("name", WATCH)
def test_a_notification_of_the_watch_bus_always_has_three_parts(name: str) -> None:
    message, expected = WATCH[name]

    assert short(wire.decode("watch", "watchevents", message.encode())) == expected


def test_a_notification_says_its_kind_and_time_and_belongs_to_its_channel() -> None:
    found = wire.decode("watch", "watchevents", f"u-1|100|{WATCHED}".encode())

    assert isinstance(found, Decoded)
    assert (found.type, found.at, found.scope) == ("comment", 7, "watchevents")


def test_two_epochs_that_are_not_utf8_stay_two() -> None:
    first, second = (
        wire.decode("v1", "ws-1", one + f"|5|{BODY}".encode()) for one in (b"\xff", b"\xfe")
    )

    assert isinstance(first, Decoded)
    assert isinstance(second, Decoded)
    assert first.epoch != second.epoch


@pytest.mark.parametrize("profile", ["generic", "v4", ""])
def test_a_profile_without_a_grammar_of_its_own_is_refused(profile: str) -> None:
    with pytest.raises(ValueError, match=r"profile|settings"):
        wire.decode(profile, "ws-1", b"{}")


PIECES = st.sampled_from(
    [b"|", b"{", b"}", b'"id":', b'"workspace_id":"ws-1"', b",", b"7", b"-0", b"1e9", b"hb|", b"[",
     b"null", b"\xff", b"\\", b'"', b" ", b'"ID":', b"\xe2\x84\xaa"]
)  # fmt: skip


@given(st.one_of(st.binary(), st.lists(PIECES, max_size=40).map(b"".join)))
def test_no_bytes_stop_a_decoder(raw: bytes) -> None:
    for profile in profiles.PAD_PROFILES:
        found = wire.decode(profile, "ws-1", raw)

        assert isinstance(found, Decoded | Skip | Reject | Frame)
