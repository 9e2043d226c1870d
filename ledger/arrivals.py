"""What arrived of numbered spools, written into the log once a minute as receipts of our own.

`store.append` notes each delivery in the outbox `arrival`, in its own transaction. Here the notes
of a project are taken away and told in one more transaction, so that a crash tells nothing twice
and forgets nothing; a second follower waits for the lock or finds nothing left.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from kit import bulk, clock
from kit.db import try_lock, write_transaction
from ledger import ingest, keys
from ledger.domain import arrivals
from ledger.domain.arrivals import Run
from ledger.domain.draft import Envelope

EVERY = timedelta(minutes=1)
AT_ONCE = 5_000
_DUE = "SELECT DISTINCT project_id FROM arrival WHERE at <= %s"
_OLDEST = "SELECT 1 FROM arrival WHERE project_id = %s AND at <= %s ORDER BY at LIMIT 1"
_TAKE = (
    "SELECT id, spool, first_number, last_number, replayed, at, token, began_at, conflicts "
    "FROM arrival "
    "WHERE project_id = %s ORDER BY at, id LIMIT %s"
)
Note = tuple[Any, ...]


def due_projects() -> list[int]:
    """Give the projects in which something arrived at least a minute ago that is not told yet."""
    return [project for (project,) in bulk.select_rows(_DUE, [clock.now() - EVERY])]


def drain(project_id: int) -> int:
    """Tell what arrived, if the oldest of it is a minute old; gives how many receipts it took."""
    if not bulk.select_rows(_OLDEST, [project_id, clock.now() - EVERY]):
        return 0
    with write_transaction():
        if not try_lock(f"arrivals:{project_id}"):
            return 0
        notes = bulk.select_rows(_TAKE, [project_id, AT_ONCE])
        bulk.delete_in("DELETE FROM arrival WHERE id IN ({values})", [], [one[0] for one in notes])
        raws = list(_raws(project_id, notes))
        ingest.ingest(raws, Envelope(project_id=project_id, received_at=clock.now()))
    return len(raws)


def _raws(project_id: int, notes: Sequence[Note]) -> Iterator[bytes]:
    key = keys.project_key(project_id)
    for number, body in _told(notes):
        signed = {"id": arrivals.own_id(key, number), **body}
        yield json.dumps(signed, ensure_ascii=True, sort_keys=True).encode("ascii")


def _told(notes: Sequence[Note]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give the receipts' bodies, each with a number that no other one has."""
    grouped: dict[tuple[str, int | None], list[Note]] = defaultdict(list)
    for note in notes:
        grouped[note[1], note[6]].append(note)
    for (spool, token), group in grouped.items():
        runs = [Run(one[2], one[3], bulk.as_time(one[5])) for one in group]
        replayed = sum(one[4] for one in group)
        began = min((bulk.as_time(one[7]) for one in group if one[7] is not None), default=None)
        conflicts = sum(one[8] for one in group)
        told = arrivals.bodies(spool, runs, _last(group), replayed, token, began, conflicts)
        for at, body in enumerate(told):
            yield f"{group[0][0]}-{group[-1][0]}-{at}", body


def _last(notes: Sequence[Note]) -> datetime:
    return max(bulk.as_time(one[5]) for one in notes)
