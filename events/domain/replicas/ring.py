"""A replay buffer of one workspace: a ring of the newest ids, and from where it vouches for them.

Source: reference/pad.md sections 3.1, 3.2 and 3.5.
"""

from __future__ import annotations

from collections import deque

from events.domain.records import Record
from events.domain.replicas.answers import (
    ABOVE_NEWEST,
    BELOW_KNOWN,
    EMPTY,
    EVICTED,
    HELD,
    SYNC_REQUIRED,
    Given,
    given,
)

CAPACITY = 1_024


class Ring:
    """The newest ids in the order of their arrival, evicted by count alone.

    `known_from` is the first id since the replica began to receive the workspace: so it is about
    receiving without a break, never about ids without a hole. `least_known` is what a ring that
    replaces a discarded one may claim at the lowest, or 0.
    """

    def __init__(self, capacity: int = CAPACITY, least_known: int = 0) -> None:
        self.ids: deque[int] = deque(maxlen=capacity)
        self.records: deque[Record | None] = deque(maxlen=capacity)
        self.known_from = 0
        self.high_water = 0
        self._least_known = least_known

    @property
    def is_full(self) -> bool:
        """Tell whether it is full; it cannot tell whether it ever evicted."""
        return len(self.ids) == self.ids.maxlen

    def append(self, id: int, record: Record | None = None) -> None:
        """Take an id; the first one after a reset is not vouched for itself."""
        self.ids.append(id)
        self.records.append(record)
        if self.known_from == 0:
            self.known_from = max(id + 1, self._least_known) if self._least_known > 0 else id
            self._least_known = 0
        self.high_water = id

    def since(self, cursor: int) -> Given:
        """Send the ids above a cursor, or say that it cannot vouch for them.

        Oldest and newest are so by place, not by number. Cursor 0 asks for all there is.
        """
        refused = self._refusal(cursor) if self.ids or cursor > 0 else None
        if refused is not None:
            return Given(SYNC_REQUIRED, (), refused)
        sent = [(id, one) for id, one in zip(self.ids, self.records, strict=True) if id > cursor]
        return given(
            [id for id, _ in sent],
            HELD if self.ids else EMPTY,
            [one for _, one in sent if one is not None],
        )

    def _refusal(self, cursor: int) -> str | None:
        if cursor > 0 and (self.known_from == 0 or cursor + 1 < self.known_from):
            return BELOW_KNOWN
        if cursor > self.ids[-1]:
            return ABOVE_NEWEST
        return EVICTED if 0 < cursor < self.ids[0] and self.is_full else None
