"""The table of a bus in the sources file, and what a configure act says."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.domain import bus_settings, profiles
from events.domain.bus_settings import BadSettings, BusSettings

CONTRACT = """
redis_env = "BUS_REDIS"
channels = ["events:*"]
form = "json"
id = "$.seq"
epoch = "$.epoch"
channel = "channel:1"
density = "sparse"
buffer = {events = 2048, seconds = 300}
heartbeat = "$.type == 'hb'"
mask = ["$.actor_name"]
keep = {messages = 5000}
"""
GENERIC = {"channels": ["events:*"], "id": "$.seq"}


def test_the_table_of_the_contract_is_read() -> None:
    found = bus_settings.read_table("live", tomllib.loads(CONTRACT))

    assert found == BusSettings(
        "live", "generic", "sparse", channels=("events:*",), form="json", id="$.seq",
        epoch="$.epoch", channel="channel:1", heartbeat="$.type == 'hb'", mask=("$.actor_name",),
        buffer_events=2_048, buffer_seconds=300, keep_messages=5_000,
    )  # fmt: skip


USUAL: dict[str, tuple[str, dict[str, Any], tuple[str, str, str]]] = {
    "Pad's activity bus": ("activity", {}, ("generation+hb", "sparse", "json")),
    "Pad's watch bus": ("watch", {}, ("watch", "dense", "json")),
    "an old version": ("activity", {"profile": "v0"}, ("bare", "sparse", "json")),
    "a bus with paths": ("live", GENERIC, ("generic", "dense", "json")),
    "paths on a bus of that name": ("activity", GENERIC, ("generic", "dense", "json")),
    "a stream by its entries' ids": ("live", {"stream": "s"}, ("generic", "sparse", "stream")),
    "a stream with a counter": (
        "live", {"stream": "s", "id": "$.n"}, ("generic", "dense", "stream"),
    ),
    "a density that is said": (
        "activity", {"density": "dense"}, ("generation+hb", "dense", "json"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", USUAL)
def test_what_is_not_said_follows_from_the_rest(name: str) -> None:
    bus, table, expected = USUAL[name]

    found = bus_settings.read_table(bus, table)

    assert (found.profile, found.density, found.form) == expected
    assert (found.buffer_events, found.buffer_seconds, found.keep_messages) == (
        1_024, None, 1_000_000,
    )  # fmt: skip
    assert found.mask is None


FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "a word that is misspelt": ({**GENERIC, "chanels": []}, "bus.x.chanels: is no setting"),
    "a profile": ({"profile": "v9"}, "bus.x.profile: no profile is named 'v9'; write one of bare"),
    "a profile that is a list": ({"profile": []}, "bus.x.profile: no profile"),
    "a density": ({**GENERIC, "density": "thin"}, "bus.x.density: 'thin' is not known; write"),
    "a form": ({**GENERIC, "form": "xml"}, "bus.x.form: 'xml' is not known; write json or"),
    "a path without its sign": ({**GENERIC, "id": "seq"}, "bus.x.id: 'seq' is no path; write"),
    "a path that is a number": ({**GENERIC, "id": 5}, "bus.x.id: takes a text"),
    "a path that breaks off": ({**GENERIC, "epoch": "$.a["}, "bus.x.epoch: '$.a[' cannot be read"),
    "a channel": ({**GENERIC, "channel": "second"}, "bus.x.channel: 'second' is neither; write"),
    "a condition": ({**GENERIC, "heartbeat": "hb"}, "bus.x.heartbeat: 'hb' is no condition; write"),
    "channels that are one": ({**GENERIC, "channels": "a"}, "bus.x.channels: takes a list"),
    "a channel that is empty": ({**GENERIC, "channels": [""]}, "bus.x.channels: takes a text"),
    "a mask": ({**GENERIC, "mask": ["name"]}, "bus.x.mask: 'name' is no path"),
    "too many masks": ({**GENERIC, "mask": ["$.a"] * 101}, "bus.x.mask: takes a list of up to 100"),
    "no events": ({**GENERIC, "buffer": {"events": 0}}, "bus.x.buffer.events: takes a whole"),
    "events as a text": ({**GENERIC, "buffer": {"events": "9"}}, "bus.x.buffer.events: takes"),
    "events that are true": ({**GENERIC, "buffer": {"events": True}}, "bus.x.buffer.events: takes"),
    "a buffer that is a number": ({**GENERIC, "buffer": 9}, "bus.x.buffer: takes a table"),
    "another buffer": ({**GENERIC, "buffer": {"mb": 9}}, "bus.x.buffer: takes a table of events"),
    "no place to listen": ({"id": "$.seq"}, "bus.x.channels: says where to listen"),
    "no id": ({"channels": ["a"], "form": "json"}, "bus.x.id: says where an event has its number"),
    "a stream and a form": (
        {"stream": "s", "form": "json", "id": "$.n"}, "bus.x.form: a stream has entries",
    ),
    "a form without a stream": (
        {"channels": ["a"], "form": "stream"}, "bus.x.stream: names the stream to read",
    ),
    "a path for Pad": (
        {"profile": "v2", "id": "$.id"}, "bus.x.id: profile generation has a form of its own",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_says_where_it_is_and_what_to_write(name: str) -> None:
    table, beginning = FAULTS[name]

    with pytest.raises(BadSettings) as raised:
        bus_settings.read_table("x", table)

    assert raised.value.faults[0].startswith(beginning)


def test_all_faults_of_a_table_are_told_at_once() -> None:
    with pytest.raises(BadSettings) as raised:
        bus_settings.read_table("x", {"id": "seq", "density": 1, "other": 1})

    assert len(raised.value.faults) == 3
    assert str(raised.value).count("\n") == 2


def test_a_table_may_say_where_the_bus_is_and_who_watches() -> None:
    table = {**GENERIC, **dict.fromkeys(bus_settings.BESIDE, "x")}

    assert bus_settings.read_table("live", table) == bus_settings.read_table("live", GENERIC)


def test_what_an_act_says_that_cannot_be_read_counts_as_not_said() -> None:
    told = {**GENERIC, "density": 7, "epoch": "epoch", "buffer": {"events": -1}, "new": {"a": 1}}

    assert bus_settings.settings_of("live", told) == bus_settings.settings_of("live", GENERIC)


@pytest.mark.parametrize("told", [None, [], "x", 5, {}])
def test_an_act_that_says_nothing_leaves_what_is_usual(told: Any) -> None:
    assert bus_settings.settings_of("watch", told) == bus_settings.read_table("watch", {})


PATHS = st.sampled_from(["$.seq", "$.a.b[0]", "$['x y']"])
TABLES = st.fixed_dictionaries(
    {"channels": st.lists(st.sampled_from(["a:*", "b"]), min_size=1), "id": PATHS},
    optional={
        "epoch": PATHS,
        "channel": st.sampled_from(["channel:1", "$.topic"]),
        "density": st.sampled_from(["dense", "sparse"]),
        "form": st.sampled_from(["json", "prefixed"]),
        "heartbeat": st.just("$.type == 'hb'"),
        "mask": st.lists(PATHS, max_size=3),
        "buffer": st.fixed_dictionaries({}, optional={"events": st.integers(1, 9),
                                                      "seconds": st.integers(1, 9)}),
        "keep": st.just({"messages": 7}),
    },
)  # fmt: skip


@given(TABLES)
def test_settings_written_as_an_act_are_read_as_the_same(table: dict[str, Any]) -> None:
    found = bus_settings.read_table("live", table)

    assert bus_settings.settings_of("live", found.as_json()) == found
    assert bus_settings.read_table("live", found.as_json()) == found


@pytest.mark.parametrize("profile", profiles.PAD_PROFILES)
def test_settings_of_pads_profiles_are_read_back_as_well(profile: str) -> None:
    found = bus_settings.read_table("b", {"profile": profile, "mask": ["$.collection"]})

    assert bus_settings.read_table("b", found.as_json()) == found


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
                    lambda one: st.lists(one, max_size=3) | st.dictionaries(
                        st.sampled_from([*GENERIC, "mask", "buffer", "events", "keep", "profile"]),
                        one, max_size=4)))  # fmt: skip
def test_nothing_that_an_act_says_stops_the_reading(told: Any) -> None:
    assert bus_settings.settings_of("live", told).bus == "live"
