"""Oban's facts as receipts (contract.md section 2a): rows of its table and its telemetry."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from jobs.domain.oban_events import SCHEMA, SYSTEM, event_receipt
from jobs.domain.oban_statifier import identity_of, present
from jobs.domain.oban_values import (
    errors_of,
    moment_of,
    text_of,
    whole_of,
    without_opaque,
    words_of,
)
from ledger.domain import canonical, plain
from ledger.domain.leaf import rfc3339

__all__ = [
    "CANNOT_KNOW",
    "event_receipt",
    "feed_receipt",
    "prune_receipt",
    "row_line",
    "row_receipt",
]

NAMESPACE = uuid.UUID("5e7dbf6e-8b3c-5c3a-9a6e-2f4f0c1d7b90")
SKEW = timedelta(seconds=30)
"""How far another machine's clock may be ahead of ours."""

CANNOT_KNOW = (
    "Skips are not knowable from rows: an insert that Oban declined as a duplicate leaves no row.",
    "Of several changes to one job between two rounds, only the last state is seen.",
    "A job that was inserted and deleted between two rounds is not seen.",
    "Whether a job that is gone was pruned or deleted, and by whom, is not in the table.",
    "A cancel by a person and one that the worker returned differ only by the text of an error.",
)
"""What no reader of the table can tell, whatever it does."""

_TIMES = (
    "inserted_at", "scheduled_at", "attempted_at", "completed_at", "cancelled_at", "discarded_at",
)  # fmt: skip


def row_receipt(row: Mapping[str, Any], *, instance: str, seen_at: datetime) -> dict[str, Any]:
    """Return the receipt of one row of an Oban table, given by its columns.

    `args`, `errors` and `meta` are parsed JSON; times are texts, or datetimes in UTC. Columns that
    an older migration lacks may be absent. The id follows from all that the receipt says, so
    whoever reads the same row sends the same receipt.
    """
    content = _content(row, instance, seen_at)
    text = canonical.canonical_text(content, without=())
    return {"id": _row_id(instance, content["job"]["id"], text), **content}


def row_line(row: Mapping[str, Any], *, instance: str, seen_at: datetime) -> bytes:
    """Return the receipt of `row_receipt` as JSON, written once."""
    content = _content(row, instance, seen_at)
    text = canonical.canonical_text(content, without=())
    name = _row_id(instance, content["job"]["id"], text)
    return b'{"id":"%s",%s' % (name.encode("ascii"), text[1:])


def prune_receipt(
    gone: Sequence[tuple[int, str]],
    *,
    instance: str,
    since: datetime,
    seen_at: datetime,
) -> dict[str, Any]:
    """Return the receipt of jobs that are no longer in the table, with the state of each before.

    `since` is when the reader last went round.
    """
    ids = [str(number) for number, _ in gone]
    named = _digest(f"{rfc3339(seen_at)} {' '.join(ids)}".encode())
    return {
        "schema": SCHEMA,
        "id": str(uuid.uuid5(NAMESPACE, f"prune\n{instance}\n{named}")),
        "kind": "prune",
        "occurred_at": rfc3339(seen_at),
        "source": {"system": SYSTEM, "instance": instance, "via": "row"},
        "jobs": {"count": len(ids), "ids": ids},
        "data": {
            "because": "absent",
            "last_round_at": rfc3339(since),
            "states_before": {str(number): state for number, state in gone},
        },
    }


def feed_receipt(
    spool: str, written: int, at: datetime, *, instance: str, is_closed: bool
) -> dict[str, Any]:
    """Return the line that a reader's spool sends of itself; all that it writes is sent at once."""
    return {
        "schema": SCHEMA,
        "id": str(uuid.uuid5(NAMESPACE, f"feed\n{spool}\n{written}\n{rfc3339(at)}")),
        "kind": "observe",
        "what": "feed",
        "occurred_at": rfc3339(at),
        "source": {"system": SYSTEM, "instance": instance},
        "spool": spool,
        "written": written,
        "sent": {"count": written},
        "unsent": 0,
        "dropped": 0,
        "oldest_unsent_s": None,
        **({"closed": True, "end": "in_order"} if is_closed else {}),
    }


def _content(row: Mapping[str, Any], instance: str, seen_at: datetime) -> dict[str, Any]:
    times = {name: moment_of(row.get(name)) for name in _TIMES}
    errors = errors_of(row.get("errors"))
    args = without_opaque(row.get("args"))
    nodes = words_of(row.get("attempted_by"))
    worker = text_of(row.get("worker"))
    state = text_of(row.get("state"))
    meta = without_opaque(row.get("meta"))
    job = {
        "id": text_of(row.get("id")) or "",
        "task": worker,
        "queue": text_of(row.get("queue")),
        "state": state,
        "attempt": whole_of(row.get("attempt")),
        "max_attempts": whole_of(row.get("max_attempts")),
        **times,
        "last_error": _last_error(errors),
        "errors": _error_count(row) or None,
        "snoozed": whole_of(plain.object_of(meta).get("snoozed")),
        "node": nodes[0] if nodes else None,
    }
    kept = {"args": args, "errors": errors or None, "meta": meta}
    kept |= {"tags": words_of(row.get("tags")) or None, "priority": whole_of(row.get("priority"))}
    return {
        "schema": SCHEMA,
        "kind": "observe",
        "what": "row",
        **_occurred(times, state, errors, seen_at),
        "source": {"system": SYSTEM, "instance": instance, "via": "row"},
        "job": present(job),
        **identity_of(worker, args),
        "data": {"row": present({**kept, "attempted_by": nodes or None})},
    }


def _occurred(
    times: Mapping[str, str | None], state: str | None, errors: Iterable[Any], seen_at: datetime
) -> dict[str, str]:
    """Give the latest of the row's own times, as far as it has come.

    When a job is due is no time at which something happened, and may be after it was cancelled.
    It counts for one that is available, since a retry leaves no other trace of when it was.
    """
    latest = rfc3339(seen_at + SKEW)
    known = [at for name, at in times.items() if name != "scheduled_at" or state == "available"]
    known += [moment_of(plain.object_of(error).get("at")) for error in errors]
    return (
        {"occurred_at": max(past)} if (past := [at for at in known if at and at <= latest]) else {}
    )


def _error_count(row: Mapping[str, Any]) -> int:
    """Count the errors, of which a reader may have brought the newest only."""
    counted = whole_of(row.get("errors_count"))
    return len(plain.list_of(row.get("errors"))) if counted is None else counted


def _last_error(errors: Sequence[Any]) -> str | None:
    if not errors:
        return None
    text = plain.object_of(errors[-1]).get("error")
    text = text if isinstance(text, str) else ""
    if "{:cancel, {:discarded" in text:
        return "cancel_discarded"
    return "cancel" if "{:cancel," in text else "other"


def _row_id(instance: str, number: str, text: bytes) -> str:
    return str(uuid.uuid5(NAMESPACE, f"row\n{instance}\n{number}\n{_digest(text)}"))


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()
