from __future__ import annotations

import hashlib
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.domain import canonical
from ledger.domain.statement import (
    JobName,
    Pointer,
    SwitchNamed,
    done_id,
    in_order,
    key_digest,
    level_of,
    masked_id,
    normal_id,
    read_statement,
    suffers_lateness,
)
from tests.unit.ledger.shelf import NOON, key, make

CONTRACT_EXAMPLE: dict[str, Any] = {
    "schema": "counterfoil.receipt/1",
    "id": "8ee956d2-4597-5fcf-8c6b-5f5f5c5bac16",
    "kind": "skip",
    "occurred_at": "2026-10-05T09:00:30.000000Z",
    "job": {"task": "StatifierOban.Invoke.Worker", "queue": "statifier_invokes"},
    "subjects": [{"type": "payout", "id": "PO-88213"}],
    "invoke": {"scope": "exec_a1", "id": "resolve", "generation": "4", "element": [3, 0]},
    "key": {
        "recipe": "statifier.invoke",
        "version": "2",
        "fields": {"scope": "exec_a1", "invoke_id": "resolve", "macrostep": 4},
        "ignored": {"params": "opaque, 38 bytes"},
    },
    "reason": "already_done",
    "original": {"job": "101"},
    "original_state": "completed",
    "rule": {"name": "worker unique", "version": "7", "line": 12, "decision": "sob-ADR-0003"},
    "condition": {"result": False, "inputs": {}},
    "switch": {"name": "payouts.paused", "set_at": "2026-10-05T08:00:00Z", "actor": {"id": "u-1"}},
    "actor": {"type": "service", "id": "u-17", "label": "relay"},
    "trace": {"trace_id": "4bf92f3577b34da6a3ce929d0e0e4736", "span_id": "00f067aa0ba902b7"},
    "source": {"system": "oban", "instance": "prod-1", "via": "telemetry"},
    "evidence": "recorded",
}


def read(body: object, **known: Any):
    given_facts = {"leaf": 41, "ref": "r42", "state": "accepted", "received_at": NOON}
    return read_statement(body, **{**given_facts, **known})  # type: ignore[arg-type]


def test_the_example_of_the_contract_is_read_whole():
    one = read(CONTRACT_EXAMPLE, token_id=3)

    assert (one.leaf, one.ref, one.state, one.kind, one.token_id) == (
        41,
        "r42",
        "accepted",
        "skip",
        3,
    )
    assert one.occurred_at == datetime(2026, 10, 5, 9, 0, 30, tzinfo=UTC)
    assert (one.system, one.instance, one.via, one.source) == (
        "oban",
        "prod-1",
        "telemetry",
        "oban/prod-1",
    )
    assert (one.job, one.task, one.queue) == (
        None,
        "StatifierOban.Invoke.Worker",
        "statifier_invokes",
    )
    assert (one.scope, one.invoke_id, one.generation, one.element) == (
        "exec_a1",
        "resolve",
        "4",
        "3, 0",
    )
    assert one.key_fields == (
        ("invoke_id", '"resolve"'),
        ("macrostep", "4"),
        ("scope", '"exec_a1"'),
    )
    assert one.key_ignored == (("params", "opaque, 38 bytes"),)
    assert (one.recipe, one.recipe_version) == ("statifier.invoke", "2")
    assert one.pointer == Pointer(job=JobName("oban", "prod-1", "101"))
    assert one.pointer.job.text() == "oban/prod-1/101"
    assert (one.reason, one.original_state) == ("already_done", "completed")
    assert (one.rule.name, one.rule.version, one.rule.line) == ("worker unique", "7", 12)
    assert one.switch == SwitchNamed("payouts.paused", datetime(2026, 10, 5, 8, tzinfo=UTC), "u-1")
    assert one.condition == {"result": False, "inputs": {}}
    assert (one.actor_type, one.actor_id, one.actor_label) == ("service", "u-17", "relay")
    assert one.trace_id == "4bf92f3577b34da6a3ce929d0e0e4736"
    assert one.span_id == "00f067aa0ba902b7"
    assert one.subjects == (("payout", "PO-88213"),)


