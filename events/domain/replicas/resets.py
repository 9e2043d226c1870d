"""The ID space that a replica follows: when a message ends it, and what stays of its floor.

Source: reference/pad.md sections 3.3 (steps 2 to 6) and 3.4.
"""

from __future__ import annotations

from dataclasses import dataclass

from events.domain.records import SECOND
from events.domain.replicas.versions import NUMBERS, Version

EPOCH_CHANGE, EPOCH_REGRESSED = "epoch_change", "epoch_regressed"
COUNTER_BACKWARD, UNDECODABLE = "counter_backward", "undecodable_message"
RESUMED, UNCONFIRMED, IDLE = "subscription_resumed", "subscription_unconfirmed", "idle_timeout"

STRAGGLER_WINDOW = 30 * SECOND
CLEAR, RAISE, KEEP = "clear", "raise", "keep"
"""What a reset does with the floor: forget it, raise it to what is discarded, leave it."""


@dataclass(frozen=True, slots=True)
class Step:
    """What a message's epoch brings: whether it is taken, and the reset with its floor, if any."""

    is_taken: bool = True
    reason: str | None = None
    floor: str = CLEAR


_TAKEN = Step()


class FollowedSpace:
    """The epoch that a replica adopted, and the floor that its resets left.

    The epoch is 0 where none was adopted, a text or a number otherwise; it is learned from
    messages and never read from Redis.
    """

    def __init__(self, version: Version) -> None:
        self.epoch: int | str = 0
        self.adopted_at = 0
        self.had_reset = False
        self.discarded = 0
        self._version = version

    def step(self, epoch: int | str | None, at: int, holds: bool) -> Step:
        """Take the epoch of a message; `holds` tells whether any buffer holds events."""
        if epoch is None or epoch == self.epoch:
            return _TAKEN
        if self._version.epochs == NUMBERS and self.epoch and self._is_lower(epoch):
            return self._regressed(epoch, at, holds)
        is_reset = self.epoch != 0 or holds
        self._adopt(epoch, at)
        return Step(reason=EPOCH_CHANGE if is_reset else None)

    def is_backward(self, id: int, high_water: int) -> bool:
        """Tell whether an id runs against a buffer's high-water mark, as this version checks it."""
        if not self._version.checks_ids or (self._version.needs_epoch and self.epoch == 0):
            return False
        return high_water != 0 and id <= high_water

    def drop(self, floor: str, high_waters: list[int]) -> None:
        """Note that all buffers went, and what becomes of the floor."""
        if floor == RAISE:
            self.discarded = max([self.discarded, *high_waters])
        elif floor == CLEAR:
            self.discarded = 0
        self.had_reset = True

    @property
    def least_known(self) -> int:
        """Give the lowest id that a new buffer may vouch for, or 0 when nothing was discarded.

        Versions before the last let the greatest discarded id itself pass.
        """
        if not self.had_reset:
            return 0
        return self.discarded + (2 if self._version.refuses_peak and self.discarded else 1)

    def _is_lower(self, epoch: int | str) -> bool:
        return isinstance(epoch, int) and isinstance(self.epoch, int) and epoch < self.epoch

    def _regressed(self, epoch: int | str, at: int, holds: bool) -> Step:
        if at - self.adopted_at < STRAGGLER_WINDOW:
            return Step(False, EPOCH_REGRESSED if holds else None, KEEP)
        self._adopt(epoch, at)
        return Step(reason=EPOCH_REGRESSED)

    def _adopt(self, epoch: int | str, at: int) -> None:
        self.epoch, self.adopted_at = epoch, at
