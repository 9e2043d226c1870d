from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.domain import fixture, oban, oban_values
from jobs.domain.oban import row_line, row_receipt
from ledger.domain import canonical, reading

NOON = datetime(2026, 10, 5, 12, tzinfo=UTC)
DATA = Path(__file__).parents[2] / "data" / "oban_fixture.json"
HISTORY = fixture.merge_defaults(json.loads(DATA.read_text()))
ROWS = {row["id"]: row for row in HISTORY.rows}


def receipt_of(row: Mapping[str, Any], **other: Any) -> dict[str, Any]:
    return row_receipt({**row, **other}, instance="prod-1", seen_at=NOON)


def mail(**columns: Any) -> dict[str, Any]:
    """Give the row of an ordinary job."""
    return {
        "id": 7,
        "worker": "MyApp.Mailer",
        "queue": "mail",
        "state": "completed",
        "args": {"account": 9},
        "attempt": 1,
        "max_attempts": 20,
        "inserted_at": "2026-10-05T09:00:00Z",
        "completed_at": "2026-10-05T09:00:03Z",
        **columns,
    }


def test_an_ordinary_row_says_what_its_columns_say() -> None:
    receipt = receipt_of(mail(priority=3, tags=["a"], meta=None, attempted_by=["web@1", "x"]))

    assert receipt.pop("id")
    assert receipt == {
        "schema": "counterfoil.receipt/1",
        "kind": "observe",
        "what": "row",
        "occurred_at": "2026-10-05T09:00:03.000000Z",
        "source": {"system": "oban", "instance": "prod-1", "via": "row"},
        "job": {
            "id": "7",
            "task": "MyApp.Mailer",
            "queue": "mail",
            "state": "completed",
            "attempt": 1,
            "max_attempts": 20,
            "inserted_at": "2026-10-05T09:00:00.000000Z",
            "completed_at": "2026-10-05T09:00:03.000000Z",
            "node": "web@1",
        },
        "data": {
            "row": {
                "args": {"account": 9},
                "tags": ["a"],
                "priority": 3,
                "attempted_by": ["web@1", "x"],
            }
        },
    }


def test_an_invoke_row_names_its_call_and_its_key() -> None:
    receipt = receipt_of(ROWS[101])

    assert receipt["invoke"] == {
        "scope": "exec_a1",
        "id": "resolve",
        "generation": "4",
        "element": [3, 0],
        "handler": "Elixir.Acme.ResolveHandler",
        "type": "acme:resolve",
    }
    assert receipt["key"] == {
        "recipe": "statifier.invoke",
        "version": "2",
        "fields": {"scope": "exec_a1", "invoke_id": "resolve", "macrostep": 4},
    }


def test_a_child_start_has_its_index_in_call_and_key() -> None:
    receipt = receipt_of(ROWS[122])

    assert receipt["invoke"]["index"] == 1
    assert receipt["key"]["recipe"] == "statifier.child"
    assert receipt["key"]["fields"]["index"] == 1


def test_a_timer_row_is_known_by_its_ordinal() -> None:
    receipt = receipt_of(ROWS[113])

    assert receipt["timer"] == {"scope": "exec_a1", "ordinal": "7", "send_id": "nudge"}
    assert receipt["key"] == {
        "recipe": "statifier.timer",
        "version": "1",
        "fields": {"scope": "exec_a1", "ordinal": 7},
    }
    assert "invoke" not in receipt


@pytest.mark.parametrize(
    ("row", "expected"), [(115, "cancel_discarded"), (123, "cancel"), (122, "other"), (101, None)]
)
def test_the_last_error_tells_how_an_attempt_ended(row: int, expected: str | None) -> None:
    assert receipt_of(ROWS[row])["job"].get("last_error") == expected


def test_both_forms_of_a_snooze_can_be_told_from_a_first_attempt() -> None:
    given_back, grown = receipt_of(ROWS[116])["job"], receipt_of(ROWS[117])["job"]

    assert (given_back["attempt"], given_back["snoozed"]) == (0, 2)
    assert (grown["attempt"], grown["max_attempts"]) == (2, 22)
    assert "snoozed" not in grown


@pytest.mark.parametrize("state", ["scheduled", "retryable", "cancelled"])
def test_the_due_time_of_a_job_is_not_when_it_happened(state: str) -> None:
    waiting = mail(state=state, scheduled_at="2026-10-05T10:00:00Z", completed_at=None)

    assert receipt_of(waiting)["occurred_at"] == "2026-10-05T09:00:00.000000Z"


