"""What the handler of docs/how-to/oban.md wrote when it was run, against our own mapping."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jobs.domain import oban_unique
from jobs.domain.oban import event_receipt
from ledger.domain import reading

DATA = Path(__file__).parents[2] / "data" / "oban_telemetry.ndjson"
WRITTEN = [json.loads(line) for line in DATA.read_text().splitlines()]
INSERT = "oban.insert_job.stop"
UNIQUE = {
    "fields": ["args", "worker"],
    "keys": ["account"],
    "period": 300,
    "timestamp": "scheduled_at",
    "states": list(oban_unique.GROUPS["successful"]),
}
WHOLE = {**UNIQUE, "fields": ["args", "meta"], "keys": [], "period": "infinity",
         "states": ["available"]}  # fmt: skip
MAIL = {"worker": "MyApp.Mailer", "queue": "mail", "meta": {},
        "args": {"account": 9, "blob": {"t2b64": "AAA="}}}  # fmt: skip
POINT = {"scope": "exec_a1", "invoke_id": "resolve", "macrostep": 4}
CALL = {**POINT, "state_index": 3, "invoke_index": 0, "handler": "Elixir.Acme.ResolveHandler",
        "type": "acme:resolve", "params": {"t2b64": "AAAA"}}  # fmt: skip
INVOKE = {"worker": "StatifierOban.Invoke.Worker", "queue": "invokes", "args": CALL}
CHILD = {**INVOKE, "worker": "StatifierOban.Invoke.ChildStartWorker", "args": {**CALL, "index": 1}}
NUDGE = {"scope": "exec_a1", "ordinal": 7, "send_id": "nudge"}
TIMER = {"worker": "StatifierOban.Timer.Worker", "queue": "timers", "args": NUDGE}


def insert(asked: dict[str, Any], number: int | None, state: str | None = None) -> dict[str, Any]:
    """Give an insert of which `state` is that of the job it conflicts with; None without one."""
    is_conflict = state is not None or number is None
    return {"event": INSERT, **asked, "conflict": is_conflict, "job_id": number,
            "state": state or "available"}  # fmt: skip


EVENTS: list[dict[str, Any]] = [
    insert({**MAIL, "unique": UNIQUE}, 7),
    insert({**MAIL, "unique": UNIQUE}, 7, "executing"),
    insert({**MAIL, "unique": UNIQUE}, 7, "completed"),
    insert({**MAIL, "unique": UNIQUE}, None),
    insert({**MAIL, "unique": WHOLE}, 8),
    insert(MAIL, 9),
    insert(INVOKE, 101),
    insert(INVOKE, 101, "executing"),
    insert({**INVOKE, "unique": {"keys": ["scope", "invoke_id"]}}, 102, "completed"),
    insert(CHILD, 121, "available"),
    insert(TIMER, 113, "scheduled"),
    {**insert(MAIL, 11), "event": "oban.insert_all_jobs.stop"},
    {**insert(INVOKE, 12), "event": "oban.insert_all_jobs.stop"},
    {"event": "oban.plugin.stop", "pruned": [97, 98]},
    {"event": "oban.plugin.stop", "rescued": [5]},
    {"event": "oban.plugin.stop", "discarded": [6]},
    {"event": "invoke.delivered", **POINT, "job_id": 101},
    {"event": "invoke.discarded", **POINT, "job_id": 101, "reason": ":terminated"},
    {"event": "invoke.failed", **POINT, "job_id": 101, "reason": ":run_failed"},
    {"event": "invoke.cancelled", "scope": "exec_a1", "invoke_id": "resolve", "count": 2},
    *({"event": f"invoke.{what}", **POINT, "job_id": 124}
      for what in ("enqueue_rejected", "fan_out", "child_started", "unstarted_cancelled",
                   "deferred")),
    {"event": "timer.fired", **NUDGE, "job_id": 113},
    {"event": "timer.discarded", **NUDGE, "job_id": 113},
    {"event": "timer.cancelled", "scope": "exec_a1", "send_id": "nudge", "count": 0},
    {"event": "timer.schedule_rejected", "scope": None, "reason": ":invalid_scope"},
    insert(MAIL, 14),
]  # fmt: skip


@pytest.mark.parametrize(("event", "line"), list(zip(EVENTS, WRITTEN, strict=False)))
def test_the_handler_writes_the_receipt_of_the_event(
    event: dict[str, Any], line: dict[str, Any]
) -> None:
    receipt = event_receipt(event, instance="prod-1")

    if "key" not in line:
        # The ledger adds the key of a call or a timer itself.
        receipt.pop("key", None)
    assert line == receipt


def test_all_that_the_handler_wrote_is_accepted() -> None:
    states = {reading.read(json.dumps(one).encode()).state for one in WRITTEN}

    assert states == {"accepted"}
    assert len(WRITTEN) == len(EVENTS) + 1


def test_the_handler_counts_what_it_dropped() -> None:
    feed = WRITTEN[-1]

    assert (feed["what"], feed["written"], feed["dropped"]) == ("feed", len(EVENTS), 1)
