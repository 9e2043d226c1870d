"""Small histories of Oban in the form of the fixture, and what they are judged to be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from jobs.domain import oban
from jobs.domain.evaluate import evaluate
from jobs.domain.facts import fact_of
from jobs.domain.state import Known
from ledger.domain.statement import Statement
from tests.unit.ledger import shelf

INVOKE = "StatifierOban.Invoke.Worker"
CHILD = "StatifierOban.Invoke.ChildStartWorker"
TIMER = "StatifierOban.Timer.Worker"
NOW = "2026-10-05T12:00:00Z"
DISCARDED = "{:cancel, {:discarded, :terminated}}"
CANCELLED = '{:cancel, {:undecodable, {:missing_field, "handler"}}}'
FAILED = "{:error, {:run_failed, :timeout}}"
_ENDS = {"completed": "completed_at", "cancelled": "cancelled_at", "discarded": "discarded_at"}
Row = dict[str, Any]
Event = dict[str, Any]


def at(clock: str) -> str:
    """Return a time of the day on which all cases play, from "09:00" or "09:00:30"."""
    return f"{shelf.DAY}T{clock}{':00' if len(clock) == 5 else ''}Z"


def row(
    number: int,
    state: str = "completed",
    clock: str = "09:00",
    end: str = "",
    error: str = "",
    *,
    ran: bool = True,
    **members: Any,
) -> Row:
    """Give a job's row: inserted at `clock`, run a second later, and ended at `end`."""
    started = at(f"{clock[:5]}:01") if ran else None
    found: Row = {
        "id": number, "worker": INVOKE, "queue": "q", "state": state, "attempt": int(ran),
        "max_attempts": 20, "inserted_at": at(clock), "scheduled_at": at(clock),
        "attempted_at": started, "errors": [], "meta": {}, "args": {},
    }  # fmt: skip
    if state in _ENDS:
        found[_ENDS[state]] = at(end or f"{clock[:5]}:02")
    if error:
        found["errors"] = [{"attempt": 1, "at": started, "error": f"** failed with {error}"}]
    return {**found, **members}


def invoke(
    number: int, step: Any = 1, state: str = "completed", clock: str = "09:00", end: str = "",
    error: str = "", *, scope: str = "x1", name: str = "pay", ran: bool = True, **args: Any,
) -> Row:  # fmt: skip
    """Give the row of one generation of a call."""
    named = {"scope": scope, "invoke_id": name, "macrostep": step, **args}
    return row(number, state, clock, end, error, ran=ran, args=named)


def child(number: int, index: int, state: str = "completed", step: Any = 1, **more: Any) -> Row:
    """Give the row that starts one item of a fan-out."""
    return {**invoke(number, step, state, "09:01", index=index, **more), "worker": CHILD}


def timer(number: int, ordinal: Any = 1, state: str = "scheduled", **more: Any) -> Row:
    """Give the row of a durable timer."""
    scope, send = more.pop("scope", "x1"), more.pop("send_id", "s")
    args = {"scope": scope, "ordinal": ordinal, "send_id": send}
    return {**row(number, state, args=args, **more), "worker": TIMER}


def event(name: str, clock: str, **members: Any) -> Event:
    """Give a telemetry event, of the call `pay` in scope `x1` unless it says otherwise."""
    return {"event": name, "at": at(clock), "scope": "x1", "invoke_id": "pay", **members}


def cancel(clock: str, count: int = 0, **members: Any) -> Event:
    """Give a cancel of the call."""
    return event("invoke.cancelled", clock, count=count, rows=members.pop("rows", []), **members)


def stored(number: int, step: Any, clock: str, **members: Any) -> Event:
    """Give an insert that was stored."""
    return event("invoke.enqueued", clock, macrostep=step, conflict=False, job_id=number, **members)


def skipped(number: int | None, step: Any, clock: str = "11:00", **members: Any) -> Event:
    """Give an insert that was declined for a job."""
    return event("invoke.enqueued", clock, macrostep=step, conflict=True, job_id=number, **members)


def pruned(clock: str, *numbers: int) -> Event:
    """Give what the pruner says that it deleted."""
    return {"event": "oban.plugin.stop", "at": at(clock), "pruned": list(numbers)}


def judged(rows: Iterable[Row], receipts: Iterable[Event] = ()) -> dict[str, str]:
    """Judge a history; rows come by their numbers, receipts by their places: r0, r1, …"""
    named = [{"r": f"r{place}", **one} for place, one in enumerate(receipts)]
    found = evaluate({"now": NOW, "rows": list(rows), "receipts": named})
    return {
        name: one["verdict"] for part in ("rows", "receipts") for name, one in found[part].items()
    }


def bodies(rows: Iterable[Row], receipts: Iterable[Event], instance: str = "prod-1") -> list[Any]:
    """Translate a history into receipts: telemetry first, then the rows."""
    seen = shelf.NOON
    told = [oban.event_receipt(one, instance=instance) for one in receipts]
    return [*told, *(oban.row_receipt(one, instance=instance, seen_at=seen) for one in rows)]


def statement(leaf: int, body: Mapping[str, Any]) -> Statement:
    """Read a receipt's body as the ledger does: what it observed stands in `data`."""
    return shelf.make(leaf, body["kind"], body={"event": body.get("data", {}).get("event"), **body})


def known_of(statements: Iterable[Statement]) -> Known:
    """Fold receipts in the order given."""
    known = Known()
    for one in statements:
        fact = fact_of(one)
        if fact is not None:
            known.take(fact)
    return known
