from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.domain import fixture, oban_unique
from jobs.domain.oban import event_receipt
from ledger.domain import canonical, members, reading

DATA = Path(__file__).parents[2] / "data" / "oban_fixture.json"
HISTORY = fixture.merge_defaults(json.loads(DATA.read_text()))
EVENTS = {event["r"]: event for event in HISTORY.receipts}
UNIQUE = {
    "fields": ["args", "worker"],
    "keys": ["account"],
    "period": 300,
    "states": "successful",
    "timestamp": "scheduled_at",
}


def told(event: Mapping[str, Any], **other: Any) -> dict[str, Any]:
    return event_receipt({**event, **other}, instance="prod-1")


def insert(**members: Any) -> dict[str, Any]:
    """Give Oban's own event of an ordinary insert."""
    return {
        "event": "oban.insert_job.stop",
        "at": "2026-10-05T09:00:00Z",
        "worker": "MyApp.Mailer",
        "queue": "mail",
        "args": {"account": 9, "trace": "t-1"},
        "meta": {},
        "unique": UNIQUE,
        "conflict": False,
        "job_id": 7,
        "state": "available",
        **members,
    }


def test_a_stored_insert_is_an_enqueue_of_that_job() -> None:
    receipt = told(EVENTS["r01"])

    assert receipt == {
        "schema": "counterfoil.receipt/1",
        "kind": "enqueue",
        "occurred_at": "2026-10-05T09:00:00.000000Z",
        "source": {"system": "oban", "instance": "prod-1", "via": "telemetry"},
        "job": {"id": "101", "task": "StatifierOban.Invoke.Worker"},
        "invoke": {"scope": "exec_a1", "id": "resolve", "generation": "4"},
        "key": {
            "recipe": "statifier.invoke",
            "version": "2",
            "fields": {"scope": "exec_a1", "invoke_id": "resolve", "macrostep": 4},
        },
        "data": {"event": "invoke.enqueued"},
    }


def test_a_conflict_is_a_skip_that_points_to_the_stored_job() -> None:
    receipt = told(EVENTS["r02"])

    assert receipt["kind"] == "skip"
    assert receipt["original"] == {"job": "101"}
    assert receipt["job"] == {"task": "StatifierOban.Invoke.Worker"}


def test_a_lost_lock_states_that_there_is_no_original() -> None:
    receipt = told(EVENTS["r14"])

    assert receipt["original"] is None
    assert receipt["reason"] == "lock_contended"


@pytest.mark.parametrize(
    ("state", "reason"),
    [("completed", "already_done"), ("cancelled", "already_done"), ("discarded", "already_done"),
     ("executing", "in_flight"), ("scheduled", "in_flight"), (None, "unknown")],
)  # fmt: skip
def test_the_reason_of_a_skip_follows_the_state_of_the_original(
    state: str | None, reason: str
) -> None:
    receipt = told(insert(conflict=True, state=state))

    assert receipt["reason"] == reason
    assert receipt.get("original_state") == state


def test_a_conflict_of_a_timer_carries_its_ordinal() -> None:
    receipt = told(EVENTS["r03"])

    assert receipt["job"] == {"task": "StatifierOban.Timer.Worker"}
    assert receipt["timer"] == {"scope": "exec_a1", "ordinal": "7", "send_id": "nudge"}


def test_only_oban_itself_tells_the_element_of_an_attempt() -> None:
    assert told(EVENTS["r09"])["invoke"]["element"] == [7, 0]
    assert "element" not in told(EVENTS["r02"])["invoke"]


def test_a_child_start_is_known_by_its_index() -> None:
    receipt = told(EVENTS["r12"])

    assert receipt["job"]["task"] == "StatifierOban.Invoke.ChildStartWorker"
    assert receipt["key"]["fields"]["index"] == 0


@pytest.mark.parametrize("era", [{"key_era": "0.1"}, {"unique": {"keys": ["scope", "invoke_id"]}}])
def test_an_old_key_left_the_generation_out(era: dict[str, Any]) -> None:
    receipt = told({**EVENTS["r02"], **era})

    assert receipt["key"] == {
        "recipe": "statifier.invoke",
        "version": "1",
        "fields": {"scope": "exec_a1", "invoke_id": "resolve"},
        "ignored": {"macrostep": 4},
    }
    assert receipt["invoke"]["generation"] == "4"


def test_the_arguments_of_a_statifier_insert_name_its_call() -> None:
    args = {"scope": "s", "invoke_id": "a", "macrostep": 2, "state_index": 1, "invoke_index": 0,
            "handler": "Elixir.H", "params": {"t2b64": "AAAA"}}  # fmt: skip

    receipt = told(insert(worker="StatifierOban.Invoke.Worker", args=args, unique={}))

    assert receipt["invoke"] == {
        "scope": "s", "id": "a", "generation": "2", "element": [1, 0], "handler": "Elixir.H",
    }  # fmt: skip


def test_a_cancel_counts_and_names_what_it_reached() -> None:
    assert told(EVENTS["r06"])["jobs"] == {"count": 2, "ids": ["107", "109"]}
    assert told(EVENTS["r07"])["jobs"] == {"count": 0, "ids": []}
    assert told(EVENTS["r06"])["kind"] == "cancel"


