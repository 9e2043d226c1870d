"""The fixture's form of a history: rows and telemetry whose shared values are written once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from jobs.domain.oban_statifier import TIMER
from jobs.domain.oban_values import moment_of, text_of
from ledger.domain import plain

NODE = ["app@fixture", "00000000-0000-4000-8000-000000000000"]
_TIMES = (
    "inserted_at", "scheduled_at", "attempted_at", "completed_at", "cancelled_at", "discarded_at",
)  # fmt: skip

Members = Mapping[str, Any]


class BadHistory(ValueError):
    """The history cannot be read; send {"now", "rows": […], "receipts": […]}."""


@dataclass(frozen=True, slots=True)
class History:
    """Rows as a table would give them, and telemetry events by their names (`r`), in order."""

    now: datetime
    rows: tuple[Members, ...]
    receipts: tuple[Members, ...]


def merge_defaults(document: object) -> History:
    """Read a history, the document's defaults put under its rows; times may be in seconds.

    What it says of expected answers is left out. Rows that were attempted get a node where they
    name none, since Oban writes both together. Raises BadHistory, which says where.
    """
    if not isinstance(document, Mapping):
        raise BadHistory(BadHistory.__doc__)
    defaults = _object(document, "row_defaults")
    queues = _object(document, "queue_by_worker")
    args = _object(document, "args_defaults")
    return History(
        now=_now(document.get("now")),
        rows=tuple(
            _row(where, one, defaults, queues, args) for where, one in _objects(document, "rows")
        ),
        receipts=_receipts(document),
    )


def _row(where: str, row: Members, defaults: Members, queues: Members, args: Members) -> Members:
    if text_of(row.get("id")) is None:
        raise BadHistory(f"{where}.id: send the job's number")
    worker = row.get("worker")
    own = {"queue": queues[worker]} if isinstance(worker, str) and worker in queues else {}
    under = plain.object_of(args.get("timer" if worker == TIMER else "invoke"))
    merged = {**defaults, **own, **_without_expect(row)}
    merged["args"] = {**under, **plain.object_of(row.get("args"))}
    merged |= {name: _time(f"{where}.{name}", merged.get(name)) for name in _TIMES}
    if merged["attempted_at"] and not merged.get("attempted_by"):
        merged["attempted_by"] = NODE
    return merged


def _receipts(document: Members) -> tuple[Members, ...]:
    found: dict[str, Members] = {}
    for place, (where, one) in enumerate(_objects(document, "receipts")):
        given = one.get("r")
        name = plain.printable(str(place) if given is None else text_of(given) or "")
        if not name or name in found:
            raise BadHistory(f"{where}.r: send a name that no other receipt has")
        at = _time(f"{where}.at", one.get("at"))
        found[name] = {**_without_expect(one), "r": name, "at": at}
    return tuple(found.values())


def _now(given: object) -> datetime:
    at = plain.time_of(_time("now", given))
    if at is None:
        raise BadHistory("now: send the history's clock, as RFC 3339 or in seconds")
    return at


def _time(where: str, given: object) -> str | None:
    """Read a time, given as text or in seconds; one without a zone is in UTC, as Oban's are."""
    if given is None:
        return None
    try:
        if isinstance(given, int | float) and not isinstance(given, bool):
            given = datetime.fromtimestamp(given, UTC)
        found = moment_of(given)
    except (ValueError, OverflowError, OSError):
        found = None
    if plain.time_of(found) is None:
        raise BadHistory(f"{where}: send a time, as RFC 3339 or in seconds")
    return found


def _without_expect(one: Members) -> dict[str, Any]:
    return {name: value for name, value in one.items() if name != "expect"}


def _object(document: Members, name: str) -> Members:
    given = document.get(name)
    if given is not None and not isinstance(given, Mapping):
        raise BadHistory(f"{name}: send an object")
    return plain.object_of(given)


def _objects(document: Members, name: str) -> Iterator[tuple[str, Members]]:
    given = document.get(name)
    if given is not None and not isinstance(given, list | tuple):
        raise BadHistory(f"{name}: send a list")
    for place, one in enumerate(given or ()):
        if not isinstance(one, Mapping):
            raise BadHistory(f"{name}[{place}]: send an object")
        yield f"{name}[{place}]", one
