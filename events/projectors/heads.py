"""Heads of buses as they were sampled: the newest of each node, epoch and channel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from events.domain.told.names import BusName
from events.domain.told.surroundings import HeadTold
from events.projectors.book import Book
from events.projectors.rows import HeadRow


@dataclass(slots=True)
class Heads:
    """The samples of a batch."""

    project_id: int
    rows: Book[HeadRow] = field(init=False)

    def __post_init__(self) -> None:
        """Start with nothing loaded."""
        self.rows = Book(self.project_id, "bus_head", HeadRow, 4)

    def take(self, bus: BusName, at: int, heads: Sequence[HeadTold], leaf: int) -> None:
        """Take a sample; an older one than the newest changes nothing."""
        for one in heads:
            key = (bus.id, one.channel, one.node, one.epoch or "")
            before = self.rows.find(*key)
            if before is None or before.at <= at:
                self.rows.put(HeadRow(*key, one.head, at, leaf))

    def write(self) -> None:
        """Write what the batch came to."""
        self.rows.write()