@pytest.mark.parametrize(
    ("event", "kind"),
    [("invoke.delivered", "deliver"), ("timer.fired", "deliver"), ("invoke.failed", "fail"),
     ("invoke.discarded", "discard"), ("timer.discarded", "discard")],
)  # fmt: skip
def test_what_became_of_one_job_names_it(event: str, kind: str) -> None:
    receipt = told({"event": event, "scope": "s", "job_id": 5, "reason": "terminated"})

    assert (receipt["kind"], receipt["job"]["id"]) == (kind, "5")
    assert receipt["data"] == {"event": event, "reason": "terminated"}


@pytest.mark.parametrize(
    "what",
    ["deferred", "fan_out", "child_started", "unstarted_cancelled", "enqueue_rejected"],
)
def test_what_decides_nothing_is_observed(what: str) -> None:
    receipt = told({"event": f"invoke.{what}", "scope": "s", "invoke_id": "a", "job_id": 124})

    assert (receipt["kind"], receipt["what"]) == ("observe", what)
    assert receipt["job"]["id"] == "124"


@pytest.mark.parametrize(
    ("listed", "kind"), [("pruned", "prune"), ("rescued", "rescue"), ("discarded", "discard")]
)
def test_a_plugin_names_the_jobs_that_it_took(listed: str, kind: str) -> None:
    receipt = told({"event": "oban.plugin.stop", listed: [97, 98]})

    assert (receipt["kind"], receipt["jobs"]) == (kind, {"count": 2, "ids": ["97", "98"]})


def test_a_key_picks_what_unique_compared_and_lists_the_rest() -> None:
    assert told(insert())["key"] == {
        "recipe": "oban.unique",
        "fields": {"worker": "MyApp.Mailer", "args.account": 9},
        "ignored": {"queue": "mail", "args.trace": "t-1"},
        "window_s": 300,
        "states": list(oban_unique.GROUPS["successful"]),
        "timestamp": "scheduled_at",
    }


def test_without_keys_whole_maps_are_compared() -> None:
    unique = {"fields": ["args", "meta"], "keys": [], "period": "infinity", "states": ["available"]}

    key = told(insert(unique=unique))["key"]

    assert key["fields"] == {"args": {"account": 9, "trace": "t-1"}, "meta": {}}
    assert key["ignored"] == {"worker": "MyApp.Mailer", "queue": "mail"}
    assert key["states"] == ["available"]
    assert "window_s" not in key


def test_keys_are_looked_up_in_the_meta_as_well() -> None:
    unique = {"fields": ["meta"], "keys": ["slug"], "period": 60, "states": ["available"]}

    key = told(insert(meta={"slug": "s", "other": 1}, unique=unique))["key"]

    assert key["fields"] == {"meta.slug": "s"}
    assert key["ignored"]["meta.other"] == 1


def test_opaque_values_are_not_in_a_key() -> None:
    key = told(insert(args={"account": 9, "blob": {"t2b64": "AAAA"}}))["key"]

    assert key["ignored"]["args.blob"] == {"opaque": {"bytes": 3}}


def test_an_insert_that_asked_for_no_uniqueness_has_no_key() -> None:
    assert "key" not in told(insert(unique=None))


def test_an_insert_of_many_says_that_uniqueness_was_not_checked() -> None:
    receipt = told(insert(event="oban.insert_all_jobs.stop"))

    assert receipt["kind"] == "enqueue"
    assert receipt["job"]["id"] == "7"
    assert receipt["key"] == {"recipe": "oban.unique", "checked": False}


def test_equal_keys_have_one_digest_and_other_accounts_another() -> None:
    def digest(**other: Any) -> str:
        body = canonical.parse(canonical.canonical_text(told(insert(**other)), ()))
        return str(members.key_fields(body, "oban", "prod-1")["key_digest"])

    assert digest() == digest(conflict=True, args={"account": 9, "trace": "t-2"})
    assert digest() != digest(args={"account": 8})


def test_without_an_instance_the_token_says_where_it_is_from() -> None:
    assert event_receipt(insert())["source"] == {"system": "oban", "via": "telemetry"}


@pytest.mark.parametrize("event", HISTORY.receipts, ids=list(EVENTS))
def test_every_event_of_the_fixture_is_a_receipt_that_is_accepted(
    event: Mapping[str, Any],
) -> None:
    read = reading.read(canonical.canonical_text(told(event), ()))

    assert (read.state, read.faults, read.notes) == ("accepted", (), ())


names = st.sampled_from(
    ["event", "at", "scope", "invoke_id", "macrostep", "index", "conflict", "job_id", "state",
     "rows", "count", "pruned", "worker", "queue", "args", "meta", "unique", "ordinal"]
)  # fmt: skip
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["oban.insert_job.stop", "s", ""])
    | st.sampled_from(["invoke.cancelled", "oban.plugin.stop", "MyApp.Mailer", "timer.fired"]),
    lambda one: st.lists(one) | st.dictionaries(st.sampled_from(["keys", "fields", "a"]), one),
    max_leaves=8,
)  # fmt: skip


@given(st.dictionaries(names, values))
def test_no_event_is_beyond_us(event: dict[str, Any]) -> None:
    assert event_receipt(event)["kind"]
