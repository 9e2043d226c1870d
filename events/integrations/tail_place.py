"""How far a tail has come, in a table of its own."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from events.models import BusTail

MOST = 60


@dataclass(slots=True)
class Place:
    """Where the tail of one lane stands.

    `next_number` is the next one of its spool, `watched_to` until when its stored segments reach,
    in microseconds since 1970; `entry` is the last one read of a stream.
    """

    project_id: int
    tail: int
    spool: str
    next_number: int
    watched_to: int | None
    entry: str


def open_place(project_id: int, installation: str, bus: str, replica: str) -> Place:
    """Find where the tail of a lane stands, or make a place for a new one."""
    found, _ = BusTail.objects.get_or_create(
        project_id=project_id,
        installation=installation,
        bus=bus,
        replica=replica,
        defaults={"spool": _new_spool(installation, bus, replica)},
    )
    return Place(
        project_id, found.pk, found.spool, found.next_number, found.watched_to, found.entry
    )


def list_watched(project_id: int) -> list[tuple[str, str]]:
    """List the buses that were ever watched from here, as (installation, bus)."""
    found = BusTail.objects.filter(project_id=project_id).order_by("installation", "bus")
    return list(dict.fromkeys(found.values_list("installation", "bus")))


def lock(place: Place) -> None:
    """Take the place until the end of the transaction, and learn what another tail wrote."""
    row = BusTail.objects.select_for_update().get(project_id=place.project_id, pk=place.tail)
    place.next_number = row.next_number


def save(place: Place) -> None:
    """Write the place, in the transaction in which what it wrote is stored."""
    BusTail.objects.filter(project_id=place.project_id, pk=place.tail).update(
        next_number=place.next_number, watched_to=place.watched_to, entry=place.entry
    )


def _new_spool(*names: str) -> str:
    # With the notes lost the numbers begin again, and must not seem to be those of before.
    shown = [name if name.isascii() and name.isprintable() else "-" for name in names]
    parts = [name[:MOST].replace(";", "-").replace("/", "-") for name in shown]
    return "/".join(("bus_tail", *parts))[:180] + f"/{secrets.token_hex(4)}"
