"""A lone high id: one of the counter's life before that came after the next life had begun.

While publishers send ids without an epoch, one that was given out before a restart can arrive
after it (reference/pad.md section 4, residual 3). Taken as progress it would make all that follows
look like a restart; so the next id tells whether the counter went on from there.
"""

from __future__ import annotations

from events.domain import codes, strays
from events.domain.desk import Desk
from events.domain.holes import SETTLE
from events.domain.lines import Line
from events.domain.records import Record

WINDOW = 16
"""How far above the end of the life before, at most, and of its own life's newest id, at least."""


def is_lone(line: Line, number: int) -> bool:
    """Tell whether an id goes on where the life before ended, and not where this one is."""
    is_near_end = line.limit < number <= line.limit + WINDOW
    return is_near_end and line.lone is None and number - line.high > WINDOW


def take(desk: Desk, line: Line, record: Record) -> int:
    """Put an id aside until the next one tells which life it belongs to."""
    ordinal = strays.space_of(desk, line, record)
    line.lone = record.id
    facts: dict[str, str | int] = {"high": str(line.high), "space": ordinal}
    due_at = record.at + SETTLE + 1
    line.lone_finding = desk.open(
        codes.INTERLEAVE, record, "old_numbering", facts=facts, due_at=due_at
    )
    line.look()
    return desk.spaces.touch(ordinal, record.at, record.id or 0)


def settle(desk: Desk, line: Line, record: Record) -> int | None:
    """Let the next id tell: one that goes on from there shows that the counter did.

    Returns the id that was put aside when it was the line's own after all.
    """
    lone, finding = line.lone, line.lone_finding
    line.lone, line.lone_finding = None, None
    line.look()
    if lone is None or (record.id or 0) <= lone:
        return None
    if finding is not None:
        desk.journal.drop(finding)
    line.remember(lone, ("", record.at, record.scope))
    return lone
