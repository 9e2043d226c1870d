"""The size of an id tells which counter gave it out, when a bus changes from one to another.

Small ids come from a shared counter. Ids from 2^59 on carry the start of the process that counts
(reference/pad.md section 3.6); a process that starts anew has another base, which is healthy.
"""

from __future__ import annotations

from events.domain import codes, incarnations
from events.domain.desk import Desk
from events.domain.lines import Key, Line
from events.domain.records import Record

LARGE = incarnations.LEAST
SPAN = 1 << 20
"""Ids of one base: what a process can give out before its base would be that of the next
millisecond; two starts are further apart."""
SMALL, JUNK = 0, -1
_CLOCK_FROM = 946_684_800_000_000
"""The year 2000: a history whose clock is before it gives no date to hold an id against."""


def base_of(desk: Desk, lines: dict[Key, Line], era: int, scope: str, record: Record) -> int:
    """Give the base of the line that an id belongs to, and tell what its size shows."""
    number = record.id or 0
    kin = [line for line in lines.values() if line.era == era and line.scope == scope]
    large = [line for line in kin if line.base > SMALL]
    if number < LARGE:
        if large:
            _count(desk, record, codes.UNFLIPPED_PUBLISHER, "small_after_large")
        return SMALL
    near = next((line for line in large if abs(number - line.high) < SPAN), None)
    if near is not None:
        return near.base
    if record.at >= _CLOCK_FROM and incarnations.read(number, record.at) is None:
        desk.open(codes.JUNK_ID, record, "no_date_near", facts={})
        return JUNK
    small = [line for line in kin if line.base == SMALL]
    if large:
        facts = {"high": str(large[-1].high)}
        desk.open(codes.NEW_INCARNATION, record, "another_base", facts=facts)
    elif small:
        facts = {"high": str(small[-1].high)}
        desk.open(codes.BASE_JUMP, record, "large_after_small", facts=facts)
    return number


def _count(desk: Desk, record: Record, code: str, rule: str) -> None:
    desk.incidents.note(f"{code}\n{record.replica}", code, record, rule, {})
