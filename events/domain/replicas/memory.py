"""Pad's in-memory bus: one process that gives out its own ids from a base of its own.

Source: reference/pad.md sections 3.5 (rule 1) and 3.6.
"""

from __future__ import annotations

from events.domain.replicas.answers import BELOW_BASE, NO_BUFFER, SYNC_REQUIRED, Given, given
from events.domain.replicas.ring import CAPACITY, Ring
from events.domain.whole_numbers import GREATEST

STRIDE_BITS = 20


def base_of(start_ms: int, before: int = 0) -> int:
    """Return the base of an incarnation that started at this unix millisecond.

    It lies above the base before it in the same process. Raises ValueError where ids would no
    longer fit into 64 bits, which is from the millisecond 8,796,093,022,208 on.
    """
    base = max(start_ms << STRIDE_BITS, before + (1 << STRIDE_BITS) if before else 0)
    if base > GREATEST:
        raise ValueError("the start lies beyond the last millisecond that fits into 64 bits")
    return base


class MemoryReplica:
    """One incarnation: ids from base + 1 on, the sole publisher into its space."""

    def __init__(self, base: int, capacity: int = CAPACITY) -> None:
        self.base = base
        self.buffers: dict[str, Ring] = {}
        self.resume_gaps = 0
        self._last = base
        self._capacity = capacity

    def publish(self, scope: str) -> int:
        """Give the next event its id and keep it."""
        self._last += 1
        self.buffers.setdefault(scope, Ring(self._capacity)).append(self._last)
        return self._last

    def since(self, scope: str, cursor: int) -> Given:
        """Answer a cursor; one at or below the base was given out by an earlier incarnation."""
        found = self._answer(scope, cursor)
        self.resume_gaps += found.answer == SYNC_REQUIRED
        return found

    def _answer(self, scope: str, cursor: int) -> Given:
        if 0 < cursor <= self.base:
            return given(None, BELOW_BASE)
        ring = self.buffers.get(scope)
        if ring is None:
            return given(None if cursor > 0 else (), NO_BUFFER)
        return ring.since(cursor)