def test_a_body_parsed_with_number_tokens_reads_like_one_parsed_plainly():
    raw = b'{"kind":"skip","key":{"recipe":"r","fields":{"n":4}},"job":{"id":101,"attempt":2}}'

    tokens = read(canonical.parse_any(raw)[0])
    plainly = read({"kind": "skip", "key": key_of(4), "job": {"id": 101, "attempt": 2}})

    assert tokens == plainly
    assert (tokens.job.number, tokens.attempt) == ("101", 2)


def key_of(value: object) -> dict[str, object]:
    return {"recipe": "r", "fields": {"n": value}}


def test_what_happened_without_a_producers_time_happened_when_it_arrived():
    assert read({"kind": "done"}).happened_at == NOON


@pytest.mark.parametrize(
    "text", ["2026-10-05T09:00:30", "yesterday", "", "2026-13-01T00:00:00Z", 5, None, "9" * 99]
)
def test_a_time_without_a_zone_or_sense_is_no_time(text):
    assert read({"kind": "done", "occurred_at": text}).occurred_at is None


def test_a_time_at_the_end_of_the_calendar_does_not_overflow():
    assert read({"kind": "done", "occurred_at": "9999-12-31T23:59:59-14:00"}).occurred_at is None
    assert read({"kind": "done", "occurred_at": "0001-01-01T00:00:00Z"}).level == "reconstructed"


def test_an_unknown_kind_is_other_and_keeps_its_word():
    one = read({"kind": "beheld"})

    assert (one.kind, one.word) == ("other", "beheld")


SOURCES = {
    "named whole": ({"system": "celery", "instance": "eu"}, "celery/eu"),
    "not named": (None, "oban/prod-1"),
    "only how it was seen": ({"via": "row"}, "oban/prod-1"),
    "the token's system again": ({"system": "oban"}, "oban/prod-1"),
    "another system without an instance": ({"system": "celery"}, "celery"),
    "another instance": ({"instance": "prod-2"}, "oban/prod-2"),
    "nonsense": ("oban", "oban/prod-1"),
}


@pytest.mark.parametrize(("named", "expected"), SOURCES.values(), ids=SOURCES)
def test_a_receipt_without_a_source_gets_that_of_its_token(named, expected):
    one = read({"kind": "done", "source": named}, source_default=("oban", "prod-1"))

    assert one.source == expected


POINTERS: dict[str, tuple[object, Pointer]] = {
    "a receipt": ({"receipt": "a"}, Pointer(receipt="a")),
    "a job of the same source": ({"job": "7"}, Pointer(job=JobName("s", "i", "7"))),
    "a job by a bare number": ({"job": 7}, Pointer(job=JobName("s", "i", "7"))),
    "both": ({"receipt": "a", "job": "7"}, Pointer("a", JobName("s", "i", "7"))),
    "a job of another source": (
        {"job": "7", "source": {"system": "t", "instance": "j"}},
        Pointer(job=JobName("t", "j", "7")),
    ),
    "a job of another system": (
        {"job": "7", "source": {"system": "t"}},
        Pointer(job=JobName("t", "", "7")),
    ),
    "null": (None, Pointer(stated_none=True)),
    "an empty object": ({}, Pointer()),
    "empty names": ({"receipt": "", "job": ""}, Pointer()),
    "text": ("a", Pointer()),
    "a list": ([1], Pointer()),
}


@pytest.mark.parametrize(("original", "expected"), POINTERS.values(), ids=POINTERS)
def test_an_original_is_read_as_a_pointer(original, expected):
    one = read({"kind": "skip", "source": {"system": "s", "instance": "i"}, "original": original})

    assert one.pointer == expected


def test_a_receipt_that_does_not_speak_of_an_original_has_no_pointer():
    assert read({"kind": "skip"}).pointer is None


LEVELS = {
    "client": ("client", "", False, "recorded"),
    "telemetry": ("telemetry", "", False, "recorded"),
    "signal": ("signal", "", False, "recorded"),
    "row": ("row", "", False, "reconstructed"),
    "log": ("log", "", False, "reconstructed"),
    "import": ("import", "", False, "reconstructed"),
    "typed in our pages": ("page", "", False, "asserted"),
    "a way in that we do not know": ("rumour", "", False, "unknown"),
    "lowered by the producer": ("client", "asserted", False, "asserted"),
    "not raised by the producer": ("row", "recorded", False, "reconstructed"),
    "an evidence word that we do not know": ("client", "sworn", False, "unknown"),
    "late": ("client", "recorded", True, "reconstructed"),
    "late and lower already": ("client", "asserted", True, "asserted"),
}


