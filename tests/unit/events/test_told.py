"""What receipts tell of buses: read as they are, and never an error."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.domain import in_force
from events.domain.bus_settings import BUFFER_EVENTS, KEEP_MESSAGES, settings_of
from events.domain.told import answers, names, segments, settings, surroundings
from ledger.domain.statement import Statement, read_statement

NINE = datetime(2026, 10, 5, 9, tzinfo=UTC)
BODY = {"installation": "i1", "bus": "activity"}
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


def statement(kind: str = "observe", token: int | None = None, **body: Any) -> Statement:
    stub = {"kind": kind, **body}
    return read_statement(
        stub, leaf=7, ref="r", state="accepted", received_at=NINE, token_id=token,
        source_default=("redis", "prod"),
    )  # fmt: skip


def act(
    verb: str, target: str, token: int | None = None, **body: Any
) -> settings.SettingTold | None:
    named = {"verb": verb, "target": target, **body.pop("inside", {})}
    return settings.read(statement("act", token, act=named, **body))


@pytest.mark.parametrize(
    ("body", "bus"),
    [
        ({"installation": "i1", "bus": "activity"}, ("i1", "activity")),
        ({"bus": "activity"}, ("prod", "activity")),
        ({"installation": "i1"}, None),
        ({"installation": "i1", "bus": ["x"]}, None),
    ],
)
def test_a_bus_has_a_name_and_an_installation_which_may_be_the_source(
    body: dict[str, Any], bus: tuple[str, str] | None
) -> None:
    assert names.bus_of(statement(what="resume", **body)) == bus


@pytest.mark.parametrize(
    ("given_value", "number"),
    [
        ("9223372036854775807", 2**63 - 1), ("9223372036854775808", None), (5, 5), ("-5", -5),
        ("+5", None), (" 5", None), ("1e+14", None), (1.5, None), (True, None), (None, None),
        ("\u0665", None), ("", None), ("-", None),
    ],
)  # fmt: skip
def test_a_number_is_one_that_a_column_holds(given_value: object, number: int | None) -> None:
    assert names.int64_of(given_value) == number


def test_an_act_of_ours_names_its_bus_and_says_how() -> None:
    told = act("configure", "bus:i1/a/b", settings={"density": "dense"})

    assert told is not None
    assert (told.installation, told.bus, told.data["settings"]) == (
        "i1", "a/b", {"density": "dense"},
    )  # fmt: skip
    assert told.subject == names.bus_id("i1", "a/b")


def test_members_may_lie_in_the_act_as_pages_write_them() -> None:
    told = act("alias", "installation:a/b", inside={"alias": "c"})

    assert told is not None
    assert (told.installation, told.bus, told.data) == ("a/b", "", {"alias": "c"})


@pytest.mark.parametrize(
    ("verb", "target", "members"),
    [
        ("configure", "bus:i1/activity", {"token": 3}),
        ("configure", "bus:i1/activity", {"inside": {"outcome": "denied"}}),
        ("configure", "bus:i1", {}),
        ("configure", "installation:i1", {}),
        ("alias", "bus:i1/activity", {}),
        ("pause", "queue:payouts", {}),
    ],
)
def test_other_acts_set_nothing(verb: str, target: str, members: dict[str, Any]) -> None:
    assert act(verb, target, **members) is None


@pytest.mark.parametrize(
    "span",
    [
        {},
        {"from": "2026-10-05T09:00:00Z"},
        {"from": "soon", "to": "2026-10-05T09:00:00Z"},
        {"from": "2026-10-05T09:00:00Z", "to": "2026-10-05T09:00:00Z"},
    ],
)
def test_a_maintenance_needs_two_times_in_order(span: dict[str, str]) -> None:
    assert settings.window_of(span) is None


@pytest.mark.parametrize(
    ("bus", "told", "data", "profile", "density"),
    [
        ("activity", "", {}, "generation+hb", "sparse"),
        ("watch", "", {}, "watch", "dense"),
        ("orders", "", {}, "generic", "dense"),
        ("activity", "opaque", {}, "opaque", "sparse"),
        ("activity", "opaque", {"profile": "v2", "density": "dense"}, "generation", "dense"),
        ("activity", "bare", {"profile": "v9", "density": "thick"}, "bare", "sparse"),
    ],
)
def test_what_nobody_set_is_as_usual(
    bus: str, told: str, data: dict[str, object], profile: str, density: str
) -> None:
    found = in_force.settings_of(bus, told, data, [])

    assert (found.profile, found.density) == (profile, density)
    assert (found.document["profile"], found.document["density"]) == (profile, density)


@pytest.mark.parametrize("odd", [0, -1, "x", 10**9, None, True, {"events": 0}])
def test_sizes_that_are_none_are_as_usual(odd: object) -> None:
    found = in_force.settings_of("b", "", {"keep": {"messages": odd}, "buffer": odd}, [])

    assert (found.keep, found.buffer) == (KEEP_MESSAGES, BUFFER_EVENTS)


STREAM = {"profile": "generic", "stream": "events", "form": "stream"}


@pytest.mark.parametrize(
    ("told", "density"),
    [(STREAM, "sparse"), ({**STREAM, "id": "$.seq"}, "dense"), ({"stream": "events"}, "sparse")],
)
def test_a_bus_is_taken_for_what_its_tail_takes_it_for(
    told: dict[str, object], density: str
) -> None:
    found = in_force.settings_of("live", "generic", told, [])

    assert found.density == settings_of("live", told).density == density
    assert found.document == settings_of("live", told).as_json()


def test_what_is_of_no_bus_stands_beside_its_settings() -> None:
    found = in_force.settings_of("b", "", {"redis_env": "REDIS", "density": 7}, [])

    assert (found.document["redis_env"], found.document["density"]) == ("REDIS", "dense")


def test_an_answer_keeps_its_cursor_as_it_came() -> None:
    told = answers.read_resume(statement(what="resume", cursor=1870000000000000001, **BODY))

    assert told is not None
    assert (told.cursor, told.epoch, told.replica) == ("1870000000000000001", None, "tail")


def test_a_long_dump_keeps_its_last_ids_and_counts_all() -> None:
    told = answers.read_buffer(statement(what="buffer", ids=list(range(5_000)), **BODY))

    assert told is not None
    assert (told.count, len(told.ids), told.ids[-1]) == (5_000, answers.MOST_IDS, "4999")


def test_counters_are_numbers_and_resets_have_one_name() -> None:
    told = surroundings.read_replica(
        statement(what="replica", replica="r1", metrics={"a": 2, "b": "3", "c": None},
                  resets=[{"reason": "counter_backwards"}, 7])
    )  # fmt: skip

    assert told is not None
    assert told.metrics == {"a": 2.0}
    assert [one.reason for one in told.resets] == ["counter_backward", ""]


def test_a_time_that_no_column_holds_makes_a_row_faulty() -> None:
    told = segments.read(
        statement(what="segment", **{"from": "2026-10-05T09:00:00Z"}, **BODY),
        [[2**62, "bare", None, "1", "", "", 3], [0, "bare", None, "2", "", "", 3]],
    )

    assert told is not None
    assert ([one.record.id for one in told.rows], told.refused) == ([2], 1)


@given(what=st.sampled_from(["segment", "heads", "resume", "buffer", "keys", "replica"]),
       body=st.dictionaries(
           st.sampled_from(["installation", "bus", "replica", "from", "to", "n", "heads", "keys",
                            "channels", "ids", "metrics", "resets", "cursor", "policy",
                            "sampled_at", "profile", "incarnation", "served", "phase"]), VALUES),
       rows=st.lists(VALUES, max_size=4))  # fmt: skip
def test_whatever_a_receipt_says_reading_it_never_fails(
    what: str, body: dict[str, Any], rows: list[object]
) -> None:
    given_one = statement(what=what, **{**BODY, **body})

    segments.read(given_one, rows)
    surroundings.read_heads(given_one)
    surroundings.read_keys(given_one)
    surroundings.read_replica(given_one)
    answers.read_resume(given_one)
    answers.read_buffer(given_one)
