"""Low ids: one that fills a hole, one that came late, or the first of a counter's next life.

A low id alone says nothing; the next ones tell. Old numbering after it means that it was out of
order, two more that rise and stay low mean that the counter restarted.
"""

from __future__ import annotations

from events.domain import codes, resets_seen, strays
from events.domain.desk import Desk
from events.domain.holes import SETTLE, Hole
from events.domain.lines import Line
from events.domain.records import Record

WINDOW = 16
"""Ids that a message may be late by and still be out of order only."""
CONFIRMING = 2
"""Rising low ids after the first that prove a restart."""


def take(desk: Desk, line: Line, record: Record) -> int:
    """Take an id below the line's high-water mark that is neither known nor missing."""
    number = record.id or 0
    if line.low and number < line.low[-1][0]:
        strays.end(desk, line, record.at)
    is_near = line.high - number <= WINDOW and number > line.first
    ordinal = line.bands[record.epoch] if is_near else strays.space_of(desk, line, record)
    line.low.append((number, record.at, record.epoch))
    line.remember(number, (record.fingerprint, record.at, record.scope))
    line.look()
    if len(line.low) > CONFIRMING:
        return resets_seen.low_run(desk, line, record)
    _tell(desk, line, record, is_near, ordinal)
    return desk.spaces.touch(ordinal, record.at, number)


def _tell(desk: Desk, line: Line, record: Record, is_near: bool, ordinal: int) -> None:
    if line.low_finding is not None:
        facts: dict[str, str | int] = {"count": len(line.low), "last": str(record.id)}
        line.low_finding = desk.journal.change(line.low_finding, facts=facts)
    elif len(line.low) == 1:
        rule = "reordered" if is_near else "lone_low"
        due_at = record.at if is_near else record.at + SETTLE + 1
        facts = {"high": str(line.high), "space": ordinal}
        line.low_finding = desk.open(codes.INTERLEAVE, record, rule, facts=facts, due_at=due_at)


def fill(desk: Desk, line: Line, record: Record, hole: Hole) -> None:
    """Take an id out of a hole: in time it was out of order, later the gap stays and says so."""
    number = record.id or 0
    if line.low:
        strays.end(desk, line, record.at)
    was_first = hole.first
    hole.fill(number)
    is_late = record.at >= hole.due_at
    if hole.finding is not None and is_late:
        _fill_late(desk, record, hole)
    elif hole.finding is not None and not hole.parts:
        desk.journal.drop(hole.finding)
    elif hole.finding is not None:
        _fill_in_time(desk, hole, was_first)
    if not is_late and not hole.is_excused:
        facts: dict[str, str | int] = {"high": str(line.high), "space": line.bands[record.epoch]}
        desk.open(codes.INTERLEAVE, record, "fills_hole", facts=facts)
    if not hole.parts:
        line.holes.remove(hole)


def _fill_late(desk: Desk, record: Record, hole: Hole) -> None:
    assert hole.finding is not None  # noqa: S101 - the caller asked
    hole.late += 1
    facts: dict[str, str | int] = {"late": hole.late}
    if hole.parts:
        hole.finding = desk.journal.change(hole.finding, facts=facts)
        return
    facts["filled_at"] = record.at
    hole.finding = desk.journal.change(hole.finding, facts=facts, closed_at=record.at)


def _fill_in_time(desk: Desk, hole: Hole, was_first: int) -> None:
    assert hole.finding is not None  # noqa: S101 - the caller asked
    if hole.first != was_first:
        hole.finding = desk.journal.rename(hole.finding, hole.first, facts=hole.told())
    else:
        hole.finding = desk.journal.change(hole.finding, facts=hole.told())