@pytest.mark.parametrize(("via", "evidence", "late", "expected"), LEVELS.values(), ids=LEVELS)
def test_the_way_in_sets_the_ceiling_and_the_producer_can_only_lower_it(
    via, evidence, late, expected
):
    assert level_of(via, evidence, is_late=late) == expected


@pytest.mark.parametrize(
    ("late_by", "is_in_order", "expected"),
    [
        (timedelta(hours=24), False, "recorded"),
        (timedelta(hours=24, microseconds=1), False, "reconstructed"),
        (timedelta(hours=24, microseconds=1), True, "recorded"),
        (timedelta(days=-3), False, "recorded"),
    ],
    ids=["24 h", "a moment more", "a moment more but in order", "from the future"],
)
def test_a_receipt_more_than_a_day_late_is_reconstructed_unless_in_order(
    late_by, is_in_order, expected
):
    body = {"kind": "done", "occurred_at": (NOON - late_by).isoformat()}

    statement = read(body)
    statement = in_order(statement) if is_in_order else statement

    assert statement.level == expected
    assert suffers_lateness(statement) is (expected == "reconstructed")


def test_the_key_digest_leaves_out_the_version_and_keeps_all_else():
    base = key_digest("oban", "prod-1", "r", (("n", "4"),))

    assert len(base or "") == 64
    assert (
        make(0, "done", key=key(n=4)).key_digest
        == make(1, "done", key={**key(n=4), "version": "2"}).key_digest
    )
    assert base != key_digest("oban", "prod-2", "r", (("n", "4"),))
    assert base != key_digest("oban", "prod-1", "s", (("n", "4"),))
    assert base != key_digest("oban", "prod-1", "r", (("m", "4"),))
    assert base != key_digest("oban", "prod-1", "r", (("n", '"4"'),))
    assert key_digest("oban", "prod-1", "r", ()) is None


def test_the_key_digest_does_not_depend_on_the_order_of_the_fields():
    one = make(0, "done", key=key(a=1, b={"x": 1, "y": [2]}))
    other = make(1, "done", key=key(b={"y": [2], "x": 1}, a=1))

    assert one.key_digest == other.key_digest


def test_long_key_values_that_differ_at_their_end_are_different_keys():
    one, other = (make(0, "done", key=key(a="x" * 9000 + end)) for end in "12")

    assert one.key_digest != other.key_digest
    assert len(one.key_fields[0][1]) < 5000


IDS = {
    "v5": ("8EE956D2-4597-5FCF-8C6B-5F5F5C5BAC16", "8ee956d2-4597-5fcf-8c6b-5f5f5c5bac16"),
    "urn": (
        "urn:uuid:8ee956d2-4597-5FCF-8c6b-5f5f5c5bac16",
        "8ee956d2-4597-5fcf-8c6b-5f5f5c5bac16",
    ),
    "ulid": ("01arz3ndektsv4rrffq69g5fav", "01ARZ3NDEKTSV4RRFFQ69G5FAV"),
    "bare hex": ("8EE956D245975FCF8C6B5F5F5C5BAC16", "8EE956D245975FCF8C6B5F5F5C5BAC16"),
    "any text": ("Order 7", "Order 7"),
}


@pytest.mark.parametrize(("text", "expected"), IDS.values(), ids=IDS)
def test_an_id_is_matched_in_its_normal_form(text, expected):
    one = read({"kind": "done", "id": text})

    assert (one.id_text, one.id_key, normal_id(text)) == (text, expected, expected)


def test_an_id_restamped_with_another_version_has_the_same_mask():
    assert masked_id("8ee956d2-4597-5fcf-8c6b-5f5f5c5bac16") == masked_id(
        "8ee956d2-4597-4fcf-8c6b-5f5f5c5bac16"
    )
    assert masked_id("8ee956d2-4597-5fcf-8c6b-5f5f5c5bac16") != masked_id(
        "8ee956d2-4597-5fcf-9c6b-5f5f5c5bac16"
    )
    assert masked_id("order 7") is None


