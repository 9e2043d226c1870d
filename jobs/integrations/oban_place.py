"""How far a reader of an Oban table has come, in tables of its own."""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import QuerySet

from jobs.domain import oban_known
from jobs.domain.oban_holes import Hole
from jobs.domain.oban_known import Seen
from jobs.models import ObanHole, ObanKnown, ObanSource
from kit import bulk

Known = dict[int, Seen]
"""Rows as they were seen last, by id."""


class OtherTable(ValueError):
    """The instance was read from another table before."""


@dataclass(slots=True)
class Place:
    """Where the reader of one table stands.

    `next_number` is the next one of its spool, `sweep_block` where going through the known rows
    goes on, `round_at` when the last whole round began.
    """

    project_id: int
    instance: str
    source: int
    spool: str
    next_number: int
    last_id: int | None
    sweep_block: int | None
    round_at: datetime | None
    holes: list[Hole]
    saved_holes: set[Hole] = field(default_factory=set)


def open_place(project_id: int, instance: str, origin: str) -> Place:
    """Find where a reader stands, or make a place for a new one.

    Raises OtherTable: read as the same instance, another table's jobs would seem to be these.
    """
    found, _ = ObanSource.objects.get_or_create(
        project_id=project_id,
        instance=instance,
        defaults={"table": origin, "spool": _new_spool(instance)},
    )
    if found.table != origin:
        raise OtherTable(
            f"oban/{instance} was read from {found.table} until now, and this is {origin}. "
            "Give it another name with --instance."
        )
    holes = [
        Hole(one.first_id, one.last_id, one.since)
        for one in ObanHole.objects.filter(project_id=project_id, source=found.pk)
    ]
    return Place(
        project_id=project_id,
        instance=instance,
        source=found.pk,
        spool=found.spool,
        next_number=found.next_number,
        last_id=found.last_id,
        sweep_block=found.sweep_block,
        round_at=found.round_at,
        holes=holes,
        saved_holes=set(holes),
    )


def list_instances(project_id: int) -> list[str]:
    """List the instances that were ever read into a project."""
    found = ObanSource.objects.filter(project_id=project_id).order_by("instance")
    return list(found.values_list("instance", flat=True))


def _new_spool(instance: str) -> str:
    # With the notes lost the numbers begin again, and must not seem to be those of before.
    name = instance if instance.isascii() and instance.isprintable() else "-"
    return f"oban_sync/{name.replace(';', '-')}/{secrets.token_hex(4)}"


def lock(place: Place) -> None:
    """Take the place until the end of the transaction, and learn what another reader wrote."""
    row = ObanSource.objects.select_for_update().get(project_id=place.project_id, pk=place.source)
    place.next_number = row.next_number


def known_of(place: Place, numbers: Iterable[int]) -> Known:
    """Load what is known of some ids."""
    wanted: dict[int, list[int]] = defaultdict(list)
    for number in numbers:
        wanted[oban_known.block_of(number)].append(number)
    known: Known = {}
    for block, packed in _load(place, wanted):
        known.update(oban_known.pick(packed, wanted[block]))
    return known


def open_between(place: Place, first: int, last: int) -> Known:
    """Load what is known between two ids of rows that may still run."""
    rows = _blocks(place).filter(
        is_open=True,
        block__gte=oban_known.block_of(first),
        block__lte=oban_known.block_of(last),
    )
    known: Known = {}
    for block, packed in rows.values_list("block", "rows").iterator():
        known.update(oban_known.pick_open(block, bytes(packed)))
    return {number: one for number, one in known.items() if first <= number <= last}


def next_known(place: Place, most: int) -> tuple[Known, int | None]:
    """Load the next blocks of the sweep, and the last of them; None after the last of all."""
    rows = _blocks(place).order_by("block")
    if place.sweep_block is not None:
        rows = rows.filter(block__gte=place.sweep_block)
    found = list(rows.values_list("block", "rows")[:most])
    return _unpacked(found), found[-1][0] if len(found) == most else None


def count_blocks(place: Place) -> int:
    """Count the blocks of known rows."""
    return _blocks(place).count()


def save(place: Place, changed: Mapping[int, Seen | None]) -> None:
    """Write the place and rows that were seen, None for one that is gone.

    In the transaction in which their receipts are stored.
    """
    touched = {oban_known.block_of(number) for number in changed}
    known = _unpacked(_load(place, touched))
    for number, seen in changed.items():
        if seen is None:
            known.pop(number, None)
        else:
            known[number] = seen
    _save_known(place, known, touched)
    _save_holes(place)
    ObanSource.objects.filter(project_id=place.project_id, pk=place.source).update(
        next_number=place.next_number,
        last_id=place.last_id,
        sweep_block=place.sweep_block,
        round_at=place.round_at,
    )


def _save_known(place: Place, known: Known, touched: Iterable[int]) -> None:
    grouped: dict[int, Known] = defaultdict(dict)
    for number, seen in known.items():
        grouped[oban_known.block_of(number)][number] = seen
    here = (place.project_id, place.source)
    bulk.update_rows(
        "INSERT INTO oban_known (project_id, source, block, is_open, rows) "
        "VALUES (%s, %s, %s, %s, %s) ON CONFLICT (project_id, source, block) "
        "DO UPDATE SET is_open = excluded.is_open, rows = excluded.rows",
        [
            (*here, block, any(one.is_open for one in rows.values()), oban_known.pack(rows))
            for block, rows in sorted(grouped.items())
        ],
    )
    bulk.update_rows(
        "DELETE FROM oban_known WHERE project_id = %s AND source = %s AND block = %s",
        [(*here, block) for block in sorted(touched) if block not in grouped],
    )


def _save_holes(place: Place) -> None:
    holes = set(place.holes)
    here = (place.project_id, place.source)
    bulk.update_rows(
        "DELETE FROM oban_hole WHERE project_id = %s AND source = %s AND first_id = %s",
        [(*here, hole.first) for hole in sorted(place.saved_holes - holes)],
    )
    bulk.update_rows(
        "INSERT INTO oban_hole (project_id, source, first_id, last_id, since) "
        "VALUES (%s, %s, %s, %s, %s) ON CONFLICT (project_id, source, first_id) "
        "DO UPDATE SET last_id = excluded.last_id, since = excluded.since",
        [(*here, hole.first, hole.last, hole.since) for hole in sorted(holes - place.saved_holes)],
    )
    place.saved_holes = holes


def _blocks(place: Place) -> QuerySet[ObanKnown]:
    return ObanKnown.objects.filter(project_id=place.project_id, source=place.source)


def _load(place: Place, blocks: Iterable[int]) -> list[tuple[int, bytes]]:
    statement = (
        "SELECT block, rows FROM oban_known "
        "WHERE project_id = %s AND source = %s AND block IN ({values})"
    )
    rows = bulk.select_in(statement, [place.project_id, place.source], sorted(blocks))
    return [(block, bytes(packed)) for block, packed in rows]


def _unpacked(rows: Iterable[tuple[int, bytes | memoryview]]) -> Known:
    known: Known = {}
    for block, packed in rows:
        known.update(oban_known.unpack(block, bytes(packed)))
    return known
