"""The next id of a line: one further, one that went past others, a known one or a low one."""

from __future__ import annotations

from events.domain import ahead, codes, highs, lows, resets_seen
from events.domain.desk import Desk
from events.domain.lines import NOT_ROUNDED, Line
from events.domain.records import SECOND, Record

DEDUPE = 60 * SECOND


def take(desk: Desk, line: Line, record: Record) -> int:
    """Take a record with an id into its line, and give the ordinal of its space."""
    number = record.id or 0
    line.points += 1
    if number > line.high:
        if line.is_odd or number > line.limit or (desk.is_dense and number != line.high + 1):
            if highs.is_lone(line, number):
                return highs.take(desk, line, record)
            ahead.look(desk, line, record)
        line.high = number
    elif number in line.seen:
        return again(desk, line, record)
    elif desk.is_dense and (hole := line.holes.find(number)) is not None:
        lows.fill(desk, line, record, hole)
    else:
        note_retry(desk, line, record)
        return lows.take(desk, line, record)
    if record.fingerprint in line.bodies:
        note_retry(desk, line, record)
    line.remember(number, (record.fingerprint, record.at, record.scope))
    return desk.spaces.touch(line.bands[record.epoch], record.at, number)


def again(desk: Desk, line: Line, record: Record) -> int:
    """Take an id that the line holds already: the same message twice, or another counter's."""
    number = record.id or 0
    body, at, _ = line.seen[number]
    ordinal = line.bands[record.epoch]
    if body == record.fingerprint or not body or not record.fingerprint:
        rule = "same_body" if body else "same_id"
        desk.open(codes.DUPLICATE, record, rule, facts={"since": at, "space": ordinal})
    elif line.rounded != NOT_ROUNDED:
        ahead.note_rounding(desk, line, record)
    else:
        return resets_seen.known_id(desk, line, record)
    return desk.spaces.touch(ordinal, record.at, number)


def note_retry(desk: Desk, line: Line, record: Record) -> None:
    """Tell of a body that came in the channel under another id less than a minute ago.

    One body in several channels is no retry: some publishers tell each of them of one event.
    """
    before = line.bodies.get(record.fingerprint)
    if before is None or before == record.id:
        return
    _, at, scope = line.seen[before]
    if scope == record.scope and 0 <= record.at - at <= DEDUPE:
        facts: dict[str, str | int] = {"before": str(before), "space": line.bands[record.epoch]}
        desk.open(codes.RETRY_DUP, record, "same_body_new_id", facts=facts)
