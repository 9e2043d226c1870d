"""A counter that restarted without saying so: by a known id with another body, or by a low run."""

from __future__ import annotations

from events.domain import codes, strays
from events.domain.desk import Desk
from events.domain.lines import Line
from events.domain.records import Record
from events.domain.spaces import RESET

TWO_WRITERS = 3
WITHIN = 16
"""So many restarts within so many messages are two counters that take turns, and no restart."""


def known_id(desk: Desk, line: Line, record: Record) -> int:
    """Take an id that is known with another body: two counters gave it out, which is certain."""
    number = record.id or 0
    if _are_two_writers(line):
        line.note_restart()
        desk.open(codes.INTERLEAVE, record, "two_writers", facts={"high": str(line.high)})
        return desk.spaces.touch(line.bands[record.epoch], record.at, number)
    if line.low and number < line.low[-1][0]:
        strays.end(desk, line, record.at)
    del line.seen[number]
    line.remember(number, (record.fingerprint, record.at, record.scope))
    line.low.append((number, record.at, record.epoch))
    return _restart(desk, line, record, "known_id")


def low_run(desk: Desk, line: Line, record: Record) -> int:
    """Take the low id that makes the run long enough to prove that the counter restarted."""
    return _restart(desk, line, record, "low_run")


def _are_two_writers(line: Line) -> bool:
    return len(line.resets) == TWO_WRITERS and line.points - line.resets[0] <= WITHIN


def _restart(desk: Desk, line: Line, record: Record, rule: str) -> int:
    first, at, _ = line.low[0]
    if line.low_finding is not None:
        desk.journal.drop(line.low_finding)
    bands, high = _bands(desk, line, record), line.high
    ordinal = bands[record.epoch]
    line.restart(bands)
    line.limited = desk.journal.open(
        codes.RESET_NO_EPOCH,
        at,
        rule,
        record,
        due_at=record.at,
        facts={"high": str(high), "space": ordinal},
        id=first,
    )
    return desk.spaces.touch(ordinal, record.at, record.id or 0)


def _bands(desk: Desk, line: Line, record: Record) -> dict[str | None, int]:
    """Give the spaces of the counter's next life: those of its low ids, if they had any."""
    bands: dict[str | None, int] = {}
    for number, at, epoch in line.low[:-1]:
        stray = line.strays.get(epoch)
        if stray is not None and epoch not in bands:
            desk.spaces.confirm(stray, at, number)
            bands[epoch] = stray
    if record.epoch not in bands:
        parent = (line.band, line.high)
        number = record.id or 0
        bands[record.epoch] = desk.spaces.bear(record.at, number, RESET, record.epoch, parent)
    return bands