def test_a_retried_job_happened_when_it_was_made_due() -> None:
    retried = mail(state="available", scheduled_at="2026-10-05T11:00:00Z", completed_at=None)

    assert receipt_of(retried)["occurred_at"] == "2026-10-05T11:00:00.000000Z"


def test_times_that_have_not_come_are_not_when_it_happened() -> None:
    ahead = mail(completed_at="2030-01-01T00:00:00Z")

    assert receipt_of(ahead)["occurred_at"] == "2026-10-05T09:00:00.000000Z"


def test_a_clock_that_is_a_little_ahead_is_believed() -> None:
    ahead = mail(completed_at=(NOON + timedelta(seconds=2)).replace(tzinfo=None))

    assert receipt_of(ahead)["occurred_at"] == "2026-10-05T12:00:02.000000Z"


def test_a_row_without_a_readable_time_does_not_say_when() -> None:
    assert "occurred_at" not in receipt_of({"id": 1, "state": "available", "inserted_at": "later"})


def test_the_same_row_is_the_same_receipt_whoever_reads_it_when() -> None:
    first = row_line(mail(), instance="prod-1", seen_at=NOON)
    later = row_line(mail(), instance="prod-1", seen_at=NOON + timedelta(days=1))

    assert first == later
    assert uuid.UUID(json.loads(first)["id"]).version == 5


@pytest.mark.parametrize(
    "change",
    [{"state": "available"}, {"attempt": 2}, {"args": {"account": 8}}, {"queue": "slow"},
     {"errors": [{"error": "x"}]}, {"meta": {"snoozed": 1}}, {"tags": ["new"]}, {"id": 8}],
)  # fmt: skip
def test_any_change_of_a_row_is_another_receipt(change: dict[str, Any]) -> None:
    assert receipt_of(mail(), **change)["id"] != receipt_of(mail())["id"]


def test_the_id_is_one_that_was_given_before() -> None:
    assert receipt_of(mail())["id"] == "f538f54f-9541-56db-ab63-3b4aa514ebc9"


def test_the_line_is_the_receipt_as_json() -> None:
    line = row_line(ROWS[103], instance="prod-1", seen_at=NOON)

    assert json.loads(line) == receipt_of(ROWS[103])


@pytest.mark.parametrize("row", HISTORY.rows, ids=[str(row["id"]) for row in HISTORY.rows])
def test_every_row_of_the_fixture_is_a_receipt_that_is_accepted(row: Mapping[str, Any]) -> None:
    read = reading.read(row_line(row, instance="prod-1", seen_at=NOON))

    assert (read.state, read.faults, read.notes) == ("accepted", (), ())


def test_opaque_values_are_kept_as_their_size_and_codec() -> None:
    params = {"t2b64": "g3QAAAABbQAAAAVpdGVtc20AAAAFbGluZXM=", "codec": "Elixir.Acme.Vault"}
    args = {"scope": "s", "params": params, "list": [{"t2b64": "AAAA"}], "odd": {"t2b64": 7}}

    kept = receipt_of(mail(args=args))["data"]["row"]["args"]

    assert kept["params"] == {"opaque": {"bytes": 26, "codec": "Elixir.Acme.Vault"}}
    assert kept["list"] == [{"opaque": {"bytes": 3}}]
    assert kept["odd"] == {"opaque": {"bytes": 0}}
    assert "t2b64" not in json.dumps(kept)


def test_other_opaque_bytes_of_the_same_size_are_the_same_receipt() -> None:
    one, other = ({"params": {"t2b64": text}} for text in ("AAAA", "BBBB"))

    assert receipt_of(mail(args=one))["id"] == receipt_of(mail(args=other))["id"]


@pytest.mark.parametrize("args", [[1, 2], 5, None, "text", True, {}])
def test_arguments_of_any_shape_are_kept(args: Any) -> None:
    row = receipt_of(ROWS[101], args=args)

    assert row["data"]["row"].get("args") == args
    assert "invoke" not in row


def test_a_statifier_row_without_a_readable_scope_has_no_call() -> None:
    assert "invoke" not in receipt_of(ROWS[101], args={"scope": 5, "invoke_id": "a"})
    assert "timer" not in receipt_of(ROWS[113], args={"scope": "", "ordinal": 1})


