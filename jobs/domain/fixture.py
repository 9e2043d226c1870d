"""The fixture's form of a history: rows and telemetry whose shared values are written once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jobs.domain.oban_statifier import TIMER
from ledger.domain import plain

NODE = ["app@fixture", "00000000-0000-4000-8000-000000000000"]

Members = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class History:
    """Rows as a table would give them, and telemetry events by their names (`r`), in order."""

    now: str
    rows: tuple[Members, ...]
    receipts: tuple[Members, ...]


def merge_defaults(document: Members) -> History:
    """Put the document's defaults under its rows; what it says of expected answers is left out.

    Rows that were attempted get a node where they name none, since Oban writes both together.
    """
    defaults = plain.object_of(document.get("row_defaults"))
    queues = plain.object_of(document.get("queue_by_worker"))
    args = plain.object_of(document.get("args_defaults"))
    return History(
        now=str(document.get("now", "")),
        rows=tuple(_row(one, defaults, queues, args) for one in _objects(document.get("rows"))),
        receipts=tuple(_without_expect(one) for one in _objects(document.get("receipts"))),
    )


def _row(row: Members, defaults: Members, queues: Members, args: Members) -> Members:
    worker = row.get("worker")
    own = {"queue": queues[worker]} if isinstance(worker, str) and worker in queues else {}
    under = plain.object_of(args.get("timer" if worker == TIMER else "invoke"))
    merged = {**defaults, **own, **_without_expect(row)}
    merged["args"] = {**under, **plain.object_of(row.get("args"))}
    if merged.get("attempted_at") and not merged.get("attempted_by"):
        merged["attempted_by"] = NODE
    return merged


def _without_expect(one: Members) -> Members:
    return {name: value for name, value in one.items() if name != "expect"}


def _objects(value: object) -> list[Members]:
    return [one for one in plain.list_of(value) if isinstance(one, Mapping)]