def test_the_done_id_of_a_start_is_its_v5_name():
    token = bytes.fromhex("8ee956d245975fcf8c6b5f5f5c5bac16")
    digest = bytearray(hashlib.sha1(token + b"done", usedforsecurity=False).digest()[:16])
    digest[6] = 0x50 | digest[6] & 0x0F
    digest[8] = 0x80 | digest[8] & 0x3F

    assert done_id("8ee956d2-4597-5fcf-8c6b-5f5f5c5bac16") == str(uuid.UUID(bytes=bytes(digest)))
    assert done_id("order 7") is None


def test_a_receipt_without_an_id_gets_the_one_the_ledger_gave_it():
    one = read({"kind": "done"}, minted=True, id_default="0192f0c4-0000-7000-8000-000000000000")

    assert one.id_key == "0192f0c4-0000-7000-8000-000000000000"
    assert one.minted


def test_subjects_are_kept_once_and_only_when_well_formed():
    subjects = [
        {"type": "payout", "id": "1"},
        {"type": "payout", "id": 1},
        {"type": "PO", "id": "2"},
    ]

    one = read({"kind": "done", "subjects": [*subjects, {"type": "payout"}, None, "payout"]})

    assert one.subjects == (("payout", "1"),)


def test_at_most_sixteen_subjects_are_read():
    many = [{"type": "payout", "id": str(number)} for number in range(40)]

    assert len(read({"kind": "done", "subjects": many}).subjects) == 16


@pytest.mark.parametrize(
    ("jobs", "expected"),
    [
        (["1", "2"], 2),
        ({"count": 0}, 0),
        ({"count": 3, "ids": ["1"]}, 3),
        ({"ids": ["1"]}, 1),
        ([], 0),
        ("many", None),
        ({}, None),
    ],
    ids=[
        "listed",
        "none",
        "counted",
        "listed by id",
        "an empty list",
        "nonsense",
        "an empty object",
    ],
)
def test_how_many_jobs_a_cancel_swept_is_read(jobs, expected):
    assert read({"kind": "cancel", "jobs": jobs}).swept == expected


def test_a_cancel_that_does_not_count_swept_nobody_knows_how_many():
    assert read({"kind": "cancel"}).swept is None


def test_a_row_is_an_observation_of_a_job_by_a_reader_of_its_table():
    body = {"kind": "observe", "job": {"id": "1"}}

    assert read({**body, "source": {"via": "row"}}).is_row
    assert not read(body).is_row
    assert not read({"kind": "observe", "source": {"via": "row"}}).is_row


def test_names_too_long_for_a_column_stay_distinct():
    one, other = (read({"kind": "done", "job": {"task": "x" * 999 + end}}) for end in "12")

    assert one.task != other.task
    assert len(one.task) <= 255


def test_nul_and_lone_surrogates_never_reach_a_column():
    one = read({"kind": "skip", "id": "a\0b", "reason": "\ud800", "rule": {"text": "\0\ud800"}})

    for text in (one.id_text, one.id_key, one.reason, one.rule.text):
        assert text.encode("utf-8")
        assert "\0" not in text


UNHURRIED = settings(deadline=None)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["skip", "row", "101", "2026-10-05T09:00:30Z", "already_done"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.text(max_size=3)
            | st.sampled_from(
                ["id", "job", "source", "receipt", "fields", "system", "name", "actor"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)
MEMBERS = sorted({*CONTRACT_EXAMPLE, "act", "jobs", "what", "loop"})


@UNHURRIED
@given(body=st.dictionaries(st.sampled_from(MEMBERS), JSON, max_size=8))
def test_no_json_whatever_is_too_odd_to_read(body):
    one = read(body, state="quarantined")

    assert one.leaf == 41
    assert one.happened_at.tzinfo is not None


@UNHURRIED
@given(body=JSON)
def test_what_is_no_object_reads_as_an_empty_receipt(body):
    one = read(body, state="quarantined")

    assert one.received_at == NOON


def test_nesting_as_deep_as_a_body_allows_is_read():
    deep: Any = 1
    for _ in range(5000):
        deep = [deep]
    body = {"kind": "skip", "key": {"fields": {"a": deep}}, "condition": {"inputs": deep}}

    assert read(body).key_digest is not None


def test_integers_beyond_what_python_writes_are_read():
    body = {"kind": "skip", "job": {"id": 10**5000, "attempt": 10**5000}, "key": key(n=10**5000)}

    one = read(body)

    assert one.attempt is None
    assert one.job is not None
