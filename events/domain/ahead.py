"""An id that is higher than the last: what it went past, what it settles, what it climbed past."""

from __future__ import annotations

from events.domain import codes, highs, strays
from events.domain.desk import Desk
from events.domain.holes import Hole
from events.domain.lines import NO_LIMIT, NOT_ROUNDED, Line
from events.domain.records import Record

ROUNDED_BITS = 24
"""Low zero bits in a row that are no chance: three ids near 1.8e18 that all divide by 256."""

CERTAIN_BITS = 256
"""As many as 32 such ids in a row leave: enough to believe it of them, whatever comes later."""


def look(desk: Desk, line: Line, record: Record) -> None:
    """Look at a record whose id is higher than all before it in its line."""
    number = record.id or 0
    if line.low:
        strays.end(desk, line, record.at)
    if line.rounded != NOT_ROUNDED:
        note_rounding(desk, line, record)
    lone = highs.settle(desk, line, record) if line.lone is not None else None
    if number > line.limit:
        _climb(desk, line, record)
    if desk.is_dense and number > line.high + 1 and line.rounded == NOT_ROUNDED:
        _open_hole(desk, line, record, lone)
    line.is_unwatched = False
    line.look()


def note_rounding(desk: Desk, line: Line, record: Record) -> None:
    """Hold an id against the suspicion that it went through a number of 53 bits."""
    before = line.rounded
    line.note_bits(record.id or 0)
    if before < ROUNDED_BITS <= line.rounded:
        step = 1 << max(0, (record.id or 0).bit_length() - 53)
        facts: dict[str, str | int] = {"step": step, "space": line.bands[record.epoch]}
        line.rounding = desk.open(codes.PRECISION_LOSS, record, "all_rounded", facts=facts)
    elif line.rounded == NOT_ROUNDED and line.rounding is not None:
        _end_rounding(desk, line, record, before)
    line.look()


def _end_rounding(desk: Desk, line: Line, record: Record, bits: int) -> None:
    """Let an id that is not rounded tell: few before it were so by chance, many were and are not.

    A counter that steps by 256 for a while is no loss; a reader that was mended still lost ids.
    """
    if line.rounding is not None and bits < CERTAIN_BITS:
        desk.journal.drop(line.rounding)
    elif line.rounding is not None:
        desk.journal.change(line.rounding, facts={}, closed_at=record.at)
    line.rounding = None


def _climb(desk: Desk, line: Line, record: Record) -> None:
    """Note that a counter which began anew passed the greatest id of the life before.

    From here on its numbers look like ordinary progress: only the epoch tells, or the reset that
    was seen.
    """
    if line.limited is not None:
        desk.incidents.amend(line.limited, {"climbed_at": record.at})
    line.limit, line.limited = NO_LIMIT, None


def _open_hole(desk: Desk, line: Line, record: Record, lone: int | None) -> None:
    first, last = line.high + 1, (record.id or 0) - 1
    hole = Hole(first, last, record.at, is_excused=line.is_unwatched)
    if lone is not None:
        hole.fill(lone)
    if not hole.parts:
        return
    if not hole.is_excused:
        hole.finding = desk.journal.open(
            codes.GAP,
            record.at,
            "open_too_long",
            record,
            due_at=hole.due_at,
            facts={**hole.told(), "fault": hole.fault, "space": line.bands[record.epoch]},
            id=hole.first,
            scope=line.scope,
        )
    line.holes.add(hole)


def unwatch(desk: Desk, line: Line, at: int) -> None:
    """Blame nothing on a line that happened while we did not watch, from a time on."""
    for hole in line.holes:
        if hole.finding is not None and hole.due_at > at:
            desk.journal.drop(hole.finding)
            hole.finding, hole.is_excused = None, True
            line.holes.settle([hole])
    line.is_unwatched = True
    line.look()
