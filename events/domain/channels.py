"""Whether the channels of a dense bus share one counter, or each has one of its own.

Nobody says so on the wire, but the ids do: one that follows the bus's last although its channel was
elsewhere speaks for one counter, one that follows its channel's last although the bus was elsewhere
speaks for many. Two more of one kind than of the other settle it. Until then nothing that one
channel shows is held against another.
"""

from __future__ import annotations

from typing import Any

from events.domain.records import Record

VOTES = 2
CHANNELS = 64
"""Channels remembered while it is unsettled."""


class Channels:
    """What the ids of one lane say about its channels; `verdict` is None while unsettled."""

    __slots__ = ("_bus", "_last", "_newest", "_votes", "verdict")

    def __init__(self, state: list[Any] | None = None) -> None:
        told: list[Any] = state or [[], 0, "", 0, None]
        self._last: dict[str, int] = dict(told[0])
        self._bus: int = told[1]
        self._newest: str = told[2]
        self._votes: int = told[3]
        self.verdict: bool | None = told[4]

    @property
    def are_split(self) -> bool:
        """Tell whether each channel is judged by itself: while unsettled, and when it is so."""
        return self.verdict is not False and bool(self._last)

    def begin(self, scope: str, number: int) -> None:
        """Take what the only channel so far stood at when another one appeared."""
        self._last[scope], self._bus, self._newest = number, number, scope

    def note(self, record: Record) -> None:
        """Let an id speak; `verdict` becomes True when each channel has its own counter."""
        number, scope = record.id or 0, record.scope
        last = self._last.pop(scope, None)
        follows_bus = bool(self._last) and scope != self._newest and number == self._bus + 1
        follows_channel = last is not None and number == last + 1
        if follows_bus != follows_channel and self._last:
            is_same = number == self._bus + 1 and scope == self._newest
            self._votes += 0 if is_same else (1 if follows_channel else -1)
        if abs(self._votes) >= VOTES:
            self.verdict = self._votes > 0
        self._last[scope], self._bus, self._newest = number, number, scope
        if len(self._last) > CHANNELS:
            del self._last[next(iter(self._last))]

    def state(self) -> list[Any]:
        """Give it as JSON."""
        return [list(self._last.items()), self._bus, self._newest, self._votes, self.verdict]
