"""Stray ids: low ones of which nothing tells yet whether they are late or begin another life."""

from __future__ import annotations

from events.domain.desk import Desk
from events.domain.lines import Line
from events.domain.records import Record
from events.domain.spaces import STRAY


def end(desk: Desk, line: Line, at: int) -> None:
    """Let old numbering, or a lower id yet, settle that the low ids were out of order."""
    if line.low_finding is not None and line.low_finding.due_at > at:
        due_at = max(at, line.low_finding.at)
        desk.journal.change(line.low_finding, facts={}, due_at=due_at)
    line.low, line.low_finding = [], None
    line.look()


def space_of(desk: Desk, line: Line, record: Record) -> int:
    """Give the space of the line's low ids, so that they draw no spike into the one it is in.

    Where the wire calls them by an epoch that was not here before, its own space is free for them.
    """
    known, own = line.strays.get(record.epoch), line.bands[record.epoch]
    if known is not None:
        return known
    if desk.spaces.is_empty(own):
        line.strays[record.epoch] = own
        return own
    parent = (line.band, line.high)
    ordinal = desk.spaces.bear(record.at, record.id or 0, STRAY, record.epoch, parent)
    line.strays[record.epoch] = ordinal
    return ordinal
