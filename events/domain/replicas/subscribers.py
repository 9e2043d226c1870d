"""Subscribers of a workspace on one replica, and the subscription that feeds them.

Source: reference/pad.md sections 3.1 and 3.3, step 7.
"""

from __future__ import annotations

from collections import deque

DEPTH = 64


class Subscriber:
    """One open stream: the ids that wait for it, and whether it is to be told of a gap.

    Signals that come before it is told are one.
    """

    def __init__(self, scope: str) -> None:
        self.scope = scope
        self.is_open = True
        self.is_signalled = False
        self._waiting: deque[int] = deque()

    def offer(self, id: int) -> bool:
        """Hand it an id, which is lost to it when it has not drained the ones before."""
        if len(self._waiting) >= DEPTH:
            return False
        self._waiting.append(id)
        return True

    def drain(self) -> tuple[int, ...]:
        """Take what waits."""
        waiting = tuple(self._waiting)
        self._waiting.clear()
        return waiting


class Subscription:
    """A live subscription to a workspace's channel; a new one has a new generation."""

    def __init__(self, generation: int, at: int) -> None:
        self.generation = generation
        self.heard_at = at
        self.subscribers: list[Subscriber] = []
