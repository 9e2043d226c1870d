"""How a version reads a message that was recorded. Source: reference/pad.md section 2."""

from __future__ import annotations

from typing import NamedTuple

from events.domain.records import BARE, FRAME, PREFIXED, Record
from events.domain.replicas.versions import NONE, NUMBERS, Version
from events.domain.whole_numbers import int64_of


class Heard(NamedTuple):
    """A message as a version reads it; without a reading it could not be read."""

    id: int
    epoch: int | str | None = None


def is_frame(version: Version, record: Record) -> bool:
    """Tell whether it is a liveness frame to this version; to older ones it is unreadable."""
    return version.reads_frames and record.form == FRAME


def heard(version: Version, record: Record) -> Heard | None:
    """Read a message, or give None where this version cannot.

    What the recorder could not read, no version is taken to read.
    """
    if record.id is None or record.form not in (BARE, PREFIXED):
        return None
    if version.epochs == NUMBERS and record.id <= 0:
        return None
    if record.form == BARE:
        return Heard(record.id)
    epoch = _epoch(version, record.epoch)
    return None if epoch is None else Heard(record.id, epoch)


def _epoch(version: Version, epoch: str | None) -> int | str | None:
    if version.epochs == NONE or not epoch:
        return None
    if version.epochs != NUMBERS:
        return epoch
    number = int64_of(epoch)
    return number if number is not None and number > 0 else None
