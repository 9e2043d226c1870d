"""What replicas' logs, their metrics and the keys of a bus say."""

from __future__ import annotations

import json

import pytest

from events.domain import key_values, metric_lines, replica_lines

START = {
    "time": "2026-10-05T09:00:00.5Z", "level": "INFO", "msg": "Event bus using Redis pub/sub",
    "addr": "redis:6379", "db": 0, "namespace": "blue", "id_space_phase": 2, "heartbeat_phase": 1,
}  # fmt: skip


def as_text(fields: dict[str, object]) -> str:
    return " ".join(f"{n}={json.dumps(v) if ' ' in str(v) else v}" for n, v in fields.items())


@pytest.mark.parametrize("write", [json.dumps, as_text])
def test_the_line_of_a_start_tells_the_phases(write: object) -> None:
    assert callable(write)
    fields = replica_lines.read_line(write(START))

    assert fields is not None
    assert replica_lines.started_of(fields) == {
        "phase": 2, "heartbeat_phase": 1, "namespace": "blue",
        "started_at": "2026-10-05T09:00:00.5Z",
    }  # fmt: skip
    assert replica_lines.reset_of(fields) is None


def test_a_start_of_a_version_that_logs_no_phase_tells_none() -> None:
    old = {n: v for n, v in START.items() if not n.endswith("phase")}
    fields = replica_lines.read_line(json.dumps(old))

    assert fields is not None
    told = replica_lines.started_of(fields)
    assert told is not None and told.keys() == {"namespace", "started_at"}


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"msg": "epoch changed", "previous_epoch": 7, "new_epoch": 8, "id": 1}, "epoch_change"),
        ({"msg": "epoch fell", "previous_epoch": 8, "new_epoch": 7, "id": 1}, "epoch_regressed"),
        ({"msg": "late", "message_epoch": 7, "current_epoch": 8, "workspace": "w"},
         "epoch_regressed"),
        ({"msg": "ids went back", "high_water_mark": 9, "id": 2, "workspace": "w"},
         "counter_backward"),
        ({"msg": "x", "reason": "counter_backwards"}, "counter_backward"),
        ({"msg": "bad", "channel": "pad:events:w", "error": "no JSON"}, "undecodable_message"),
        ({"msg": "bad", "channel_workspace": "a", "event_workspace": "b", "id": 4},
         "undecodable_message"),
        ({"msg": "failed to unmarshal Redis event", "error": "no JSON"}, "undecodable_message"),
        ({"msg": "subscription resumed", "workspace": "w", "channel": "c"},
         "subscription_resumed"),
        ({"msg": "no ack", "workspace": "w", "timeout": "1s"}, "subscription_unconfirmed"),
    ],
)  # fmt: skip
def test_a_reset_is_known_by_the_fields_of_its_line(fields: dict[str, object], reason: str) -> None:
    read = replica_lines.read_line(json.dumps({"time": "t", "level": "WARN", **fields}))

    assert read is not None
    reset = replica_lines.reset_of(read)
    assert reset is not None and reset["reason"] == reason
    assert "error" not in reset["fields"]


@pytest.mark.parametrize(
    "line",
    ["", "hello", "{", "[1]", '{"level": "WARN"}', "msg=x", '{"msg": {"a": 1}, "level": "WARN"}',
     "{" * 3000],
)  # fmt: skip
def test_other_lines_tell_nothing(line: str) -> None:
    assert replica_lines.read_line(line) is None


def test_a_quiet_line_with_the_fields_of_a_reset_is_none() -> None:
    read = replica_lines.read_line('level=INFO msg="adopted" previous_epoch=1 new_epoch=2')

    assert read is not None and replica_lines.reset_of(read) is None


def test_the_metrics_of_event_buses_are_kept_and_no_others() -> None:
    page = """# HELP pad_event_sequence_resets_total resets
pad_event_sequence_resets_total{reason="epoch_change"} 3
pad_event_sequence_resets_total{reason="a } b\\"c"} 1 1700000000000
pad_event_resume_gaps_total 1.5e+01
pad_redis_up NaN
pad_eventbus_publish_total what
pad_http_requests_total 99
go_goroutines 12
pad_sse_connections_active 4"""

    assert metric_lines.read_metrics(page) == {
        'pad_event_sequence_resets_total{reason="epoch_change"}': 3,
        'pad_event_sequence_resets_total{reason="a } b\\"c"}': 1,
        "pad_event_resume_gaps_total": 15,
        "pad_sse_connections_active": 4,
    }


@pytest.mark.parametrize(
    ("kind", "value", "meant"),
    [
        ("none", None, "absent"), ("list", None, "wrong_type"), ("string", "", "empty"),
        ("string", "7", "integer"), ("string", "0", "not_positive"),
        ("string", "-3", "not_positive"),
        ("string", "99999999999999999", "integer"), ("string", "999999999999999999", "too_large"),
        ("string", "1" * 26, "too_large"), ("string", "1.5", "text"), ("string", "abc", "text"),
        ("string", "0190c0de-5e1f-4a5b-9c2d-0a0b0c0d0e0f", "uuid"), ("string", " 7", "text"),
        ("string", "1e+14", "text"),
    ],
)  # fmt: skip
def test_a_value_is_called_by_its_kind(kind: str, value: str | None, meant: str) -> None:
    assert key_values.class_of(kind, value) == meant


@pytest.mark.parametrize(
    ("profile", "namespace", "seq", "channels"),
    [
        ("bare", "", "pad:event_seq", ("pad:events:*",)),
        ("generation", "inst-b", "pad:inst-b:event_seq", ("pad:inst-b:events:*",)),
        ("watch", "", "pad:watchevents_seq", ("pad:watchevents",)),
    ],
)
def test_the_names_of_an_installation_are_those_of_its_namespace(
    profile: str, namespace: str, seq: str, channels: tuple[str, ...]
) -> None:
    assert key_values.keys_of(profile, namespace)["seq"] == seq
    assert key_values.channels_of(profile, namespace) == channels


def test_a_bus_that_is_not_pads_has_no_keys() -> None:
    assert key_values.keys_of("generic", "") == {}
    assert key_values.channels_of("generic", "") == ()
