"""Epochs of a lane: which one it is in, and what a token that differs from it means.

A token that was never seen begins an epoch. One that comes back means two publishers that hold two
tokens. Where tokens are generation numbers, a lower one is a step back; shortly after a change it
is a message that was under way, and changes nothing (reference/pad.md section 3.3).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from events.domain import codes
from events.domain.records import SECOND, Record
from events.domain.stream_settings import StreamSettings

LATE = 30 * SECOND
KEPT = 32


class Entry(NamedTuple):
    """Where a record belongs: its era, whether the lane goes there, and what that tells."""

    era: int
    is_late: bool = False
    code: str = ""
    rule: str = ""
    before: str = ""


class Epochs:
    """The epochs of one lane. An era is the life of one token, or of none until a token comes."""

    __slots__ = ("_born", "_late_points", "_returns", "_since", "_tokens", "era", "token")

    def __init__(self, state: list[Any] | None = None) -> None:
        told: list[Any] = state or [0, None, -1, 0, 0, 0, []]
        self._born: int = told[0]
        self.token: str | None = told[1]
        self.era: int = told[2]
        self._since: int = told[3]
        self._late_points: int = told[4]
        self._returns: int = told[5]
        self._tokens: dict[str, int] = dict(told[6])

    def enter(self, settings: StreamSettings, record: Record, points: int) -> Entry:
        """Find the era of a record and go there; `points` counts the messages of the lane's line.

        A record without an epoch belongs to the era that the lane is in.
        """
        token = record.epoch
        if self._born == 0:
            return Entry(self._begin(token, record.at))
        if token is None or token == self.token:
            return Entry(self.era)
        if self.token is None:
            return Entry(self._name(token, record.at))
        if settings.is_lower(token, self.token):
            return self._lower(token, record.at, points)
        return self._other(settings, token, record.at)

    def _begin(self, token: str | None, at: int) -> int:
        era, self._born = self._born, self._born + 1
        if token is not None:
            self._keep(token, era)
        self.era, self.token, self._since = era, token, at
        return era

    def _name(self, token: str, at: int) -> int:
        """Give the era that had no token its first one: the publishers learned to send it."""
        self.token, self._since = token, at
        self._keep(token, self.era)
        return self.era

    def _other(self, settings: StreamSettings, token: str, at: int) -> Entry:
        before = self.token or ""
        if token in self._tokens:
            self._go(token, at)
            return Entry(self.era, False, codes.EPOCH_FLAP, "token_returned", before)
        is_planned = settings.is_planned(at)
        code = codes.EPOCH_CHANGE_PLANNED if is_planned else codes.EPOCH_CHANGE
        rule = "in_maintenance" if is_planned else "another_token"
        return Entry(self._begin(token, at), False, code, rule, before)

    def _lower(self, token: str, at: int, points: int) -> Entry:
        before = self.token or ""
        if at - self._since >= LATE:
            self._go(token, at)
            return Entry(self.era, False, codes.EPOCH_REGRESSED, "generation_fell", before)
        is_again = token in self._tokens and self._late_points not in (0, points)
        self._returns = self._returns + 1 if is_again else 0
        self._late_points = points
        era = self._tokens.get(token)
        if era is None:
            era, self._born = self._born, self._born + 1
            self._keep(token, era)
        if self._returns:
            return Entry(era, True, codes.EPOCH_FLAP, "token_returned", before)
        return Entry(era, True, codes.EPOCH_REGRESSED, "late_generation", before)

    def _go(self, token: str, at: int) -> None:
        known = self._tokens.get(token)
        if known is None:
            self._begin(token, at)
            return
        self._keep(token, known)
        self.era, self.token, self._since = known, token, at

    def _keep(self, token: str, era: int) -> None:
        self._tokens.pop(token, None)
        self._tokens[token] = era
        if len(self._tokens) > KEPT:
            del self._tokens[next(iter(self._tokens))]

    def state(self) -> list[Any]:
        """Give them as JSON."""
        return [
            *(self._born, self.token, self.era, self._since),
            *(self._late_points, self._returns, list(self._tokens.items())),
        ]
