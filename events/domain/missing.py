"""Ids that a buffer does not hold: whether another channel or replica has them, or nobody.

A hole in all replicas is an id that was burned, in one a fault of delivery; on a bus with a counter
of many channels a hole is no loss. Source: reference/events-and-loops.md sections 4 and 5.3.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

BURNED, OTHER_CHANNEL, OTHER_REPLICA = "burned", "other_channel", "other_replica"
UNWATCHED, UNKNOWN = "unwatched", "unknown"
NAMED = 20
"""Ids that a row names one by one."""


@dataclass(frozen=True, slots=True)
class Around:
    """What is known of ids beside those of one buffer, in the same ID space.

    `channels` are the ids that this lane saw in other channels, `replicas` the ids that other
    lanes saw by their names, `watched` how many lanes watched. In the `blind` stretches of time
    this lane was not watched.
    """

    channels: Mapping[int, str]
    replicas: Mapping[int, Collection[str]]
    watched: int
    blind: Sequence[tuple[int, int]] = ()


@dataclass(frozen=True, slots=True)
class Missing:
    """Ids between two that are held, or beyond the last, with the reason they share."""

    first: int
    last: int
    count: int
    why: str
    ids: tuple[int, ...] = ()
    seen_by: tuple[str, ...] = ()


def missing_below(held: Sequence[tuple[int, int]], around: Around) -> dict[int, list[Missing]]:
    """Give by each id held what is missing between it and the next lower one.

    `held` are ids in their order, each with the time it came.
    """
    known = sorted({*around.channels, *around.replicas})
    found: dict[int, list[Missing]] = {}
    for (low, since), (high, until) in pairwise(held):
        if high - low > 1:
            first, last = min(since, until), max(since, until)
            blind = any(begin <= last and end >= first for begin, end in around.blind)
            found[high] = list(_rows(low, high, known, around, is_blind=blind))
    return found


def _rows(
    low: int, high: int, known: Sequence[int], around: Around, *, is_blind: bool
) -> Iterator[Missing]:
    inside = known[bisect_right(known, low) : bisect_left(known, high)]
    here = [one for one in inside if one in around.channels]
    there = [one for one in inside if one not in around.channels]
    if there:
        names = sorted({name for one in there for name in around.replicas[one]})
        yield _row(there, OTHER_REPLICA, tuple(names))
    if here:
        yield _row(here, OTHER_CHANNEL, tuple(sorted({around.channels[one] for one in here})))
    left = high - low - 1 - len(inside)
    if left:
        held = set(inside)
        first = next(one for one in range(low + 1, high) if one not in held)
        last = next(one for one in range(high - 1, low, -1) if one not in held)
        yield Missing(first, last, left, _reason(around, is_blind=is_blind),
                      _named(first, last, left, held))  # fmt: skip


def _row(ids: Sequence[int], why: str, seen_by: tuple[str, ...]) -> Missing:
    return Missing(ids[0], ids[-1], len(ids), why, tuple(ids[:NAMED]), seen_by)


def _named(first: int, last: int, count: int, known: Collection[int]) -> tuple[int, ...]:
    found: list[int] = []
    for one in range(first, last + 1):
        if len(found) == min(NAMED, count):
            break
        if one not in known:
            found.append(one)
    return tuple(found)


def _reason(around: Around, *, is_blind: bool) -> str:
    """Say why nobody has an id; with one lane alone nobody can tell."""
    if is_blind:
        return UNWATCHED
    return BURNED if around.watched > 1 else UNKNOWN
