"""Rounds over an Oban table: what is new, what is still open, and what has become of the rest.

A round reads (1) the rows above the last id, going back over young holes, since ids commit out of
order; (2) all rows that may still run, whatever their id, so that a terminal job that somebody
retried is seen; (3) the next part of all known ids, the whole table at least once an hour, for
rows that are gone or were rewritten.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar

from psycopg import errors

from jobs.domain import oban_holes, oban_known
from jobs.integrations import oban_place, oban_writer
from jobs.integrations.oban_place import Known, Place
from jobs.integrations.oban_source import PAGE, Digest, ObanTable, Row
from jobs.integrations.oban_writer import Sighting, Tally
from kit import clock

BATCH = 1_000
COMPARED = 5_000
SWEEP = timedelta(minutes=50)
"""How long it takes to go through all known rows, so that it is done within the hour."""

SWEEP_BLOCKS = 256
T = TypeVar("T")
_LEAST, _GREATEST = -(2**63), 2**63 - 1
_CHANGED_UNDER_US = (errors.UndefinedTable, errors.UndefinedColumn, errors.InsufficientPrivilege)


class Reader:
    """Reads one table into one project."""

    def __init__(self, project_id: int, instance: str, table: ObanTable) -> None:
        self.table = table
        self.place: Place = oban_place.open_place(project_id, instance, table.table.origin)
        self._tally = Tally()

    def go_round(self) -> Tally:
        """Go round once, and give what was found.

        Raises what `ObanTable.look` does when the table has changed under the reader.
        """
        self._tally = Tally()
        try:
            self.table.look()
            self._go_round()
        except _CHANGED_UNDER_US:
            self.table.look()
            raise
        return self._tally

    def _go_round(self) -> None:
        started = clock.now()
        self._read_holes(started)
        self._read_new()
        self._read_open()
        self._sweep(started)
        self.place.holes = oban_holes.keep_young(self.place.holes, clock.now())
        self.place.round_at = started
        oban_writer.write_place(self.place)

    def _read_holes(self, now: datetime) -> None:
        """Read what has come in ids that had no row before."""
        self.place.holes = oban_holes.keep_young(self.place.holes, now)
        spans = [(hole.first, hole.last) for hole in self.place.holes]
        if not spans:
            return
        for batch in _batches(self.table.iter_between(spans)):
            come = [one.number for one in batch]
            self.place.holes = oban_holes.fill(self.place.holes, come)
            self._write(batch)

    def _read_new(self) -> None:
        """Read the rows above the last id, and note the holes between them."""
        count = PAGE
        while count == PAGE:
            count = 0
            for batch in _batches(self.table.iter_above(self.place.last_id)):
                count += len(batch)
                drawn = [(one.number, _inserted_at(one.row)) for one in batch]
                gaps = oban_holes.find_gaps(self.place.last_id, drawn, clock.now())
                holes = [*self.place.holes, *gaps]
                self.place.holes = oban_holes.keep_young(holes, clock.now())
                self.place.last_id = batch[-1].number
                self._write(batch)

    def _read_open(self) -> None:
        """Read the rows that may still run and are not as they were; look for those that are gone.

        One that is known as open and not among them has ended or is gone.
        """
        first, is_more = _LEAST, True
        parts = _parts(self.table.iter_open(), COMPARED)
        while is_more:
            part = next(parts, [])
            is_more = len(part) == COMPARED
            last = part[-1][0] if is_more else _GREATEST
            still = oban_place.open_between(self.place, first, last)
            known = oban_place.known_of(self.place, (number for number, _ in part)) | still
            self._refetch([*_differing(part, known), *_missing(part, still, first, last)])
            first = last + 1

    def _sweep(self, now: datetime) -> None:
        """Go through the next known rows, as many as the time since the last round asks for."""
        since = self.place.round_at
        if since is None or self.place.last_id is None:
            return
        share = min(1.0, (now - since) / SWEEP)
        left = math.ceil(oban_place.count_blocks(self.place) * share)
        while left > 0:
            start = self.place.sweep_block
            known, end = oban_place.next_known(self.place, min(left, SWEEP_BLOCKS))
            first = _LEAST if start is None else oban_known.first_of(start)
            last = self.place.last_id if end is None else oban_known.first_of(end + 1) - 1
            self._compare(known, first, last)
            self.place.sweep_block = None if end is None else end + 1
            left = 0 if end is None else left - SWEEP_BLOCKS

    def _compare(self, known: Known, first: int, last: int) -> None:
        """Hold known rows against the table's, between two ids."""
        is_more = True
        while is_more:
            page = self.table.digests_between(first, last, PAGE)
            is_more = len(page) == PAGE
            end = page[-1][0] if is_more else last
            self._refetch([*_differing(page, known), *_missing(page, known, first, end)])
            first = end + 1

    def _refetch(self, numbers: Sequence[int]) -> None:
        """Read some rows anew, and note those that are gone."""
        for start in range(0, len(numbers), BATCH):
            wanted = numbers[start : start + BATCH]
            found = [_sighting(row, digest) for row, digest in self.table.fetch(wanted)]
            self._write(found)
            gone = sorted(set(wanted) - {one.number for one in found})
            now = clock.now()
            since = self.place.round_at or now
            oban_writer.write_gone(self.place, gone, since, now, self._tally)

    def _write(self, batch: Sequence[Sighting]) -> None:
        if batch:
            oban_writer.write_rows(self.place, batch, clock.now(), self._tally)


def _batches(rows: Iterable[tuple[Row, int]]) -> Iterator[list[Sighting]]:
    return _parts((_sighting(row, digest) for row, digest in rows), BATCH)


def _sighting(row: Row, digest: int) -> Sighting:
    return Sighting(row["id"], row, oban_known.seen_of(row, digest))


def _parts(items: Iterable[T], size: int) -> Iterator[list[T]]:
    iterator = iter(items)
    while part := list(itertools.islice(iterator, size)):
        yield part


def _differing(rows: Iterable[Digest], known: Known) -> list[int]:
    """Give the ids of rows that are new or not as they were."""
    return [n for n, digest in rows if n not in known or known[n].digest != digest]


def _missing(rows: Iterable[Digest], known: Known, first: int, last: int) -> list[int]:
    """Give the known ids between two that are not among the rows."""
    present = {number for number, _ in rows}
    return [number for number in known if first <= number <= last and number not in present]


def _inserted_at(row: Mapping[str, Any]) -> datetime | None:
    text = row.get("inserted_at")
    return datetime.fromisoformat(text) if isinstance(text, str) and len(text) == 27 else None
