"""From bytes to a reading: what is taken, what is set aside, and what is said about it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ledger.domain import canonical, checks, reading
from ledger.domain.reading import Reading

# A busy machine is no failure.
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

ID = "8ee956d2-4597-5fcf-8c6b-5f5f5c5bac16"
SKIP: dict[str, Any] = {
    "schema": "counterfoil.receipt/1",
    "id": ID,
    "kind": "skip",
    "occurred_at": "2026-10-05T09:00:30.000000Z",
    "job": {"task": "StatifierOban.Invoke.Worker", "queue": "statifier_invokes", "attempt": 1},
    "subjects": [{"type": "payout", "id": "PO-88213"}],
    "invoke": {"scope": "exec_a1", "id": "resolve", "generation": "4", "element": [3, 0]},
    "key": {
        "recipe": "statifier.invoke",
        "version": "2",
        "fields": {"scope": "exec_a1", "macrostep": 4},
        "ignored": {"params": "…"},
    },
    "reason": "already_done",
    "original": {"job": "101"},
    "original_state": "completed",
    "rule": {"name": "unique", "version": "7", "path": "lib/worker.ex", "line": 12},
    "condition": {"result": False, "inputs": {}},
    "switch": {"name": "payouts.paused", "set_at": "2026-10-05T09:00:00Z", "actor": {}},
    "actor": {"type": "service", "id": "u-17", "on_behalf_of": {}, "authority": "CHG-2231"},
    "trace": {"trace_id": "4bf92f3577b34da6a3ce929d0e0e4736", "span_id": "00f067aa0ba902b7"},
    "source": {"system": "oban", "instance": "prod-1", "via": "telemetry"},
    "evidence": "recorded",
    "sent": {"at": "…", "attempt": 2, "host": "w7"},
    "data": {},
}
OTHERS: list[dict[str, Any]] = [
    {
        "kind": "heartbeat",
        "loop": "relay",
        "incarnation": "i1",
        "n": 17,
        "run_id": "r1",
        "beat": "ok",
        "sent_at": "2026-10-05T09:00:30Z",
        "period_s": 45,
        "grace_s": 1.5,
        "channels": [
            {
                "channel": "lobby",
                "from": "90",
                "to": 100,
                "outcome": "clean",
                "backfill": [["1", 4]],
            }
        ],
    },
    {
        "kind": "observe",
        "what": "heads",
        "sampled_at": "2026-10-05T09:00:30Z",
        "heads": [{"channel": "lobby", "node": None, "epoch": "e1", "head": "100", "floor": 1}],
    },
    {"kind": "observe", "what": "arrived", "spool": "a", "ranges": [["1", "412"]], "replayed": 3},
    {
        "kind": "observe",
        "what": "policy",
        "version": "3",
        "each": ["a.*"],
        "tally": [],
        "never": [],
    },
    {
        "kind": "tally",
        "window": {"from": "2026-10-05T09:00:30Z", "to": "2026-10-05T09:00:40Z"},
        "policy": "3",
        "counts": [{"task": "mail.send", "queue": "q", "done": 12, "ms": {"p50": 1.5}}],
        "data": {"jobs": [["mail.send", "3f0c", "done", 12]]},
    },
    {"kind": "act", "act": {"verb": "pause", "target": "queue:payouts"}},
    {
        "kind": "decide",
        "decision": "st/ADR-0051",
        "move": "accept",
        "text_hash": "sha256:00",
        "actor": {"id": "u-17"},
        "evidence": {"url": "https://example.com", "system": "x", "id": "1"},
    },
]


def read(body: object) -> Reading:
    return reading.read(json.dumps(body).encode())


def found(read: Reading) -> list[tuple[str, str]]:
    return [(fault.pointer, fault.code) for fault in read.faults]


def test_a_full_skip_is_accepted() -> None:
    raw = json.dumps(SKIP).encode()

    skip = reading.read(raw)

    assert (skip.state, skip.kind, skip.word, skip.faults, skip.notes) == (
        "accepted",
        "skip",
        "skip",
        (),
        (),
    )
    assert skip.receipt_id is not None and skip.receipt_id.version == 5
    assert canonical.plain(skip.body) == SKIP
    assert skip.has_canonical
    assert json.loads(skip.canonical) == {k: v for k, v in SKIP.items() if k != "sent"}
    assert json.loads(skip.stub) == {k: v for k, v in SKIP.items() if k not in ("sent", "data")}


@pytest.mark.parametrize("body", OTHERS, ids=lambda body: body.get("what", body["kind"]))
def test_each_other_shape_of_the_contract_is_accepted(body: dict[str, Any]) -> None:
    assert found(read(body)) == []
    assert read(body).state == "accepted"


@pytest.mark.parametrize("kind", reading.KINDS)
def test_a_kind_is_all_that_a_receipt_needs(kind: str) -> None:
    receipt = read({"kind": kind})

    assert (receipt.state, receipt.kind, receipt.word) == ("accepted", kind, kind)
    assert receipt.receipt_id is None
    assert receipt.notes == ()


def test_an_unknown_kind_is_kept_as_other_with_its_word() -> None:
    receipt = read({"kind": "teleport"})

    assert (receipt.state, receipt.kind, receipt.word) == ("accepted", "other", "teleport")
    assert receipt.notes == ("unknown_kind",)


@pytest.mark.parametrize(
    ("body", "note"),
    [
        ({"schema": "counterfoil.receipt/2"}, "unknown_schema"),
        ({"source": {"via": "pigeon"}}, "unknown_via"),
        ({"note": "a\x00b"}, "nul"),
    ],
)
def test_what_is_strange_and_no_fault_is_noted(body: dict[str, Any], note: str) -> None:
    receipt = read({"kind": "done", **body})

    assert (receipt.state, receipt.notes) == ("accepted", (note,))


@pytest.mark.parametrize(
    "body",
    [
        {"unknown": {"deep": [1, 2]}},
        {"job": {"id": 101, "unknown": []}},
        {"original": None},
        {"original": {"job": 101}},
        {"original": {"receipt": ID, "job": None, "source": {"system": "celery"}}},
        {"job": None, "subjects": None, "reason": None, "key": None, "trace": None},
        {"reason": "because the moon was full"},
        {"reason": ""},
        {"occurred_at": "1912-06-23T00:00:00Z"},
        {"occurred_at": "2099-12-31T23:59:60.123456789+14:00"},
        {"occurred_at": "2026-10-05t09:00:30z"},
        {"subjects": []},
        {"subjects": [{"type": "a", "id": "x" * 255, "unknown": 1}] * 16},
        {"data": [1]},
        {"condition": {"result": [], "inputs": {}}},
        {"actor": {"id": 17}},
        {"key": {"version": 2, "fields": {}}},
        {"n": 18014398509481984},
    ],
)
def test_what_the_contract_allows_is_accepted(body: dict[str, Any]) -> None:
    assert found(read({"kind": "skip", **body})) == []


@pytest.mark.parametrize(
    ("body", "faults"),
    [
        ({}, [("/kind", "missing")]),
        ({"kind": None}, [("/kind", "type")]),
        ({"kind": 7}, [("/kind", "type")]),
        ({"kind": ""}, [("/kind", "length")]),
        ({"kind": "skip", "id": ""}, [("/id", "id")]),
        ({"kind": "skip", "id": "x" * 256}, [("/id", "id")]),
        ({"kind": "skip", "id": 7}, [("/id", "id")]),
        ({"kind": "skip", "id": None}, [("/id", "id")]),
        ({"kind": "skip", "job": "101"}, [("/job", "type")]),
        ({"kind": "skip", "job": {"id": 1.5}}, [("/job/id", "type")]),
        ({"kind": "skip", "job": {"task": 5}}, [("/job/task", "type")]),
        ({"kind": "skip", "subjects": {}}, [("/subjects", "type")]),
        ({"kind": "skip", "subjects": ["PO-1"]}, [("/subjects/0", "type")]),
        (
            {"kind": "skip", "subjects": [{"type": "a", "id": "b"}, {"id": "b"}]},
            [("/subjects/1/type", "missing")],
        ),
        (
            {"kind": "skip", "subjects": [{"type": "Pay out", "id": ""}]},
            [("/subjects/0/type", "format"), ("/subjects/0/id", "length")],
        ),
        ({"kind": "skip", "subjects": [{"type": "a", "id": 7}]}, [("/subjects/0/id", "type")]),
        ({"kind": "skip", "subjects": [{"type": "a", "id": "b"}] * 17}, [("/subjects", "length")]),
        ({"kind": "skip", "key": {"fields": []}}, [("/key/fields", "type")]),
        ({"kind": "skip", "original": "101"}, [("/original", "type")]),
        ({"kind": "skip", "original": {}}, [("/original", "format")]),
        ({"kind": "skip", "original": {"receipt": ""}}, [("/original/receipt", "id")]),
        ({"kind": "skip", "original": {"job": True}}, [("/original/job", "type")]),
        (
            {"kind": "skip", "original": {"job": "1", "source": {"system": 1}}},
            [("/original/source/system", "type")],
        ),
        ({"kind": "skip", "occurred_at": 1791190830}, [("/occurred_at", "type")]),
        ({"kind": "skip", "occurred_at": "2026-10-05T09:00:30"}, [("/occurred_at", "format")]),
        ({"kind": "skip", "occurred_at": "2026-02-30T09:00:30Z"}, [("/occurred_at", "format")]),
        ({"kind": "skip", "occurred_at": "yesterday"}, [("/occurred_at", "format")]),
        ({"kind": "skip", "trace": {"trace_id": "4bf9"}}, [("/trace/trace_id", "format")]),
        ({"kind": "skip", "trace": {"span_id": "g" * 16}}, [("/trace/span_id", "format")]),
        ({"kind": "skip", "reason": 7}, [("/reason", "type")]),
        ({"kind": "skip", "reason": ["paused"]}, [("/reason", "type")]),
        ({"kind": "skip", "sent": "now"}, [("/sent", "type")]),
        ({"kind": "skip", "source": "oban"}, [("/source", "type")]),
        ({"kind": "skip", "evidence": {}}, [("/evidence", "type")]),
        ({"kind": "decide", "evidence": 7}, [("/evidence", "type")]),
        ({"kind": "act", "act": "pause"}, [("/act", "type")]),
        ({"kind": "tally", "counts": [7]}, [("/counts/0", "type")]),
        ({"kind": "heartbeat", "period_s": "45"}, [("/period_s", "type")]),
        (
            {"kind": "heartbeat", "channels": [{"backfill": [["1"], 2]}]},
            [("/channels/0/backfill/1", "type")],
        ),
        ({"kind": 7, "id": 7, "job": 7}, [("/id", "id"), ("/kind", "type"), ("/job", "type")]),
    ],
)
def test_a_field_that_is_wrong_is_pointed_at(
    body: dict[str, Any], faults: list[tuple[str, str]]
) -> None:
    receipt = read(body)

    assert found(receipt) == faults
    assert receipt.state == "quarantined"
    assert receipt.body is not None
    assert receipt.has_canonical and receipt.stub != b""


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"", "empty"),
        (b"\n", "empty"),
        (b"\xff\xfe", "utf8"),
        (b'{"kind":', "json"),
        (b'{"kind":NaN}', "json"),
        (b"[" * 100_000, "depth"),
    ],
)
def test_what_cannot_be_read_is_set_aside_as_its_own_text(raw: bytes, code: str) -> None:
    receipt = reading.read(raw)

    assert (receipt.state, receipt.kind, receipt.body) == ("quarantined", "other", None)
    assert found(receipt) == [("", code)]
    assert (receipt.canonical, receipt.has_canonical, receipt.stub) == (raw, False, b"")
    assert receipt.receipt_id is None


@pytest.mark.parametrize("raw", [b"[1, 2]", b'"done"', b"7", b"null", b"true", b"[]"])
def test_what_is_no_object_is_set_aside_with_its_canonical_text(raw: bytes) -> None:
    receipt = reading.read(raw)

    assert (receipt.state, receipt.body, found(receipt)) == ("quarantined", None, [("", "type")])
    assert receipt.has_canonical
    assert receipt.canonical == receipt.stub == raw.replace(b" ", b"")


def test_a_list_with_a_member_named_twice_is_its_own_text() -> None:
    raw = b'[{"a":1,"a":1}]'

    receipt = reading.read(raw)

    assert (receipt.canonical, receipt.has_canonical, receipt.stub) == (raw, False, b"")


def test_one_mebibyte_is_read_and_a_byte_more_is_not() -> None:
    body = b'{"kind":"done"}'
    most = body + b" " * (reading.MAX_BODY - len(body))

    assert reading.read(most).state == "accepted"

    receipt = reading.read(most + b" ")
    assert (receipt.state, found(receipt)) == ("oversize", [("", "oversize")])


def test_a_member_named_twice_is_accepted_with_a_note() -> None:
    raw = b'{"id":"n1","kind":"done","n":18014398509481984,"n":18014398509481985}'

    receipt = reading.read(raw)

    assert (receipt.state, receipt.notes) == ("accepted", ("duplicate_member",))
    assert (receipt.canonical, receipt.has_canonical, receipt.stub) == (raw, False, b"")
    assert receipt.body is not None and str(receipt.body["n"]) == "18014398509481985"
    assert receipt.receipt_id is not None and receipt.receipt_id.key == "n1"


@pytest.mark.parametrize(
    ("raw", "pointer"),
    [
        (b'{"id":"a","kind":"done","id":"b"}', "/id"),
        (b'{"id":"a","kind":"done","kind":"skip"}', "/kind"),
        (rb'{"id":"a","kind":"done","\u006bind":"done"}', "/kind"),
    ],
)
def test_an_id_or_a_kind_named_twice_is_set_aside(raw: bytes, pointer: str) -> None:
    receipt = reading.read(raw)

    assert (receipt.state, found(receipt)) == ("quarantined", [(pointer, "duplicate")])
    assert (receipt.receipt_id is None) == (pointer == "/id")
    assert receipt.notes == ("duplicate_member",)


def test_an_id_named_twice_further_down_is_no_fault() -> None:
    assert reading.read(b'{"kind":"done","job":{"id":"1","id":"2"}}').state == "accepted"


@pytest.mark.parametrize(
    "content_type",
    [
        "",
        "application/json",
        "Application/JSON; charset=utf-8",
        "application/vnd.acme+json",
        "application/x-ndjson",
        "text/json",
    ],
)
def test_a_type_of_json_is_read(content_type: str) -> None:
    assert reading.read(b'{"kind":"done"}', content_type).state == "accepted"


@pytest.mark.parametrize(
    "content_type", ["text/plain", "application/x-www-form-urlencoded", "json", "a" * 500, "é\x00"]
)
def test_an_unknown_content_type_is_set_aside_and_named(content_type: str) -> None:
    receipt = reading.read(b'{"kind":"done"}', content_type)

    assert (receipt.state, found(receipt)) == ("quarantined", [("", "json")])
    assert ascii(content_type[:20])[1:-1] in receipt.faults[0].detail
    assert not receipt.has_canonical


@pytest.mark.parametrize(("encoding", "state"), [("", "accepted"), (" Identity ", "accepted")])
def test_no_content_encoding_is_read(encoding: str, state: str) -> None:
    assert reading.read(b'{"kind":"done"}', "application/json", encoding).state == state


@pytest.mark.parametrize("encoding", ["gzip", "identity, gzip", "x" * 500])
def test_a_content_encoding_is_set_aside_and_named(encoding: str) -> None:
    receipt = reading.read(b"\x1f\x8b", "application/json", encoding)

    assert (receipt.state, found(receipt)) == ("quarantined", [("", "encoding")])


def test_an_empty_body_is_called_empty_whatever_its_headers() -> None:
    assert found(reading.read(b"", "text/plain", "gzip")) == [("", "empty")]


def test_faults_are_listed_up_to_a_limit() -> None:
    body = {"kind": "heartbeat", "channels": [7] * 100_000}

    assert len(read(body).faults) == checks.MAX_PROBLEMS


def test_the_limit_holds_where_the_last_item_has_two_faults() -> None:
    body = {"kind": "skip", "job": 7, "subjects": [{"type": 1, "id": 2}] * 16}

    assert len(read(body).faults) == checks.MAX_PROBLEMS


SECRET = "hunter2"


@pytest.mark.parametrize(
    "raw",
    [
        b'{"kind":"done","id":["hunter2"]}',
        b'{"kind":["hunter2"]}',
        b'{"kind":"skip","job":"hunter2","trace":{"trace_id":"hunter2"},"occurred_at":"hunter2"}',
        b'{"kind":"skip","subjects":[{"type":"hunter2!","id":""}],"original":"hunter2"}',
        b'{"kind":"skip","hunter2":hunter2}',
        b"hunter2",
        b"hunter2\xff",
        b'{"kind":"skip","hunter2":1,"hunter2":2,"job":7}',
    ],
)
def test_a_fault_repeats_nothing_of_the_body(raw: bytes) -> None:
    receipt = reading.read(raw)

    assert receipt.faults
    assert SECRET not in repr(receipt.faults)


@patient
@given(
    st.one_of(
        st.binary(max_size=80),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(max_size=4),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(
                    st.sampled_from(
                        [*SKIP, *SKIP["job"], "channels", "what", "heads", "act", "window", "x"]
                    ),
                    inner,
                    max_size=5,
                )
            ),
            max_leaves=20,
        )
        .flatmap(
            lambda value: st.sampled_from(reading.KINDS).map(
                lambda kind: {**value, "kind": kind} if isinstance(value, dict) else value
            )
        )
        .map(lambda value: json.dumps(value).encode()),
    ),
    st.text(max_size=5),
    st.text(max_size=5),
)
def test_nothing_makes_it_raise(raw: bytes, content_type: str, encoding: str) -> None:
    for receipt in (reading.read(raw), reading.read(raw, content_type, encoding)):
        assert (receipt.state == "accepted") == (not receipt.faults)
        assert receipt.has_canonical or (receipt.canonical, receipt.stub) == (raw, b"")
        assert all(len(fault.detail) <= 200 for fault in receipt.faults)


@patient
@given(
    st.datetimes(min_value=datetime(2, 1, 1), max_value=datetime(9998, 1, 1)),  # noqa: DTZ001
    st.timezones(),
)
def test_a_time_is_read_as_it_was_written(naive: datetime, zone: Any) -> None:
    at = naive.replace(tzinfo=UTC).astimezone(zone)

    written = at.isoformat()

    if at.utcoffset().total_seconds() % 60 == 0:
        assert checks.find_moment(written) == at


@pytest.mark.parametrize(
    "text",
    [
        "2026-10-05",
        "2026-10-05T09:00Z",
        "2026-10-05T24:00:00Z",
        "2026-13-05T09:00:00Z",
        "2026-10-05T09:00:61Z",
        "2026-10-05T09:00:00+24:00",
        "2026-10-05T09:00:00+0200",
        "2026-10-05T09:00:00,5Z",
        "2026-W41-1T09:00:00Z",
        "20261005T090000Z",
        "0000-01-01T00:00:00Z",
        "0001-01-01T00:00:00+14:00",
        "\uff12026-10-05T09:00:00Z",
        "2026-10-05T09:00:00Z\n",
    ],
)
def test_what_is_no_rfc_3339_time_is_none(text: str) -> None:
    assert checks.find_moment(text) is None