def test_a_call_without_a_whole_generation_has_no_key() -> None:
    receipt = receipt_of(ROWS[101], args={"scope": "s", "invoke_id": "a", "macrostep": 1.5})

    assert receipt["invoke"]["generation"] == "1.5"
    assert "key" not in receipt


def test_numbers_of_arguments_are_kept_as_they_were_written() -> None:
    args = oban_values.read_json('{"big": 1e400, "exact": 12345678901234567890.10}')

    line = row_line(mail(args=args), instance="prod-1", seen_at=NOON)

    assert b'"big":1e400,"exact":12345678901234567890.10' in line


def test_escaped_nul_in_arguments_is_kept() -> None:
    args = oban_values.read_json('{"a": "x\\u0000y"}')

    line = row_line(mail(args=args), instance="prod-1", seen_at=NOON)

    assert json.loads(line)["data"]["row"]["args"] == {"a": "x\0y"}
    assert reading.read(line).state == "accepted"


def test_arguments_nested_too_deeply_are_kept_as_their_size() -> None:
    text = "[" * 300 + "]" * 300

    assert oban_values.read_json(text) == {"cut": {"bytes": 600, "because": "depth"}}


def test_of_long_arguments_the_short_members_are_kept() -> None:
    text = json.dumps({"scope": "s", "blob": "x" * 100_000})

    kept = oban_values.read_json(text)

    assert kept["scope"] == "s"
    assert kept["cut"]["bytes"] == len(text)
    assert "blob" not in kept


def test_a_long_list_is_kept_as_its_size() -> None:
    assert list(oban_values.read_json(json.dumps(["x" * 70_000]))) == ["cut"]


def test_long_opaque_arguments_leave_the_rest_whole() -> None:
    text = json.dumps({"scope": "s", "list": ["y" * 2_000], "params": {"t2b64": "A" * 100_000}})

    kept = oban_values.read_json(text)

    assert kept == {"scope": "s", "list": ["y" * 2_000], "params": {"opaque": {"bytes": 75_000}}}


def test_of_many_long_errors_the_newest_are_kept_and_all_are_counted() -> None:
    errors = [{"attempt": n, "error": "é" * 5_000} for n in range(30)]

    receipt = receipt_of(mail(errors=errors))

    kept = receipt["data"]["row"]["errors"]
    assert receipt["job"]["errors"] == 30
    assert [one["attempt"] for one in kept] == list(range(10, 30))
    assert len(kept[-1]["error"]) == oban_values.ERROR_LENGTH + 1


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=20,
)  # fmt: skip
columns = st.sampled_from(
    ["id", "worker", "queue", "state", "args", "errors", "meta", "tags", "attempt", "inserted_at",
     "scheduled_at", "attempted_by", "priority"]
)  # fmt: skip


@given(st.dictionaries(columns, json_values))
def test_no_row_is_beyond_us(row: dict[str, Any]) -> None:
    line = row_line(row, instance="prod-1", seen_at=NOON)

    assert canonical.parse(line)
    assert reading.read(line).receipt_id is not None


def test_the_receipt_of_pruned_jobs_counts_and_names_them() -> None:
    gone = [(97, "completed"), (99, "executing")]

    receipt = oban.prune_receipt(
        gone, instance="prod-1", since=NOON - timedelta(seconds=5), seen_at=NOON
    )

    assert receipt["kind"] == "prune"
    assert receipt["jobs"] == {"count": 2, "ids": ["97", "99"]}
    assert receipt["data"]["states_before"] == {"97": "completed", "99": "executing"}
    assert receipt["data"]["last_round_at"] == "2026-10-05T11:59:55.000000Z"
    assert reading.read(canonical.canonical_text(receipt, ())).state == "accepted"


def test_defaults_go_under_rows_and_what_is_expected_is_left_out() -> None:
    timer, child = ROWS[113], ROWS[121]

    assert timer["queue"] == "statifier_timers" and timer["args"]["round"] == 1
    assert "handler" not in timer["args"]
    assert child["args"]["handler"] == "Elixir.Acme.ResolveHandler"
    assert child["attempted_by"] == fixture.NODE and timer["attempted_by"] is None
    assert all("expect" not in one for one in (*HISTORY.rows, *HISTORY.receipts))
    assert datetime(2026, 10, 5, 12, tzinfo=UTC) == HISTORY.now
