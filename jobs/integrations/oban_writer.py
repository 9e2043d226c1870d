"""Receipts of what a reader of an Oban table found, stored together with how far it has come.

One transaction holds a batch of receipts and the place after it. So a reader that is killed goes
on where it was, and of two readers of one table the second stores nothing twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from jobs.domain import oban, oban_changes
from jobs.domain.oban_known import Seen
from jobs.integrations import oban_place
from jobs.integrations.oban_place import Place
from kit import clock
from kit.db import write_transaction
from ledger import ingest, store
from ledger.domain import canonical
from ledger.domain.draft import Draft, Envelope
from ledger.domain.reading import MAX_BODY

LISTED = 1_000
"""The jobs that one prune receipt names at most."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """A row as it was read."""

    number: int
    row: Mapping[str, Any]
    seen: Seen


@dataclass(slots=True)
class Tally:
    """What a round found: changes by name, jobs that are gone, rows that changed more than once."""

    changes: Counter[str] = field(default_factory=Counter)
    pruned: int = 0
    unseen: int = 0
    receipts: int = 0
    replayed: int = 0

    def sentence(self) -> str:
        """Say what a round found in one line."""
        parts = [f"{self.changes[name]:,} {name}" for name in oban_changes.NAMES]
        told = ", ".join(part for part in parts if not part.startswith("0 "))
        found = [told or "nothing changed", f"{self.pruned:,} gone" if self.pruned else ""]
        found.append(f"{self.unseen:,} with steps that nobody saw" if self.unseen else "")
        found.append(f"{self.replayed:,} on record before" if self.replayed else "")
        return "; ".join(part for part in found if part) + "."


def write_rows(
    place: Place, sightings: Sequence[Sighting], seen_at: datetime, tally: Tally
) -> None:
    """Store the receipts of rows that are not as they were, and the place as it is now."""
    known = oban_place.known_of(place, (one.number for one in sightings))
    changed = [one for one in sightings if _is_other(known.get(one.number), one.seen)]
    lines = [oban.row_line(one.row, instance=place.instance, seen_at=seen_at) for one in changed]
    drafts = _prepare(place, map(_fit, lines))
    with write_transaction():
        oban_place.lock(place)
        known = oban_place.known_of(place, (one.number for one in changed))
        fresh = [
            (one, draft)
            for one, draft in zip(changed, drafts, strict=True)
            if _is_other(known.get(one.number), one.seen)
        ]
        _append(place, [draft for _, draft in fresh], tally)
        oban_place.save(place, {one.number: one.seen for one, _ in fresh})
    for one, _ in fresh:
        before = known.get(one.number)
        tally.changes[oban_changes.change_between(before, one.seen)] += 1
        tally.unseen += oban_changes.has_unseen_steps(before, one.seen)


def write_gone(
    place: Place, numbers: Sequence[int], since: datetime, seen_at: datetime, tally: Tally
) -> None:
    """Store the receipts of jobs that are not in the table any more."""
    for start in range(0, len(numbers), LISTED):
        with write_transaction():
            oban_place.lock(place)
            known = oban_place.known_of(place, numbers[start : start + LISTED])
            gone = [(n, known[n].state) for n in numbers[start : start + LISTED] if n in known]
            if gone:
                receipt = oban.prune_receipt(
                    gone, instance=place.instance, since=since, seen_at=seen_at
                )
                _append(place, _prepare(place, [_text(receipt)]), tally)
                oban_place.save(place, {number: None for number, _ in gone})
        tally.pruned += len(gone)


def write_place(place: Place) -> None:
    """Store how far a round has come."""
    with write_transaction():
        oban_place.lock(place)
        oban_place.save(place, {})


def write_feed(place: Place, *, is_closed: bool, data: Mapping[str, Any]) -> None:
    """Store the line that a spool sends of itself once a minute and when it closes."""
    with write_transaction():
        oban_place.lock(place)
        written = place.next_number - 1
        receipt = oban.feed_receipt(
            place.spool, written, clock.now(), instance=place.instance, is_closed=is_closed
        )
        _append(place, _prepare(place, [_text({**receipt, "data": data})]), Tally())
        oban_place.save(place, {})


def _is_other(before: Seen | None, now: Seen) -> bool:
    return before is None or before.digest != now.digest


def _text(receipt: Mapping[str, Any]) -> bytes:
    return canonical.canonical_text(dict(receipt), without=())


def _fit(line: bytes) -> bytes:
    """Leave the row's own values out where they would not fit into one receipt."""
    if len(line) <= MAX_BODY:
        return line
    receipt = canonical.parse(line)
    return _text({**receipt, "data": {"row": {"cut": {"bytes": len(line)}}}})


def _prepare(place: Place, lines: Iterable[bytes]) -> list[Draft]:
    """Read the lines, under the numbers that they have if nobody else writes meanwhile."""
    now = clock.now()
    return [
        ingest.prepare(line, Envelope(place.project_id, now, feed_spool=place.spool,
                                      feed_number=number))
        for number, line in enumerate(lines, place.next_number)
    ]  # fmt: skip


def _append(place: Place, drafts: Sequence[Draft], tally: Tally) -> None:
    """Store the drafts under numbers without a hole, now that nobody else gives any."""
    numbered = [_numbered(draft, n) for n, draft in enumerate(drafts, place.next_number)]
    outcomes = store.append(numbered) if numbered else []
    place.next_number += len(numbered)
    tally.receipts += len(outcomes)
    tally.replayed += sum(not one.is_new for one in outcomes)


def _numbered(draft: Draft, number: int) -> Draft:
    if draft.envelope.feed_number == number:
        return draft
    return replace(draft, envelope=replace(draft.envelope, feed_number=number))
