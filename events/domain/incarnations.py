"""Ids of a bus inside one process: what time they carry, and of which life of the process.

Such an id is the start of the process in milliseconds, shifted left by 20 bits, plus a counter;
other systems use plain nanoseconds. Both are near 1.8e18 today and years apart when read wrongly,
so both readings are tried. Source: reference/events-and-loops.md sections 0.4 and 4 (BASE_JUMP,
NEW_INCARNATION, JUNK_ID), reference/pad.md section 3.6.
"""

from __future__ import annotations

from dataclasses import dataclass

from events.domain.records import SECOND

COUNTER_BITS = 20
LEAST = 2**59
"""Ids from here on carry a time; smaller ones are those of a shared counter."""
FARTHEST = 400 * 86_400 * SECOND
"""How far from its arrival the time in an id may be, in microseconds."""
BASE, NANOSECONDS = "base", "nanoseconds"
_PER_MS = 1_000


@dataclass(frozen=True, slots=True)
class Reading:
    """An id read as a time `at`, in microseconds since 1970.

    As a `base`, `at` is the start of the process, `base` its first id's predecessor and `counter`
    how many ids it had given; as `nanoseconds`, there is no base.
    """

    kind: str
    at: int
    base: int = 0
    counter: int = 0


def has_base(number: int) -> bool:
    """Tell whether an id is so large that it must carry a time."""
    return number >= LEAST


def read_base(number: int) -> Reading:
    """Read an id as milliseconds and a counter."""
    ms, counter = number >> COUNTER_BITS, number & ((1 << COUNTER_BITS) - 1)
    return Reading(BASE, ms * _PER_MS, ms << COUNTER_BITS, counter)


def read(number: int, arrived_at: int) -> Reading | None:
    """Read a large id as the time that is nearest to its arrival, in microseconds.

    None where it is no large id, or where neither reading is within 400 days: a JUNK_ID.
    """
    if not has_base(number):
        return None
    readings = (read_base(number), Reading(NANOSECONDS, number // _PER_MS))
    nearest = min(readings, key=lambda one: abs(one.at - arrived_at))
    return nearest if abs(nearest.at - arrived_at) <= FARTHEST else None
